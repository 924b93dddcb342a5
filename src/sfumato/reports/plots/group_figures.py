"""The figures about groups: risk dials, class sizes, levels of principles, the worst group, and vulnerability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from sfumato.exact.date_numbers import date_end
from sfumato.plurals import count_of
from sfumato.releases.figure_models import ContourTable, LevelHistogram, NeighbourGraph, RiskComparison, SizeHistogram
from sfumato.releases.models import PrincipleClaim
from sfumato.reports.plots.axes import Axis, date_axis, fitting_step, name_axis, number_axis
from sfumato.reports.plots.chart import Chart, dial
from sfumato.reports.plots.figure import Figure, chart_figure, percent
from sfumato.reports.plots.svg import AFTER, BEFORE, BREACH, FAINT, INK, shortened

_NAMED = 16
"""The most values of a group whose names are written beside them."""


def risk_dials(risk: RiskComparison) -> list[Figure]:
    """Draw the highest risk, the mean risk, the share of unique rows, and the share of rows above the first threshold."""
    before, after = risk.before, risk.after
    limit = list(before.above)[0]  # noqa: RUF015 - without a threshold the figure is invalid, an IndexError
    readings = [
        ("prosecutor", "Highest risk", "prosecutor, journalist", before.highest, after.highest),
        ("marketer", "Mean risk", "marketer", before.mean, after.mean),
        ("unique", "Unique rows", "alone in their class", before.unique, after.unique),
        ("above", f"Rows above {limit}", f"risk of a row above {limit}", before.above[limit], after.above[limit]),
    ]
    return [_risk_dial(*reading) for reading in readings]


def _risk_dial(key: str, title: str, who: str, before: float, after: float) -> Figure:
    caption = f"{who[:1].upper()}{who[1:]}. Before {percent(before)}, after {percent(after)}."
    return Figure(
        key=f"gauge-{key}",
        title=title,
        caption=caption,
        alt=f"A dial: {title.lower()} ({who}) is {percent(after)} in the release and was {percent(before)} before.",
        drawing=dial(after, before, percent(after), caption, AFTER, BEFORE),
        head=(),
        rows=(),
        listed=False,
        narrow=True,
    )


def class_sizes(sizes: SizeHistogram, k: int | None) -> Figure:
    """Draw the share of rows in classes of each size."""
    bins = sizes.bins
    starts = [name.partition("–")[0].replace(",000,000", "M").replace(",000", "k") for name in bins]
    top = 1.05 * max([*sizes.before, *sizes.after, 0.01])
    chart = Chart(
        name_axis(starts, "rows in the class, from", every=fitting_step(starts)),
        number_axis(0, top, "share of rows", percent=True),
        210,
    )
    places = list(range(len(bins)))
    for when, shares, colour, shift in (("before", sizes.before, BEFORE, -0.2), ("after", sizes.after, AFTER, 0.2)):
        titles = [f"{name} rows: {percent(share)}, {when}" for name, share in zip(bins, shares, strict=True)]
        chart.bars(places, shares, colour, titles, width=0.38, shift=shift)
        chart.name(when, colour)
    required = "" if k is None else f" Groups of at least {k} rows were requested."
    return chart_figure(
        chart,
        key="class-sizes",
        title="How many rows look alike",
        caption="Share of the rows by the size of their class. Before: rows with equal quasi-identifiers. After: rows with "
        f"equal published cells, in one group or in several.{required}",
        alt="Bars: the share of rows in classes of each size, before and after; " + _most_frequent(sizes),
        head=("rows in the class", "before", "after"),
        rows=[
            (name, percent(before), percent(after))
            for name, before, after in zip(bins, sizes.before, sizes.after, strict=True)
        ],
    )


def _most_frequent(sizes: SizeHistogram) -> str:
    tops = []
    for when, shares in (("before", sizes.before), ("after", sizes.after)):
        most = max(shares)
        tops.append(f"{when}, most rows ({percent(most)}) are in classes of {sizes.bins[shares.index(most)]}")
    return "; ".join(tops) + "."


def level_figure(table: LevelHistogram, claim: PrincipleClaim, heading: str, *, internal: bool = False) -> Figure:
    """Draw the distribution of one level of a principle over the groups, with its threshold."""
    when, units = ("before", "classes") if internal else ("after", "groups")
    values, groups, breaching, part = table.values, table.groups, table.breaching, table.part
    threshold, required = float(Fraction(table.threshold)), f"{table.relation} {table.threshold}"
    total, broken = sum(groups) + table.infinite, sum(breaching)
    chart = _level_chart(table, threshold, required, total, BEFORE if internal else AFTER)
    others = [name for name in claim.wanted if name != part]
    # a principle of several parts can fail in more groups than this part does
    only = f" of it; {units} that fail only by {', '.join(others)} are not counted here" if others else ""
    verdict = f"In red, {broken:,} of {total:,} in breach{only}." if broken else f"None of the {units} is in breach{only}."
    beyond = f" {table.infinite:,} {units} have no finite level and are not drawn." if table.infinite else ""
    return chart_figure(
        chart,
        key=f"level-{table.finding}-{_slug(part)}-{when}",
        title=f"Level of {part} over the {units}, {when}",
        about=heading,
        caption=f"Share of the {units} by their level of {part}. The line marks the requirement: {required}. {verdict}"
        f"{beyond}",
        alt=f"Bars: the level of {part} over {total:,} {units}; required {required}. {verdict}",
        head=(part, units, "in breach", f"share of {units}"),
        rows=[
            (_bar_label(table, value), f"{count:,}", f"{bad:,}", percent(count / total))
            for value, count, bad in zip(values, groups, breaching, strict=True)
        ],
        internal=internal,
    )


def _level_chart(table: LevelHistogram, threshold: float, required: str, total: int, colour: str) -> Chart:
    values, groups, breaching = table.values, table.groups, table.breaching
    low, high = min([threshold, *values]), max([threshold, *values])
    reach = (high - low) or abs(high) or 1.0
    gap = min((b - a for a, b in pairwise(values)), default=reach)
    # single values get bars that do not touch; bins get their own width
    width = table.width or max(min(0.7 * gap, 0.08 * reach), 0.012 * reach)
    room = 0.06 * reach + width / 2
    chart = Chart(
        number_axis(low - room, high + room, table.part, grid=False),
        number_axis(0, 1.08 * max([*(count / total for count in groups), 0.01]), "share of groups", percent=True, count=4),
        180,
    )
    holding = [count - bad for count, bad in zip(groups, breaching, strict=True)]
    bottom = [0.0] * len(values)
    for counts, kind, name in ((holding, colour, "hold"), (breaching, BREACH, "in breach")):
        if any(counts):
            titles = [
                f"{table.part} {_bar_label(table, value)}: {count_of(count, 'group')} ({percent(count / total)}), {name}"
                for value, count in zip(values, counts, strict=True)
            ]
            shares: list[float | None] = [count / total if count else None for count in counts]
            chart.bars(values, shares, kind, titles, width=width, starts=bottom)
            bottom = [count / total for count in counts]
    chart.rule(threshold, f"required {required}", upright=True)
    return chart


def _bar_label(table: LevelHistogram, value: float) -> str:
    """Return the level of a bar, or the two ends of its bin."""
    if table.width is None:
        return f"{value:.6g}"
    return f"{value - table.width / 2:.6g} – {value + table.width / 2:.6g}"


def _slug(text: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text)


def worst_group(graph: NeighbourGraph, heading: str, allowed: int | None, *, internal: bool = False) -> Figure:
    """Draw the worst group as a graph: an edge joins values within ε of each other; the densest value is marked.

    As Fig. 1 of *Wang & Liu (2010)*. `allowed`: how many neighbours a value may have.
    """
    when = "before" if internal else "after"
    rows = zip(graph.labels, graph.counts, graph.neighbours, strict=True)
    most, others = graph.neighbours[graph.densest], graph.rows - 1
    return chart_figure(
        _rings_of_values(graph, allowed) if graph.at is None else _line_of_values(graph, graph.at, allowed),
        key=f"worst-{graph.finding}-{when}",
        title=f"Near values in the worst group, {when}",
        about=heading,
        caption=_worst_group_caption(graph, allowed, internal),
        alt=f"A graph of {len(graph.labels)} values of the worst group with {len(graph.edges)} edges; the densest "
        f"value has {most:,} of the {count_of(others, 'other value')} near it.",
        head=("value", "rows", "others near it"),
        rows=[(name, f"{count:,}", f"{near:,}") for name, count, near in rows],
        internal=internal,
    )


def _worst_group_caption(graph: NeighbourGraph, allowed: int | None, internal: bool) -> str:
    cells = ", ".join(f"{name} {' '.join(str(cell).split())[:40]}" for name, cell in graph.quasi_identifiers.items())
    group = f"the class {cells}" if internal else f"group {graph.group:,} ({cells})"
    rows, shown, unit = graph.rows, len(graph.labels), " days" if _are_dates(graph) else ""
    densest = graph.neighbours[graph.densest]
    sentences = [
        f"The {f'{rows:,} rows' if rows > 1 else 'only row'} of {group} by sensitive value. An edge joins values within "
        f"{graph.epsilon}{unit} of each other. A larger dot represents several rows with the same value, which are also "
        f"near each other. The diamond has the most others near it: {densest:,} of {rows - 1:,}.",
    ]
    if allowed is not None:
        sentences.append(f"At most {allowed:,} are allowed.")
    if graph.at is not None:
        sentences.append("Values lie along the axis; the higher a value, the more others are near it.")
    else:
        sentences.append(
            "The densest value is in the middle, those near it on the inner ring, the others on the outer ring."
        )
    if shown < graph.distinct:
        sentences.append(
            f"Of {graph.distinct:,} values {shown} are drawn: the densest, those near it, and the most frequent others."
        )
    return " ".join(sentences)


def _line_of_values(graph: NeighbourGraph, at: Sequence[float], allowed: int | None) -> Chart:
    """Numbers lie where they are on the axis, the higher the more others are near."""
    near = graph.neighbours
    top = max([*near, allowed or 0, 1])
    low, high = min(at), max(at)
    room = 0.05 * ((high - low) or abs(high) or 1.0)
    chart = Chart(
        (date_axis if _are_dates(graph) else number_axis)(low - room, high + room, "value"),
        Axis(-0.1 * top - 0.2, 1.15 * top + 0.3, number_axis(0, top, whole=True).ticks, "others within reach"),
        210,
    )
    _add_graph(chart, graph, at, near, allowed, longest=0)
    if allowed is not None:
        chart.rule(allowed, f"allowed {allowed:,}", upright=False)
    return chart


def _are_dates(graph: NeighbourGraph) -> bool:
    """Return whether the values are dates, so that the line counts days since 1970-01-01."""
    return graph.at is not None and None not in map(date_end, graph.labels)


def _rings_of_values(graph: NeighbourGraph, allowed: int | None) -> Chart:
    """The densest value is in the middle, those near it around it, the others further out."""
    size, around = len(graph.labels), sorted(_neighbours_of_densest(graph))
    rest = [i for i in range(size) if i != graph.densest and i not in around]
    xs, ys = [0.0] * size, [0.0] * size
    for ring, radius, turn in ((around, 0.5, 0.25), (rest, 1.0, 0.0)):
        for place, i in enumerate(ring):
            angle = 2 * math.pi * (place + turn) / len(ring) + math.pi / 2
            xs[i], ys[i] = radius * math.cos(angle), radius * math.sin(angle)
    chart = Chart(Axis(-1.95, 1.95), Axis(-1.15, 1.15), 330)
    _add_graph(chart, graph, xs, ys, allowed, longest=12 if size <= _NAMED else 0)
    return chart


def _neighbours_of_densest(graph: NeighbourGraph) -> set[int]:
    densest = graph.densest
    return {j if i == densest else i for i, j in graph.edges if densest in (i, j)}


def _add_graph(
    chart: Chart, graph: NeighbourGraph, xs: Sequence[float], ys: Sequence[float], allowed: int | None, *, longest: int
) -> None:
    """Add edges, nodes and, if `longest` is not 0, names of at most `longest` characters."""
    labels, counts, near, densest = graph.labels, graph.counts, graph.neighbours, graph.densest
    for i, j in graph.edges:
        chart.segment(xs[i], ys[i], xs[j], ys[j], FAINT, "edge")
    around = _neighbours_of_densest(graph)
    centre = BREACH if allowed is not None and near[densest] > allowed else INK
    places = range(len(labels))
    chart.points(
        xs,
        ys,
        [centre if i == densest else AFTER if i in around else "light" for i in places],
        [
            f"{shortened(name, 80)}: {count:,} {'row' if count == 1 else 'rows'}, {count_of(n, 'other')} near it"
            for name, count, n in zip(labels, counts, near, strict=True)
        ],
        shape=["diamond" if i == densest else "circle" for i in places],
        size=[11 + 5 * min(6, math.sqrt(count - 1)) + 3 * (i == densest) for i, count in enumerate(counts)],
        kind="ringed",
    )
    if longest:
        for name, x, y in zip(labels, xs, ys, strict=True):
            _add_name(chart, shortened(name, longest), x, y)


def _add_name(chart: Chart, name: str, x: float, y: float) -> None:
    """Write a name beside a node, on the side away from the middle."""
    if abs(x) < 0.35:
        chart.note(name, x, y, "middle", dy=-13 if y >= 0 else 21)
    else:
        chart.note(name, x, y, "start" if x > 0 else "end", dx=11 if x > 0 else -11, dy=-2 if y >= 0 else 10)


def contour_figure(contour: ContourTable, heading: str, *, internal: bool = False) -> Figure:
    """Draw the share of groups in breach over ε and δ, and mark the requested pair."""
    when = "before" if internal else "after"
    epsilons, deltas, shares = contour.epsilons, contour.deltas, contour.shares
    epsilon, delta = contour.asked
    row, column = epsilons.index(epsilon), deltas.index(delta)
    chart = Chart(
        name_axis([shortened(text, 8) for text in deltas], "δ", every=fitting_step([shortened(text, 8) for text in deltas])),
        name_axis([shortened(text, 12) for text in epsilons], "ε"),
        34 * len(epsilons),
    )
    titles = [
        [f"ε = {e}, δ = {d}: {percent(share)} in breach" for d, share in zip(deltas, line, strict=True)]
        for e, line in zip(epsilons, shares, strict=True)
    ]
    chart.cells(shares, titles, written=True)
    chart.frame(column - 0.5, column + 0.5, row - 0.5, row + 0.5, BREACH)
    return chart_figure(
        chart,
        key=f"contour-{contour.finding}-{when}",
        title=f"Groups in breach over ε and δ, {when}",
        about=heading,
        caption=f"Percent of {_contour_base(contour, internal)} in breach if ε and δ were as on the axes. The red square "
        f"marks the requested pair: ε = {epsilon}, δ = {delta}.",
        alt=f"A heat map of the share of groups in breach over {len(epsilons)} values of ε and {len(deltas)} of δ; "
        f"{percent(shares[row][column])} at the requested pair.",
        head=("ε \\ δ", *deltas),
        rows=[(text, *(percent(share) for share in line)) for text, line in zip(epsilons, shares, strict=True)],
        internal=internal,
    )


def _contour_base(contour: ContourTable, internal: bool) -> str:
    groups = f"{contour.groups:,} {'classes' if internal else 'groups'}"
    return f"a sample of {groups}, because the distance is slow," if contour.sampled else f"the {groups}"
