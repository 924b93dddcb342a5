"""The plan as a picture: the quasi-identifiers that every table shows, and the sensitive attributes that each holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.plurals import count_of
from sfumato.reports.plots.figure import AFTER, FAINT, INK, PALE, Figure, both_ends, plain

_LINE = 21
"""Pixels of a line of text."""
_SHARED, _TABLES = (0.0, 0.36), (0.46, 1.0)
"""Where the box of the quasi-identifiers stands, and those of the tables, as shares of the width."""
_LONGEST = (13, 22)
"""Characters of a name in either box that fit on a phone; the table below the picture has all."""
_GAP = 0.7
"""Lines between two boxes."""


def plan_plot(blocks: Sequence[Sequence[str]], quasi_identifiers: Sequence[str]) -> Figure:
    """Each table as a box that holds its sensitive attributes, joined to the box of the quasi-identifiers they share."""
    boxes, lines = _boxes(blocks)
    names = quasi_identifiers or ["(none)"]
    half = len(names) / 2 + 0.75
    middle = lines / 2
    whole = max(lines, 2 * half)
    many, held = count_of(len(blocks), "table"), count_of(sum(map(len, blocks)), "sensitive attribute")
    shapes = [_box(_SHARED, middle - half, middle + half, PALE, FAINT)]
    notes = [_head("in every table", _SHARED[0], middle - half)]
    for number, ((top, bottom), block) in enumerate(zip(boxes, blocks, strict=True), 1):
        shapes += [_box(_TABLES, top, bottom, "#eef4f8", AFTER), _joint(middle, (top + bottom) / 2)]
        notes.append(_head(f"table {number}", _TABLES[0], top, bold=len(block) > 1))
    shared = [(name, "in every table", middle - half + 1.5 + i) for i, name in enumerate(names)]
    inner = [
        (name, f"table {number}", top + 1.5 + i)
        for number, ((top, _), block) in enumerate(zip(boxes, blocks, strict=True), 1)
        for i, name in enumerate(block)
    ]
    return Figure(
        key="plan",
        title=f"The plan: {held} in {many}",
        caption="Each box is a published table. It holds the sensitive attributes that are named in it, and the "
        "quasi-identifiers on the left, generalized for that table. Attributes in one box can be seen together, "
        "row by row; "
        "which row of one table belongs to which row of another is not told.",
        alt=f"A picture of {held} in {many} beside the {count_of(len(quasi_identifiers), 'quasi-identifier')} that all "
        f"share: {'; '.join(f'{at} holds ' + ' and '.join(block) for at, block in enumerate(blocks, 1))}.",
        data=[_names(shared, _SHARED[0], _LONGEST[0], FAINT), _names(inner, _TABLES[0], _LONGEST[1], AFTER)],
        layout={
            "margin": dict.fromkeys("lrtb", 2),
            "shapes": shapes,
            "annotations": notes,
            "xaxis": {"visible": False, "fixedrange": True, "range": [-0.005, 1.005]},
            "yaxis": {
                "visible": False,
                "fixedrange": True,
                "range": [max(whole, middle + half) + 0.1, min(0, middle - half) - 0.1],
            },
        },
        head=("table", "sensitive attributes", "quasi-identifiers"),
        rows=[(number, ", ".join(block), ", ".join(quasi_identifiers)) for number, block in enumerate(blocks, 1)],
        height=round(_LINE * (whole + 0.2)) + 4,
    )


def _boxes(blocks: Sequence[Sequence[str]]) -> tuple[list[tuple[float, float]], float]:
    """For each table the lines at which its box begins and ends, and how many lines they take together."""
    found, top = [], 0.0
    for block in blocks:
        found.append((top, top + len(block) + 1.3))
        top += len(block) + 1.3 + _GAP
    return found, top - _GAP


def _box(across: tuple[float, float], top: float, bottom: float, fill: str, line: str) -> dict[str, Any]:
    ends = {"x0": across[0], "x1": across[1], "y0": top, "y1": bottom}
    return {"type": "rect", **ends, "fillcolor": fill, "line": {"color": line, "width": 1.3}, "layer": "below"}


def _joint(start: float, end: float) -> dict[str, Any]:
    """A curve from the quasi-identifiers to a table."""
    left, right = _SHARED[1], _TABLES[0]
    bend = (left + right) / 2
    path = f"M {left},{start:.4g} C {bend},{start:.4g} {bend},{end:.4g} {right},{end:.4g}"
    return {"type": "path", "path": path, "line": {"color": FAINT, "width": 1.1}, "layer": "below"}


def _head(text: str, left: float, top: float, bold: bool = True) -> dict[str, Any]:
    place = {"x": left, "y": top, "xanchor": "left", "yanchor": "top", "xshift": 5, "yshift": -3, "showarrow": False}
    return {**place, "text": f"<b>{text}</b>" if bold else text, "font": {"size": 11, "color": FAINT}}


def _names(named: Sequence[tuple[str, str, float]], left: float, longest: int, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": [left + 0.028] * len(named),
        "y": [at + 0.1 for _, _, at in named],
        "text": [f" {both_ends(name, longest)}" for name, _, _ in named],
        "textposition": "middle right",
        "textfont": {"size": 12, "color": INK},
        "marker": {"size": 5, "color": colour, "symbol": "square", "opacity": 1},
        "customdata": [[plain(name, 80), where] for name, where, _ in named],
        "hovertemplate": "%{customdata[0]}: %{customdata[1]}<extra></extra>",
        "cliponaxis": False,
    }
