"""The figures about a plan: its tables, its two ratios, the trade-off, dependence, and the level of each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sfumato.plurals import count_of
from sfumato.projections.projection_tables import LevelRow, LevelTable
from sfumato.releases.models import ThresholdClaim
from sfumato.reports.plots.axes import Axis, name_axis, number_axis
from sfumato.reports.plots.chart import Chart
from sfumato.reports.plots.figure import Figure, chart_figure, percent
from sfumato.reports.plots.svg import (
    AFTER,
    BEFORE,
    BREACH,
    FAINT,
    INK,
    PALE,
    Drawing,
    across,
    both_ends,
    element,
    label,
    shortened,
)

Table = Mapping[str, Any]

LOSS, EXPOSURE = "association loss Γα", "information exposure Γβ"
_ORIGINS = {
    "given": "Requested",
    "knee": "No threshold was requested, so the knee of the trade-off was taken",
    "near": "No threshold was requested, so the plan nearest to the knee of the trade-off was taken",
    "least": "The least value that is compatible with it",
}
"""Where a threshold comes from, in words. A threshold of any other origin is no limit."""

_LINE = 21
"""The height of a line of text in the boxes of a plan, in pixels."""
_SHARED, _TABLES = (0.0, 0.36), (0.46, 1.0)
"""Where the box of the quasi-identifiers and those of the tables begin and end, as fractions of the width."""
_LONGEST_NAMES = (14, 24)
"""Characters of a name in either box that fit on a phone; the table below the picture contains the whole name."""
_BOX_GAP = 0.7
"""Lines between two boxes."""

_DRAWN_PLANS = 600
"""The most examined plans that are drawn beside the curve."""
_WRITTEN = 8
"""The most attributes for which the heat map writes the percentages into its cells."""
_NUMBERED = 9
"""The most columns whose numbers fit side by side on a phone."""


def plan_figure(blocks: Sequence[Sequence[str]], quasi_identifiers: Sequence[str]) -> Figure:
    """Draw each table as a box with its sensitive attributes, joined to the box of the quasi-identifiers they share."""
    tables, attributes = count_of(len(blocks), "table"), count_of(sum(map(len, blocks)), "sensitive attribute")
    contents = "; ".join(f"table {at} contains {' and '.join(block)}" for at, block in enumerate(blocks, 1))
    return Figure(
        key="plan",
        title=f"The plan: {attributes} in {tables}",
        caption="Each box on the right is a published table. It contains the sensitive attributes named in it, and the "
        "quasi-identifiers on the left, generalized for that table. Attributes in one box can be seen together, row by row. "
        "The release does not say which row of one table belongs to which row of another.",
        alt=f"A picture of {attributes} in {tables} beside the {count_of(len(quasi_identifiers), 'quasi-identifier')} that "
        f"all share: {contents}.",
        drawing=_boxes(blocks, quasi_identifiers or ["(none)"]),
        head=("table", "sensitive attributes", "quasi-identifiers"),
        rows=[(number, ", ".join(block), ", ".join(quasi_identifiers)) for number, block in enumerate(blocks, 1)],
    )


def _boxes(blocks: Sequence[Sequence[str]], shared: Sequence[str]) -> Drawing:
    heights = [len(block) + 1.3 for block in blocks]
    lines = sum(heights) + _BOX_GAP * (len(blocks) - 1)
    own = len(shared) + 1.5
    whole = max(lines, own)
    middle, top = whole / 2, (whole - lines) / 2
    parts = [_box(_SHARED, middle - own / 2, own, PALE)]
    parts += _names(shared, "in every table", _SHARED[0], middle - own / 2, _LONGEST_NAMES[0])
    trunk = (_SHARED[1] + _TABLES[0]) / 2
    parts.append(_joint(_SHARED[1], middle, trunk, middle))
    for number, (block, height) in enumerate(zip(blocks, heights, strict=True), 1):
        centre = top + height / 2
        parts += [_joint(trunk, middle, trunk, centre), _joint(trunk, centre, _TABLES[0], centre)]
        parts.append(_box(_TABLES, top, height, "box"))
        parts += _names(block, f"table {number}", _TABLES[0], top, _LONGEST_NAMES[1])
        top += height + _BOX_GAP
    return Drawing("".join(parts), _LINE * whole + 4, 2, 2)


def _box(ends: tuple[float, float], top: float, height: float, colour: str) -> str:
    where = {"x": across(ends[0]), "width": across(ends[1] - ends[0]), "y": _LINE * top + 2, "height": _LINE * height}
    return element("rect", **where, class_=f"{colour} edged")


def _joint(x1: float, y1: float, x2: float, y2: float) -> str:
    ends = {"x1": across(x1), "y1": _LINE * y1 + 2, "x2": across(x2), "y2": _LINE * y2 + 2}
    return element("line", **ends, class_=f"{FAINT} thin")


def _names(names: Sequence[str], head: str, left: float, top: float, longest: int) -> list[str]:
    """Return the heading of a box and the names in it, one below the other."""
    found = [label(head, across(left), _LINE * (top + 0.85), kind="head strong", dx=8)]
    for at, name in enumerate(names):
        title = f"{shortened(name, 80)}: {head}"
        found.append(label(both_ends(name, longest), across(left), _LINE * (top + 1.85 + at), dx=8, title=title))
    return found


def ratio_figure(thresholds: Sequence[ThresholdClaim]) -> Figure:
    """Draw the plan's two ratios as one point, with the thresholds; the public report states them in hundredths."""
    loss, exposure = (one.measured for one in thresholds)
    limits = threshold_sentences(thresholds)
    chart = _ratio_plane(thresholds, 230)
    chart.points([loss], [exposure], AFTER, [f"loses {loss:.2f}, exposes {exposure:.2f}"], size=13, kind="ringed")
    right, high = loss > 0.5, exposure > 0.85
    chart.note(
        f"{loss:.2f}, {exposure:.2f}", loss, exposure, "end" if right else "start", dx=-10 if right else 10,
        dy=20 if high else -8, kind="note strong",
    )  # fmt: skip
    return chart_figure(
        chart,
        key="ratios",
        title="What the plan loses and what it exposes",
        caption="Horizontal: of all that the sensitive attributes reveal about each other, the share that is lost because "
        "they are in different tables. Vertical: of all that would be new to somebody who knows one attribute and reads "
        "another beside it, the share that the tables still show. One table with all attributes is usually at 0 and 1, one "
        f"table for each attribute at 1 and 0. {limits} Both ratios are rounded to hundredths.",
        alt=f"A point at association loss {loss:.2f} and information exposure {exposure:.2f}. {limits}",
        head=("ratio", "measured", "required"),
        rows=[
            (name, f"{one.measured:.2f}", f"at most {one.wanted}" if one.origin in _ORIGINS else "nothing")
            for name, one in zip((LOSS, EXPOSURE), thresholds, strict=True)
        ],
    )


