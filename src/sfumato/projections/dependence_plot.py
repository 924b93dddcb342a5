"""The heat map of dependence: how much two sensitive attributes tell of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.reports.plots.figure import FAINT, INK, Figure, Table, axis, both_ends, percent, plain

_WRITTEN = 7
"""The most attributes for which the figures stand in the cells."""
_NUMBERED = 16
"""The most columns whose numbers fit side by side on a phone."""
_APART = "#e3ddd0"
"""Of pairs that stand in different tables: no shade of the scale."""
_SCALE = [[0, "#f3f7fa"], [0.35, "#a7c4d8"], [0.7, "#3f7aa3"], [1, "#12344d"]]


def dependence_plot(pairs: Sequence[Table], plan: Sequence[Sequence[str]], *, internal: bool = False) -> Figure:
    """What part of the lesser entropy each two attributes share, those of one table side by side and framed.

    A pair that is not told, because the two stand in different tables, is drawn as kept apart.
    """
    names = [name for block in plan for name in block]
    place = {name: at for at, name in enumerate(names)}
    shares: list[list[float | None]] = [[None] * len(names) for _ in names]
    apart: list[list[int | None]] = [[None] * len(names) for _ in names]
    hover = [[""] * len(names) for _ in names]
    for pair in pairs:
        for i, j in ((place[pair["one"]], place[pair["other"]]), (place[pair["other"]], place[pair["one"]])):
            shares[i][j] = None if pair["share"] is None else 100 * pair["share"]
            apart[i][j] = 1 if pair["share"] is None else None
            hover[i][j] = f"{plain(names[i], 50)} and {plain(names[j], 50)}: {_bits(pair)}"
    few, places, step = len(names) <= _WRITTEN, list(range(len(names))), -(-len(names) // _NUMBERED)
    heat = {
        **_cells(shares, hover),
        "zmin": 0,
        "zmax": 100,
        "colorscale": _SCALE,
        **({"texttemplate": "%{z:.0f}", "textfont": {"size": 12}} if few else {}),
        "colorbar": {
            "orientation": "h", "thickness": 10, "len": 0.8, "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom",
            "outlinewidth": 0, "tickvals": [0, 50, 100], "tickfont": {"size": 11}, "ypad": 3,
            "ticktext": [percent(share) for share in (0, 0.5, 1)],
        },
    }  # fmt: skip
    return Figure(
        key=f"dependence-{'whole' if internal else 'told'}",
        title="How much attributes tell of each other",
        about="on the original, all pairs" if internal else "in the published tables",
        caption=_caption(any(pair["share"] is None for pair in pairs), internal),
        alt=f"A heat map of dependence over {len(names)} sensitive attributes; {_most(pairs)}",
        data=[{**_cells(apart, hover), "colorscale": [[0, _APART], [1, _APART]], "showscale": False}, heat],
        layout={
            "shapes": _frames(plan),
            "margin": {"l": 40, "r": 6, "t": 34, "b": 26},
            "xaxis": axis(
                None, tickvals=places[::step], ticktext=[str(i + 1) for i in places[::step]], tickangle=0,
                tickfont={"size": 11 if few else 9}, showgrid=False, range=[-0.55, len(names) - 0.45],
            ),
            "yaxis": axis(
                None, tickvals=places, ticktext=[f"{both_ends(n, 20)} {i}" for i, n in enumerate(names, 1)],
                tickfont={"size": 11}, showgrid=False, range=[len(names) - 0.45, -0.55],
            ),
        },
        head=("one", "the other", "bits shared", "part of the lesser entropy", "table"),
        rows=[
            (
                pair["one"],
                pair["other"],
                "not told" if pair["bits"] is None else _number(pair["bits"]),
                "" if pair["share"] is None else percent(pair["share"]),
                pair["table"] or "apart",
            )
            for pair in pairs
        ],
        height=76 + (40 if few else 24) * len(names),
        internal=internal,
    )  # fmt: skip


def _caption(apart: bool, internal: bool) -> str:
    said = (
        "The darker a cell, the more the two attributes tell of each other: their mutual information, as a share of the "
        f"lesser of their entropies. {percent(0)} is independent, {percent(1)} says that one follows from the other. The "
        "numbers below are those beside the names. A frame holds the attributes of one table."
    )
    if internal:
        return f"{said} What lies outside the frames is what readers of the release are not told."
    if apart:
        said += (
            " Sand-coloured cells are kept apart: the two stand in different tables, and how they go together is not told."
        )
    return said


def _most(pairs: Sequence[Table]) -> str:
    told = [pair for pair in pairs if pair["share"] is not None]
    if not told:
        return "no two stand in one table, so that none is told."
    most = max(told, key=lambda pair: pair["share"])
    return f"{most['one']} and {most['other']} share the most, {percent(most['share'])}."


def _bits(pair: Table) -> str:
    if pair["bits"] is None:
        return "kept apart"
    return f"{_number(pair['bits'])} bits, {percent(pair['share'])}"


def _number(bits: float) -> str:
    return "0" if bits == 0 else f"{bits:.3g}"


def _cells(values: Sequence[Sequence[float | None]], hover: Sequence[Sequence[str]]) -> dict[str, Any]:
    places = list(range(len(values)))
    return {
        "type": "heatmap",
        "x": places,
        "y": places,
        "z": values,
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "customdata": hover,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _frames(plan: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    found, start = [], -0.5
    for block in plan:
        ends = {"x0": start, "x1": start + len(block), "y0": start, "y1": start + len(block)}
        heavy = len(block) > 1
        found.append({"type": "rect", **ends, "line": {"color": INK if heavy else FAINT, "width": 2 if heavy else 1}})
        start += len(block)
    return found
