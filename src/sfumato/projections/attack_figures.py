"""The figures of attacks on several tables: an attacker's confidence before and after using background knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.reports.plots.axes import Axis
from sfumato.reports.plots.chart import Chart
from sfumato.reports.plots.figure import Figure, chart_figure, percent
from sfumato.reports.plots.svg import BEFORE, BREACH, FAINT, both_ends, shortened

Table = Mapping[str, Any]

DRAWN = 15
"""The most attacks that are drawn, worst first; the table below lists more."""
LISTED = 120
"""The most attacks that are listed."""


def join_figure(joins: Sequence[Table]) -> Figure:
    """Draw what knowing some attributes of a person reveals about another in the same table."""
    return _attack_figure(
        "joins",
        "An attacker knows one secret of a person, and looks for another in the same table",
        "The attacker knows the person’s group, and the attribute named first, and guesses the one named second.",
        [{**join, "from": " + ".join(join["known"]), "tables": f"{join['table'] + 1}"} for join in joins],
    )


def inference_figure(inferences: Sequence[Table]) -> Figure:
    """Draw what an attribute of one table reveals about one in another, to an attacker who knows how the two depend."""
    return _attack_figure(
        "inferences",
        "An attacker knows how attributes depend, and combines two tables",
        "The attacker knows the person’s group in both tables, and how the two attributes depend on each other in general, "
        "for example from a survey. The attacker knows no secret of the person, and guesses the attribute named second from "
        "the one named first.",
        [{**one, "from": one["helper"], "tables": f"{one['helper_table'] + 1}, {one['table'] + 1}"} for one in inferences],
    )


def _attack_figure(key: str, title: str, assumption: str, attacks: Sequence[Table]) -> Figure:
    drawn, worst = attacks[:DRAWN], attacks[0]
    more = f" The {len(drawn)} worst of {len(attacks):,} are drawn." if len(attacks) > len(drawn) else ""
    return chart_figure(
        _confidence_chart(drawn),
        key=f"attack-{key}",
        title=title,
        caption=f"{assumption} Dots: the mean confidence in the likeliest value over all people, from the groups alone "
        f"(ochre) and with that knowledge (red). The tick is the highest confidence about any person.{more}",
        alt=f"Dots: the mean confidence of an attacker before and after, for {len(drawn)} pairs of attributes. The worst: "
        f"{worst['from']} reveals {worst['target']}, from {percent(worst['before']['mean'])} to "
        f"{percent(worst['after']['mean'])}; certain of {worst['after']['certain']:,} people.",
        head=(
            "known",
            "guessed",
            "tables",
            "mean before",
            "mean after",
            "highest before",
            "highest after",
            "certain before",
            "certain after",
            "of people",
        ),
        rows=[_attack_row(one) for one in attacks[:LISTED]],
        internal=True,
    )


def _attack_row(one: Table) -> tuple[str, ...]:
    before, after = one["before"], one["after"]
    shares = [percent(when[key]) for key in ("mean", "largest") for when in (before, after)]
    return (
        one["from"],
        one["target"],
        one["tables"],
        *shares,
        *(f"{n:,}" for n in (before["certain"], after["certain"], one["people"])),
    )


def _confidence_chart(attacks: Sequence[Table]) -> Chart:
    places = list(range(len(attacks)))
    names = [f"{both_ends(one['from'], 22)}\n→ {both_ends(one['target'], 20)}" for one in attacks]
    chart = Chart(
        Axis(0, 1.03, [(tick / 4, percent(tick / 4)) for tick in range(5)]),
        Axis(len(attacks) - 0.5, -0.5, list(enumerate(names))),
        36 * len(attacks),
    )
    for place, one in enumerate(attacks):
        chart.segment(one["before"]["mean"], place, one["after"]["mean"], place, FAINT)
    for when, key, name, colour, shape in (
        ("before", "mean", "from the groups alone", BEFORE, "circle"),
        ("after", "mean", "with this knowledge", BREACH, "diamond"),
        ("after", "largest", "highest about any person", FAINT, "tick"),
    ):
        titles = [
            f"{shortened(one['from'], 50)} reveals {shortened(one['target'], 50)}: {percent(one[when][key])} {name}, "
            f"certain of {one[when]['certain']:,} of {one['people']:,}"
            for one in attacks
        ]
        chart.points([one[when][key] for one in attacks], places, colour, titles, shape=shape, size=12)
        chart.name(name, colour, shape)
    return chart