def tradeoff_figure(
    tradeoff: Table, chosen: Table, examined: Sequence[Table], thresholds: Sequence[ThresholdClaim]
) -> Figure:
    """Draw the curve from all attributes apart to all in one table, its knee, and the plans that were examined."""
    points = sorted(tradeoff["points"], key=lambda one: (one["association_loss"], -one["information_exposure"]))
    knee, merges, limits = tradeoff["knee"], tradeoff["merges"], threshold_sentences(thresholds)
    on_curve = {one["label"] for one in (*points, *merges)}
    others = [one for one in examined if one["label"] not in on_curve]
    drawn = others[:: -(-len(others) // _DRAWN_PLANS) or 1]
    chart = _ratio_plane(thresholds, 330)
    if drawn:
        _add_plans(chart, drawn, "examined", FAINT, 6, kind="see-through")
    _add_plans(chart, merges, "merged step by step", BEFORE, 5, joined="dotted")
    _add_plans(chart, points, "trade-off", AFTER, 7, joined="solid")
    _add_plans(chart, [knee], "knee", BEFORE, 16, shape="diamond", kind="ringed")
    _add_plans(chart, [chosen], "chosen", BREACH, 20, hollow=True)
    number = f"{len(others):,}" if len(drawn) == len(others) else f"{len(drawn):,} of {len(others):,}"
    return chart_figure(
        chart,
        key="tradeoff",
        title="The trade-off and its knee",
        caption="Each dot is a plan. The blue line joins the plans that no other plan beats in both ratios. The dotted line "
        "merges tables step by step, from one table for each attribute to one table for all. The diamond is the knee, the "
        f"red circle the chosen plan. {limits}" + (f" In grey, other plans that were examined: {number}." if others else ""),
        alt=f"A curve of {len(points)} plans; the knee loses {knee['association_loss']:.3f} and exposes "
        f"{knee['information_exposure']:.3f}. {limits}",
        head=("plan", "tables", LOSS, EXPOSURE),
        rows=[plan_row(chosen), *(plan_row(one, knee["label"]) for one in points)],
        internal=True,
    )


def _add_plans(
    chart: Chart,
    plans: Sequence[Table],
    name: str,
    colour: str,
    size: float,
    *,
    shape: str = "circle",
    joined: str = "",
    hollow: bool = False,
    kind: str = "",
) -> None:
    """Add plans by their two ratios, joined by a line or not, and name them in the legend."""
    xs = [one["association_loss"] for one in plans]
    ys = [one["information_exposure"] for one in plans]
    if joined:
        chart.line(xs, ys, colour, joined)
    titles = [
        f"{shortened(one['label'], 90)}: loses {x:.3f}, exposes {y:.3f}" for one, x, y in zip(plans, xs, ys, strict=True)
    ]
    chart.points(xs, ys, colour, titles, shape=shape, size=size, hollow=hollow, kind=kind)
    chart.name(name, colour, shape, hollow=hollow)


def plan_row(plan: Table, knee: str = "") -> tuple[str, int, str, str]:
    """Return a plan with its ratios as a row of a table. `knee`: the label of the knee, which is marked."""
    name = f"{plan['label']} (the knee)" if plan["label"] == knee else plan["label"]
    return name, len(plan["plan"]), f"{plan['association_loss']:.4f}", f"{plan['information_exposure']:.4f}"


def threshold_sentences(thresholds: Sequence[ThresholdClaim]) -> str:
    """Return the thresholds on the two ratios and their origin, in a sentence or two."""
    sentences = []
    for origin, words in _ORIGINS.items():
        limits = [f"{one.name} at most {one.wanted}" for one in thresholds if one.origin == origin]
        if limits:
            sentences.append(f"{words}: {' and '.join(limits)}.")
    return " ".join(sentences) or "No threshold on the two ratios was requested."


def _ratio_plane(thresholds: Sequence[ThresholdClaim], height: float) -> Chart:
    """Return the plane of the two ratios, with the thresholds as lines and what they allow together as a field."""
    ticks = [(tick / 5, f"{tick / 5:g}") for tick in range(6)]
    chart = Chart(Axis(-0.03, 1.03, ticks, LOSS), Axis(-0.03, 1.03, ticks, EXPOSURE), height)
    alpha, beta = (float(Fraction(one.wanted)) if one.origin in _ORIGINS else None for one in thresholds)
    if alpha is not None or beta is not None:
        chart.region(-0.03, 1.03 if alpha is None else alpha, -0.03, 1.03 if beta is None else beta, "allowed")
    if alpha is not None:
        chart.rule(alpha, f"α = {thresholds[0].wanted}", upright=True)
    if beta is not None:
        chart.rule(beta, f"β = {thresholds[1].wanted}", upright=False)
    return chart


def dependence_figure(pairs: Sequence[Table], plan: Sequence[Sequence[str]], *, internal: bool = False) -> Figure:
    """Draw a heat map: for each two attributes the share of the lesser entropy that is their mutual information.

    Attributes of one table are side by side, in a frame. A pair without a share is in different tables, and is drawn as
    kept apart.
    """
    names = [name for block in plan for name in block]
    return chart_figure(
        _dependence_chart(pairs, plan, names),
        key=f"dependence-{'original' if internal else 'published'}",
        title="How much attributes reveal about each other",
        about="on the original, all pairs" if internal else "in the published tables",
        caption=_dependence_caption(any(pair["share"] is None for pair in pairs), internal),
        alt=f"A heat map of dependence over {len(names)} sensitive attributes; {_strongest_pair(pairs)}",
        head=("one", "the other", "bits shared", "part of the lesser entropy", "table"),
        rows=[
            (
                pair["one"],
                pair["other"],
                "not published" if pair["bits"] is None else _bits(pair["bits"]),
                "" if pair["share"] is None else percent(pair["share"]),
                pair["table"] or "apart",
            )
            for pair in pairs
        ],
        internal=internal,
    )


def _dependence_chart(pairs: Sequence[Table], plan: Sequence[Sequence[str]], names: Sequence[str]) -> Chart:
    place = {name: at for at, name in enumerate(names)}
    shares: list[list[float | None]] = [[None] * len(names) for _ in names]
    titles = [[""] * len(names) for _ in names]
    for pair in pairs:
        known = "kept apart" if pair["bits"] is None else f"{_bits(pair['bits'])} bits, {percent(pair['share'])}"
        for one, other in ((pair["one"], pair["other"]), (pair["other"], pair["one"])):
            shares[place[one]][place[other]] = pair["share"]
            titles[place[one]][place[other]] = f"{shortened(one, 50)} and {shortened(other, 50)}: {known}"
    few = len(names) <= _WRITTEN
    numbers = [str(at) for at in range(1, len(names) + 1)]
    chart = Chart(
        name_axis(numbers, every=-(-len(names) // _NUMBERED)),
        name_axis([f"{both_ends(name, 20)} {at}" for at, name in enumerate(names, 1)], backwards=True),
        (36 if few else 22) * len(names),
    )
    chart.cells(shares, titles, written=few, gap="apart")
    start = -0.5
    for block in plan:
        end = start + len(block)
        chart.frame(start, end, start, end, INK if len(block) > 1 else FAINT)
        start = end
    return chart


def _dependence_caption(apart: bool, internal: bool) -> str:
    text = (
        "The darker a cell, the more the two attributes reveal about each other: their mutual information, as a share of "
        f"the lesser of their entropies. {percent(0)} is independent; at {percent(1)} one follows from the other. The "
        "numbers below are those beside the names. A frame contains the attributes of one table."
    )
    if internal:
        return f"{text} The cells outside the frames are not in the release."
    if apart:
        text += (
            " Sand-coloured cells are kept apart: the two are in different tables, and the release hides how they depend."
        )
    return text


def _strongest_pair(pairs: Sequence[Table]) -> str:
    published = [pair for pair in pairs if pair["share"] is not None]
    if not published:
        return "no two are in one table, so no value is shown."
    most = max(published, key=lambda pair: pair["share"])
    return f"{most['one']} and {most['other']} share the most, {percent(most['share'])}."


def _bits(bits: float) -> str:
    return "0" if bits == 0 else f"{bits:.3g}"


def reached_figure(number: int, heading: str, table: LevelTable, *, internal: bool) -> Figure:
    """Draw one bar for each table, and each attribute that was measured, with the threshold.

    `internal`: the rows contain the level of the original, which is marked, and the figure is internal.
    """
    name, required, rows = table.part, table.required, table.rows
    broken = sum(not row.holds for row in rows)
    verdict = f"{broken:,} of {len(rows):,} in breach, in red." if broken else "No table is in breach."
    infinite = " An infinite level has no bar." if any(row.measured is None for row in rows) else ""
    each = " and on each attribute" if any(row.attribute for row in rows) else ""
    return chart_figure(
        _reached_chart(required, rows, internal),
        key=f"reached-{number}",
        title=f"{name}, table by table",
        about=heading,
        caption=f"The level of {name} in the worst group of each table{each}; labels start with the number of the table. "
        f"The line marks the requirement: {required}. {verdict}{infinite}"
        + (" Diamonds: the worst class of the original." if internal else ""),
        alt=f"Bars: the level of {name} over {len(rows)} tables or attributes; required {required}. {verdict}",
        head=("table", "attribute", *(("original",) if internal else ()), "measured", "required"),
        rows=[
            (row.table, row.attribute or "all", *((row.before_shown,) if internal else ()), row.shown, required)
            for row in rows
        ],
        internal=internal,
    )


def _reached_chart(required: str, rows: Sequence[LevelRow], internal: bool) -> Chart:
    line = float(Fraction(required.rpartition(" ")[2]))
    levels = [level for row in rows for level in (row.measured, row.before) if level is not None]
    top = max([line, *levels]) or 1.0
    labels = [f"{row.table}: {both_ends(row.attribute, 19)}" if row.attribute else f"table {row.table}" for row in rows]
    # one more place on top, for the note of the requirement
    chart = Chart(
        number_axis(0, 1.18 * top, count=4),
        Axis(len(rows) - 0.4, -1.3, list(enumerate(labels)), grid=False),
        24 * len(rows) + 22,
    )
    places = list(range(len(rows)))
    names = [shortened(row.attribute or "all", 60) for row in rows]
    chart.bars(
        places,
        [row.measured for row in rows],
        [AFTER if row.holds else BREACH for row in rows],
        [f"{name}: {row.shown}" for name, row in zip(names, rows, strict=True)],
        width=0.68,
        lying=True,
    )
    chart.rule(line, f"required {required}", upright=True)
    for place, row in enumerate(rows):
        text = "∞" if row.measured is None else f"{row.measured:.4g}"
        chart.note(text, row.measured or 0, place, dx=5, kind="note small")
    if internal:
        titles = [f"{name}, original: {row.before_shown}" for name, row in zip(names, rows, strict=True)]
        chart.points([row.before for row in rows], places, BEFORE, titles, shape="diamond", size=11, kind="ringed")
        chart.name("published", AFTER)
        chart.name("original", BEFORE, "diamond")
    return chart
