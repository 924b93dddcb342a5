"""The figures of a disclosure risk: over records, attributes, the number of cells, and the size of the dictionary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.disclosure.risk_report.loss_format import amount
from sfumato.releases.models import AttributeCounts
from sfumato.reports.plots.axes import Amount, Axis, amount_axis, drawable, fitting_step, name_axis, number_axis
from sfumato.reports.plots.chart import Chart
from sfumato.reports.plots.figure import Figure, chart_figure, percent
from sfumato.reports.plots.svg import AFTER, BEFORE, BREACH, FAINT, INK, PALE, SERIES, SHADES, shortened

Table = Mapping[str, Any]

_MARKERS = ("circle", "diamond", "square", "triangle", "cross", "star")


def loss_figure(distribution: Table, against: str) -> Figure:
    """Draw the share of records by their expected loss."""
    bins, shares = distribution["bins"], _shares(distribution["records"])
    most = max(shares)
    names = [name.rpartition(" – ")[2].replace("up to", "≤") for name in bins]
    return chart_figure(
        _record_bars(bins, names, shares, "loss, up to", "lose", [BREACH if name == "∞" else AFTER for name in bins]),
        key="losses",
        title="Expected loss of the records",
        about=against,
        caption="Share of the records by their expected loss. A bar contains the losses above its lower end, up to and "
        "including its upper end.",
        alt=f"Bars: the share of records by loss; most, {percent(most)}, lose {bins[shares.index(most)]}.",
        head=("loss", "records", "share of the records"),
        rows=_record_rows(bins, distribution["records"], shares),
        internal=True,
    )


def consistent_figure(distribution: Table, name: str, number: int) -> Figure:
    """Draw the share of records by how many individuals of one dictionary are consistent with them."""
    bins, shares = distribution["bins"], _shares(distribution["records"])
    colours = [BREACH if text == "1" else FAINT if text == "0" else AFTER for text in bins]
    unique = f"{percent(shares[1])} of the records are consistent with one individual only"
    starts = [text.partition("–")[0].replace(",000,000", "M").replace(",000", "k") for text in bins]
    return chart_figure(
        _record_bars(bins, starts, shares, "consistent individuals, from", "are consistent with", colours),
        key=f"fitting-{number}",
        title="How many individuals are consistent with a record",
        about=name,
        caption="Share of the records by |ρ|, the individuals of this dictionary who are consistent with what is disclosed. "
        f"In red: {unique}. In grey: no individual is consistent ({percent(shares[0])}).",
        alt=f"Bars: the share of records by the number of consistent individuals; {unique}.",
        head=("individuals", "records", "share of the records"),
        rows=_record_rows(bins, distribution["records"], shares),
        internal=True,
    )


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [count / total for count in counts]


def _record_rows(bins: Sequence[str], counts: Sequence[int], shares: Sequence[float]) -> list[tuple[str, str, str]]:
    return [(name, f"{count:,}", percent(share)) for name, count, share in zip(bins, counts, shares, strict=True)]


def _record_bars(
    bins: Sequence[str], names: Sequence[str], shares: Sequence[float], title: str, verb: str, colours: Sequence[str]
) -> Chart:
    chart = Chart(
        name_axis(names, title, every=fitting_step(names)),
        number_axis(0, 1.05 * max(shares), "share of records", percent=True),
        200,
    )
    titles = [f"{percent(share)} of the records {verb} {name}" for name, share in zip(bins, shares, strict=True)]
    chart.bars(range(len(bins)), shares, colours, titles, width=0.85)
    return chart


def saving_figure(attributes: Sequence[Table], risk: Amount, against: str) -> Figure:
    """Draw how much the risk falls if one attribute is withheld in every record, the largest reduction first."""
    ordered = sorted(attributes, key=lambda one: -_rank(one["saves"]))
    sentences = [
        "The reduction of the risk if one attribute, and nothing else, is withheld in every record. Attributes are often "
        "redundant, so the reductions do not add up."
    ]
    if any(_rank(one["saves"]) < 0 for one in ordered):
        sentences.append(
            "Below zero: withholding the attribute would raise the risk, because individuals would become consistent with "
            "records that match nobody now."
        )
    if any(one["saves"] is None for one in ordered):
        sentences.append("Without a number: the risk stays infinite if only that attribute is withheld.")
    first = ordered[0]
    return chart_figure(
        _saving_chart(ordered),
        right=44,
        key="attributes-saved",
        title="Reduction of the risk if an attribute is withheld",
        about=against,
        caption=" ".join(sentences),
        alt=f"Bars: the reduction of the risk by withholding each of {len(ordered)} attributes; most by {first['name']}: "
        f"{amount(first['saves'])}.",
        head=(
            "attribute",
            "reduction",
            "of the risk",
            "risk without it",
            "values disclosed",
            "mean weight",
            "chance with it alone",
        ),
        rows=[
            (
                one["name"],
                amount(one["saves"]),
                _share_of_risk(one["saves"], risk),
                amount(one["without"]),
                f"{one['disclosed']:,}",
                amount(one["weight"]),
                percent(one["alone"]),
            )
            for one in ordered
        ],
        internal=True,
    )


def _saving_chart(ordered: Sequence[Table]) -> Chart:
    finite = [one["saves"] for one in ordered if one["saves"] not in ("inf", None)]
    full = max([0.0, *finite]) or 1.0  # the length of the bar of an infinite saving
    sizes = [full if one["saves"] == "inf" else one["saves"] or 0.0 for one in ordered]
    low, high = min([0.0, *sizes]), max([0.0, *sizes])
    reach = (high - low) or 1.0
    chart = Chart(
        number_axis(low - (0.2 * reach if low < 0 else 0), high + 0.1 * reach, count=4),
        name_axis([shortened(one["name"], 24) for one in ordered], backwards=True),
        26 * len(ordered),
    )
    chart.bars(
        range(len(ordered)),
        sizes,
        [BREACH if _rank(one["saves"]) < 0 else AFTER for one in ordered],
        [f"{shortened(one['name'], 80)}: {amount(one['saves'])}" for one in ordered],
        width=0.7,
        lying=True,
    )
    for place, (one, size) in enumerate(zip(ordered, sizes, strict=True)):
        chart.note(amount(one["saves"]), size, place, "end" if size < 0 else "start", dx=-5 if size < 0 else 5)
    return chart


def _rank(saves: Amount | None) -> float:
    """Return the rank of a saving: an infinite one first; one that leaves an infinite risk ranks as 0."""
    return math.inf if saves == "inf" else saves or 0.0


def _share_of_risk(saves: Amount | None, risk: Amount) -> str:
    if saves is None or saves == "inf" or risk == "inf" or not risk:
        return ""
    return percent(saves / risk) if saves >= 0 else "raises it"


def cells_figure(curve: Table) -> Figure:
    """Draw the least risk for every number of cells that each record may disclose."""
    lines = curve["lines"]
    risks = [value for line in lines for value in line["risks"]]
    y = amount_axis(risks, "risk")
    cells = number_axis(0, curve["attributes"], whole=True, count=8)
    chart = Chart(Axis(-0.3, curve["attributes"] + 0.3, cells.ticks, "cells disclosed per record", grid=False), y, 240)
    for number, line in enumerate(lines):
        titles = [f"{k} cells: risk {amount(value)}" for k, value in enumerate(line["risks"])]
        _add_line(chart, line["against"], range(len(line["risks"])), drawable(line["risks"], y), titles, number, SERIES)
    if len(lines) == 1:
        chart.legend.clear()
    first = lines[0]
    return chart_figure(
        chart,
        key="by-cells",
        title="The least risk, by how much is disclosed",
        caption="For each number k of cells that a record discloses, the least risk over all choices of k cells per record "
        "(a record with fewer cells discloses all of them). At the right end everything is disclosed."
        + (" Where a line ends early the risk is infinite." if "inf" in risks else "")
        + (" The axis is logarithmic." if y.log else ""),
        alt=f"Lines: the least risk over k from 0 to {curve['attributes']}; {first['against']}: from "
        f"{amount(first['risks'][0])} to {amount(first['risks'][-1])}.",
        head=("cells per record", *(line["against"] for line in lines)),
        rows=[(k, *(amount(line["risks"][k]) for line in lines)) for k in range(curve["attributes"] + 1)],
        internal=True,
    )


def _add_line(
    chart: Chart,
    name: str,
    xs: Sequence[float],
    ys: Sequence[float | None],
    titles: Sequence[str],
    number: int,
    colours: Sequence[str],
) -> None:
    """Add a line with markers, in the colour and with the marker of its number, and name it in the legend."""
    colour, shape = colours[number % len(colours)], _MARKERS[number % len(_MARKERS)]
    chart.line(xs, ys, colour)
    chart.points(xs, ys, colour, titles, shape=shape, size=8)
    chart.name(shortened(name), colour, shape)


def size_figure(curve: Table, number: int) -> Figure:
    """Draw the risk against parts of one dictionary, a line for each number of cells."""
    sizes, lines, attributes = curve["individuals"], curve["lines"], curve["attributes"]
    y = amount_axis([value for line in lines for value in line["risks"]], "risk")
    chart = Chart(number_axis(0, 1.04 * sizes[-1], "individuals in the dictionary", count=4), y, 240)
    for at, line in enumerate(lines):
        name = _cells(line["cells"], attributes)
        titles = [
            f"{size:,} individuals, {name}: risk {amount(value)}" for size, value in zip(sizes, line["risks"], strict=True)
        ]
        _add_line(chart, name, sizes, drawable(line["risks"], y), titles, at, SHADES)
    kept = curve["kept"]
    parts = (
        f"Every part contains {kept:,} individuals, for each record its own or a consistent one, and others drawn at random"
        if kept
        else "The parts are drawn at random; nobody is consistent with a whole record"
    )
    return chart_figure(
        chart,
        key=f"by-size-{number}",
        title="The least risk, by how many individuals the attacker knows",
        about=curve["dictionary"],
        caption="The risk of the best choice of k cells per record against ever larger parts of the dictionary, each "
        f"contained in the next; the choice is made for that part. {parts}.{_sample(curve)}"
        + (" The axis is logarithmic." if y.log else ""),
        alt=f"Lines: the least risk against parts of {sizes[0]:,} to {sizes[-1]:,} individuals, for {len(lines)} numbers of "
        "cells.",
        head=("individuals", *(_cells(line["cells"], attributes) for line in lines)),
        rows=[(f"{size:,}", *(amount(line["risks"][at]) for line in lines)) for at, size in enumerate(sizes)],
        internal=True,
    )


def _cells(cells: int, attributes: int) -> str:
    return f"k = {cells} ({percent(cells / attributes)})"


def _sample(curve: Table) -> str:
    return "" if curve["sampled"] is None else f" Measured on {curve['sampled']:,} records drawn at random."


def bound_figure(scatter: Table, number: int) -> Figure:
    """Draw the true risk beside the one estimated from a part of the dictionary, with the diagonal."""
    points, below = scatter["points"], scatter["below"]
    chart = _bound_chart(scatter)
    verdict = (
        f"All {len(points)} points lie on or above the dashed line."
        if not below
        else f"{below} of {len(points)} points lie below the dashed line: {scatter['why']}."
    )
    return chart_figure(
        chart,
        key=f"scatter-{number}",
        title="The true risk and the estimated risk",
        about=scatter["dictionary"],
        caption="The attacker has one part of the dictionary (true). The publisher has a smaller part of that (estimated), "
        "and chooses the cells by it. On or above the dashed line the estimate is an upper bound. "
        f"{verdict}{_sample(scatter)}" + (" Both axes are logarithmic." if chart.x.log else ""),
        alt=f"A scatter of {len(points)} points, the estimated over the true risk. {verdict}",
        head=("cells per record", "individuals, estimated", "individuals, true", "estimated risk", "true risk"),
        rows=[
            (
                point["cells"],
                f"{point['supposed']:,}",
                f"{point['truly']:,}",
                amount(point["estimated"]),
                amount(point["true"]),
            )
            for point in points
        ],
        internal=True,
    )


def _bound_chart(scatter: Table) -> Chart:
    points = scatter["points"]
    risks = [value for point in points for value in (point["true"], point["estimated"])]
    x, y = amount_axis(risks, "true risk"), amount_axis(risks, "estimated risk")
    chart = Chart(x, y, 250)
    ends = [value for value in drawable(risks, x) if value is not None]
    low, high = min(ends, default=0.0) if x.log else 0.0, max(ends, default=1.0)
    chart.segment(low, low, high, high, INK, "dashed")
    for at, cells in enumerate(sorted({point["cells"] for point in points})):
        some = [point for point in points if point["cells"] == cells]
        colour, shape = SHADES[at % len(SHADES)], _MARKERS[at % len(_MARKERS)]
        chart.points(
            drawable([point["true"] for point in some], x),
            drawable([point["estimated"] for point in some], y),
            colour,
            [
                f"true {amount(point['true'])} ({point['truly']:,} individuals), estimated {amount(point['estimated'])} "
                f"({point['supposed']:,})"
                for point in some
            ],
            shape=shape,
            size=9,
            kind="ringed" if shape not in ("cross", "star") else "",
        )
        chart.name(_cells(cells, scatter["attributes"]), colour, shape)
    return chart


def disclosed_figure(attributes: Sequence[AttributeCounts]) -> Figure:
    """Draw the share of each attribute's values that is disclosed, withheld, or missing."""
    parts = {
        "disclosed": (AFTER, [one.disclosed for one in attributes]),
        "withheld": (BEFORE, [one.withheld for one in attributes]),
        "missing": (PALE, [one.missing for one in attributes]),
    }
    most = max(attributes, key=lambda one: one.withheld)
    totals = [one.disclosed + one.withheld + one.missing for one in attributes]
    chart = Chart(
        number_axis(0, 1, percent=True, count=4),
        name_axis([shortened(one.name, 24) for one in attributes], backwards=True),
        26 * len(attributes),
    )
    starts = [0.0] * len(attributes)
    for key, (colour, counts) in parts.items():
        shares = [count / total for count, total in zip(counts, totals, strict=True)]
        titles = [f"{shortened(one.name, 80)}: {count:,} {key}" for one, count in zip(attributes, counts, strict=True)]
        chart.bars(
            range(len(attributes)), [share or None for share in shares], colour, titles, width=0.7, starts=starts, lying=True
        )
        chart.name(key, colour)
        starts = [start + share for start, share in zip(starts, shares, strict=True)]
    return chart_figure(
        chart,
        right=24,
        key="shown",
        title="What is disclosed of each attribute",
        caption="Share of the records in which the attribute is disclosed, withheld, or was missing from the start.",
        alt=f"Bars: what is disclosed of each of {len(attributes)} attributes; most values are withheld of {most.name}.",
        head=("attribute", "disclosed", "withheld", "missing"),
        rows=[(one.name, *(f"{count:,}" for count in (one.disclosed, one.withheld, one.missing))) for one in attributes],
    )
