"""The figure of attacks: what each achieves, with its interval, beside what it must be compared with."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.releases.figure_models import AttackRow, RateRow
from sfumato.releases.model_base import Part
from sfumato.reports.plots.axes import name_axis, number_axis
from sfumato.reports.plots.chart import Chart
from sfumato.reports.plots.figure import Figure, chart_figure, percent
from sfumato.reports.plots.svg import AFTER, BEFORE, BREACH, shortened


class UnmeasuredAttack(Part):
    """An attack that could not be measured, and why."""

    attack: str
    reason: str


def attack_figure(attacks: Sequence[AttackRow], *, internal: bool) -> Figure | None:
    """Draw the success of attacks and their strongest baselines; None if none was measured.

    `internal`: whether the figures depend on the original, so that they must not be published.
    """
    if not attacks:
        return None
    worst = max(attacks, key=lambda row: row.success.share)
    return chart_figure(
        _chart(attacks),
        key="attack-success",
        title="What attackers achieve",
        caption="Diamonds: the share of people about whom the attacker is right, with its 95 % interval. Circles: the "
        "strongest guess to compare it with, which needs no release, or only counts within groups. Where the two intervals "
        "overlap, the difference may be chance.",
        alt=f"Points with intervals for {len(attacks)} attacks; the highest is {worst.label} with "
        f"{percent(worst.success.share)}.",
        head=("attack", "success", "95 % interval", "compare with", "certain", "and right"),
        rows=[
            (
                row.label,
                percent(row.success.share),
                f"{percent(row.success.low)} to {percent(row.success.high)}",
                "; ".join(f"{name}: {_rate(rate)}" for name, rate in row.baselines.items()),
                f"{row.certain:,}",
                f"{row.right:,}",
            )
            for row in attacks
        ],
        internal=internal,
    )


def _chart(attacks: Sequence[AttackRow]) -> Chart:
    """Draw a diamond for each attack, and a circle for its strongest baseline, each with its interval."""
    places = range(len(attacks))
    shares = [end for row in attacks for end in (row.success.high, *(rate.high for rate in row.baselines.values()))]
    chart = Chart(
        number_axis(0, min(1.0, 1.05 * max([0.01, *shares])), "right guesses", percent=True, count=2),
        name_axis([_lines(row) for row in attacks], backwards=True),
        36 * len(attacks),
    )
    for place, row in zip(places, attacks, strict=True):
        colour = BREACH if row.exceeds else AFTER
        chart.segment(row.success.low, place, row.success.high, place, colour, "thick")
        if row.strongest is not None:
            rate = row.strongest[1]
            chart.segment(rate.low, place + 0.22, rate.high, place + 0.22, BEFORE, "thick")
    known = [(place + 0.22, row.strongest) for place, row in zip(places, attacks, strict=True) if row.strongest is not None]
    chart.points(
        [rate.share for _, (_, rate) in known],
        [place for place, _ in known],
        BEFORE,
        [f"{name}: {_rate(rate)}" for _, (name, rate) in known],
        size=8,
    )
    chart.points(
        [row.success.share for row in attacks],
        list(places),
        [BREACH if row.exceeds else AFTER for row in attacks],
        [f"{row.label}: {_rate(row.success)}" for row in attacks],
        shape="diamond",
        size=11,
    )
    chart.name("attack", AFTER, "diamond")
    chart.name("attack, above every baseline beyond chance", BREACH, "diamond")
    chart.name("strongest baseline", BEFORE, "circle")
    return chart


def _rate(rate: RateRow) -> str:
    return f"{percent(rate.share)} ({percent(rate.low)} to {percent(rate.high)})"


def _lines(row: AttackRow) -> str:
    """Return the label of a row in two lines, so that it leaves room for the plot on a phone."""
    return row.attack if row.about is None else f"{row.attack}\n{shortened(row.about, 26)}"
