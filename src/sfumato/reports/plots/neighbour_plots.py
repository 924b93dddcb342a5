"""The plot of the worst group: its values, and who is near whom, as in paper 001, Fig. 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sfumato.reports.plots.figure import AFTER, BREACH, INK, Figure, Table, axis, plain

_NAMED = 16
"""The most values whose names stand beside them."""


def neighbours_plot(graph: Table, heading: str, allowed: int | None, *, internal: bool = False) -> Figure:
    """The worst group as a graph: an edge between values within ε of each other, the densest one marked."""
    when = "before" if internal else "after"
    on_a_line = graph["at"] is not None
    xs, ys = (graph["at"], graph["neighbours"]) if on_a_line else _rings(graph)
    rows = zip(graph["labels"], graph["counts"], graph["neighbours"], strict=True)
    most, others = graph["neighbours"][graph["densest"]], graph["rows"] - 1
    return Figure(
        key=f"worst-{graph['finding']}-{when}",
        title=f"Who is near whom in the worst group, {when}",
        about=heading,
        caption=_caption(graph, allowed, internal),
        alt=f"A graph of {len(graph['labels'])} values of the worst group with {len(graph['edges'])} edges; the densest "
        f"value has {most} of {others} others near it.",
        data=[_edges(graph, xs, ys), _nodes(graph, xs, ys, allowed, named=not on_a_line and len(graph["labels"]) <= _NAMED)],
        layout=_line(graph, allowed) if on_a_line else _circle(),
        head=("value", "rows", "others near it"),
        rows=[(label, f"{count:,}", f"{near:,}") for label, count, near in rows],
        height=300 if on_a_line else 380,
        internal=internal,
    )


def _caption(graph: Table, allowed: int | None, internal: bool) -> str:
    cells = ", ".join(f"{name} {' '.join(str(cell).split())[:40]}" for name, cell in graph["quasi_identifiers"].items())
    group = f"the class {cells}" if internal else f"group {graph['group']:,} ({cells})"
    rows, shown = graph["rows"], len(graph["labels"])
    densest = graph["neighbours"][graph["densest"]]
    parts = [
        f"The {f'{rows:,} rows' if rows > 1 else 'only row'} of {group} by their sensitive value; an edge joins values "
        f"within {graph['epsilon']} of each other, a larger dot stands for several rows with the same value, which are near "
        f"each other too. The diamond has the most others near it: {densest:,} of {rows - 1:,}.",
    ]
    if allowed is not None:
        parts.append(f"At most {allowed:,} were allowed.")
    if graph["at"] is not None:
        parts.append("Values stand along the axis, the higher the more others are near.")
    else:
        parts.append("The densest value stands in the middle, those near it on the inner ring, all others on the outer.")
    if shown < graph["distinct"]:
        parts.append(
            f"Of {graph['distinct']:,} values {shown} are drawn: the densest, those near it, and the most frequent others."
        )
    return " ".join(parts)


def _around(graph: Table) -> set[int]:
    """The values near the densest."""
    densest = graph["densest"]
    return {j if i == densest else i for i, j in graph["edges"] if densest in (i, j)}


def _edges(graph: Table, xs: Sequence[float], ys: Sequence[float]) -> dict[str, Any]:
    points: dict[str, list[float | None]] = {"x": [], "y": []}
    for i, j in graph["edges"]:
        points["x"] += [xs[i], xs[j], None]
        points["y"] += [ys[i], ys[j], None]
    line = {"color": "rgba(70,90,105,0.4)", "width": 1.3}
    return {"type": "scatter", "mode": "lines", **points, "line": line, "hoverinfo": "skip"}


def _nodes(graph: Table, xs: Sequence[float], ys: Sequence[float], allowed: int | None, *, named: bool) -> dict[str, Any]:
    labels, counts, near, densest = graph["labels"], graph["counts"], graph["neighbours"], graph["densest"]
    around = _around(graph)
    centre = BREACH if allowed is not None and near[densest] > allowed else INK
    places = range(len(labels))
    return {
        "type": "scatter",
        "mode": "markers+text" if named else "markers",
        "x": xs,
        "y": ys,
        "text": [plain(label, 22) for label in labels],
        "textposition": [_side(x, y) for x, y in zip(xs, ys, strict=True)] if named else "top center",
        "textfont": {"size": 11},
        "marker": {
            "opacity": 1,
            "size": [11 + 5 * min(6, math.sqrt(count - 1)) for count in counts],
            "color": [centre if i == densest else AFTER if i in around else "#8fa9bd" for i in places],
            "symbol": ["diamond" if i == densest else "circle" for i in places],
            "line": {"color": "white", "width": 1.5},
        },
        "customdata": [[plain(label, 80), count, n] for label, count, n in zip(labels, counts, near, strict=True)],
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]} rows, %{customdata[2]} others near<extra></extra>",
        "cliponaxis": False,
    }


def _line(graph: Table, allowed: int | None) -> dict[str, Any]:
    """Numbers stand where they are, the higher the more others are near."""
    top = max([*graph["neighbours"], allowed or 0, 1])
    layout: dict[str, Any] = {
        "margin": {"l": 56, "r": 16, "t": 14, "b": 48},
        "xaxis": axis("value"),
        "yaxis": axis("others within reach", range=[-0.12 * top - 0.3, 1.12 * top + 0.4]),
    }
    if top <= 6:
        layout["yaxis"]["dtick"] = 1
    if allowed is not None:
        line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": allowed, "y1": allowed}
        text = {"xref": "paper", "x": 1, "y": allowed, "text": f"allowed {allowed:,}", "showarrow": False}
        layout["shapes"] = [{**line, "line": {"color": INK, "width": 1.5, "dash": "dash"}}]
        layout["annotations"] = [{**text, "xanchor": "right", "yanchor": "bottom", "font": {"size": 12}}]
    return layout


def _circle() -> dict[str, Any]:
    bare = {"visible": False, "fixedrange": True}
    return {
        "margin": dict.fromkeys("lrtb", 6),
        "xaxis": {**bare, "range": [-1.45, 1.45]},
        "yaxis": {**bare, "range": [-1.22, 1.22], "scaleanchor": "x"},
    }


def _rings(graph: Table) -> tuple[list[float], list[float]]:
    """The densest value in the middle, those near it around, the others further out."""
    size, around = len(graph["labels"]), sorted(_around(graph))
    rest = [i for i in range(size) if i != graph["densest"] and i not in around]
    xs, ys = [0.0] * size, [0.0] * size
    for ring, radius, turn in ((around, 0.5, 0.25), (rest, 1.0, 0.0)):
        for place, i in enumerate(ring):
            angle = 2 * math.pi * (place + turn) / len(ring) + math.pi / 2
            xs[i], ys[i] = round(radius * math.cos(angle), 4), round(radius * math.sin(angle), 4)
    return xs, ys


def _side(x: float, y: float) -> str:
    """Where a label stands, so that it points away from the middle."""
    up = "top" if y >= 0 else "bottom"
    return f"{up} center" if abs(x) < 0.35 else f"{up} {'right' if x > 0 else 'left'}"
