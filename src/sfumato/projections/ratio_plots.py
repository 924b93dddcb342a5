"""The plots of a plan's two ratios: what of the associations it loses, and what of the information it exposes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sfumato.reports.plots.figure import AFTER, BEFORE, BREACH, FAINT, INK, LEGEND, Figure, Table, axis, plain

_DRAWN = 1500
"""The most examined plans that are drawn beside the curve."""
_ORIGINS = {
    "given": "Asked for",
    "knee": "Nothing was asked of the plan, so that the knee of the trade-off was taken",
    "near": "Nothing was asked of the plan, so that the one nearest to the knee of the trade-off was taken",
    "least": "The least that goes with it",
}
"""Where a threshold comes from, in words; what is of no other origin is no limit."""
LOSS, EXPOSURE = "association loss Γα", "information exposure Γβ"


def ratios_plot(thresholds: Sequence[Table]) -> Figure:
    """The plan's ratios as one point, with the thresholds; told in hundredths."""
    loss, exposure = (one["measured"] for one in thresholds)
    told, (shapes, notes) = limits(thresholds), _marked(thresholds)
    return Figure(
        key="ratios",
        title="What the plan loses, and what it exposes",
        caption="Across: of all that the sensitive attributes tell of each other, the share that is lost because they stand "
        "in different tables. Up: of all that would be new to somebody who knows one attribute and reads another beside it, "
        "the share that the tables still show. All in one table is usually at 0 and 1, each in a table of its own at 1 and "
        f"0. {told} Both are told in hundredths.",
        alt=f"A point at association loss {loss:.2f} and information exposure {exposure:.2f}. {told}",
        data=[
            {
                "type": "scatter",
                "mode": "markers",
                "x": [loss],
                "y": [exposure],
                "marker": {"size": 13, "color": AFTER, "opacity": 1, "line": {"color": "white", "width": 1.5}},
                "hovertemplate": "loses %{x:.2f}, exposes %{y:.2f}<extra></extra>",
                "cliponaxis": False,
            }
        ],
        layout={**_plane(), "shapes": shapes, "annotations": [*notes, _beside(loss, exposure)]},
        head=("ratio", "measured", "asked for"),
        rows=[
            (
                name,
                f"{one['measured']:.2f}",
                f"at most {one['wanted']}" if one["origin"] in _ORIGINS else "nothing",
            )
            for name, one in zip((LOSS, EXPOSURE), thresholds, strict=True)
        ],
        height=320,
    )


def tradeoff_plot(tradeoff: Table, chosen: Table, examined: Sequence[Table], thresholds: Sequence[Table]) -> Figure:
    """The curve from all attributes apart to all in one table, its knee, and every plan that was examined."""
    points = sorted(tradeoff["points"], key=lambda one: (one["association_loss"], -one["information_exposure"]))
    knee, told, (shapes, notes) = tradeoff["knee"], limits(thresholds), _marked(thresholds)
    merges = tradeoff["merges"]
    on_it = {one["label"] for one in (*points, *merges)}
    others = [one for one in examined if one["label"] not in on_it]
    drawn = others[:: -(-len(others) // _DRAWN) or 1]
    return Figure(
        key="tradeoff",
        title="The trade-off, and its knee",
        caption="Each dot is a plan. The blue line joins those that no other one beats in both ratios; the dotted one "
        "merges tables step by step, from each attribute in a table of its own to all in one. "
        f"The diamond is the knee, and the red circle the plan that was chosen. {told}"
        + (f" In grey, other plans that were examined: {_some(len(drawn), len(others))}." if others else ""),
        alt=f"A curve of {len(points)} plans; the knee loses {knee['association_loss']:.3f} and exposes "
        f"{knee['information_exposure']:.3f}. {told}",
        data=[
            *([_dots(drawn, "examined", {"size": 6, "color": FAINT, "opacity": 0.55})] if others else []),
            {
                **_dots(merges, "merged step by step", {"size": 5, "color": BEFORE, "opacity": 1}),
                "mode": "lines+markers",
                "line": {"color": BEFORE, "width": 1.2, "dash": "dot"},
            },
            {
                **_dots(points, "trade-off", {"size": 7, "color": AFTER, "opacity": 1}),
                "mode": "lines+markers",
                "line": {"color": AFTER, "width": 2},
            },
            _dots(
                [knee], "knee", {"size": 15, "color": BEFORE, "symbol": "diamond", "line": {"color": "white", "width": 1.5}}
            ),
            _dots([chosen], "chosen", {"size": 20, "color": BREACH, "symbol": "circle-open", "line": {"width": 3}}),
        ],
        layout={
            **_plane(),
            "shapes": shapes,
            "annotations": notes,
            "showlegend": True,
            "legend": LEGEND,
            "margin": {"l": 56, "r": 16, "t": 40, "b": 48},
        },
        head=("plan", "tables", LOSS, EXPOSURE),
        rows=[weighed_row(chosen), *(weighed_row(one, knee["label"]) for one in points)],
        height=420,
        internal=True,
    )


def weighed_row(one: Table, knee: str = "") -> tuple[str, int, str, str]:
    """A plan with its ratios, as a row of a table."""
    label = f"{one['label']} (the knee)" if one["label"] == knee else one["label"]
    return label, len(one["plan"]), f"{one['association_loss']:.4f}", f"{one['information_exposure']:.4f}"


def _some(drawn: int, found: int) -> str:
    return f"{found:,}" if drawn == found else f"{drawn:,} of {found:,}"


def limits(thresholds: Sequence[Table]) -> str:
    """What was asked of the two ratios, and where it comes from, in a sentence or two."""
    said = []
    for origin, words in _ORIGINS.items():
        some = [f"{one['name']} at most {one['wanted']}" for one in thresholds if one["origin"] == origin]
        if some:
            said.append(f"{words}: {' and '.join(some)}.")
    return " ".join(said) or "Nothing was asked of the two ratios."


def _beside(loss: float, exposure: float) -> dict[str, Any]:
    """The ratios in figures beside their point, on the side that has room."""
    side = {"xanchor": "right", "xshift": -8} if loss > 0.5 else {"xanchor": "left", "xshift": 8}
    high = {"yanchor": "top", "yshift": -8} if exposure > 0.85 else {"yanchor": "bottom", "yshift": 8}
    text = {
        "text": f"<b>{loss:.2f}, {exposure:.2f}</b>",
        "font": {"size": 13, "color": AFTER},
        "bgcolor": "rgba(255,253,249,0.85)",
    }
    return {"x": loss, "y": exposure, "showarrow": False, **side, **high, **text}


def _dots(points: Sequence[Table], name: str, marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "marker": marker,
        "x": [one["association_loss"] for one in points],
        "y": [one["information_exposure"] for one in points],
        "customdata": [plain(one["label"], 90) for one in points],
        "hovertemplate": "%{customdata}<br>loses %{x:.3f}, exposes %{y:.3f}<extra></extra>",
        "cliponaxis": False,
    }


def _plane() -> dict[str, Any]:
    ends = {"range": [-0.03, 1.03], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    return {"margin": {"l": 56, "r": 16, "t": 18, "b": 48}, "xaxis": axis(LOSS, **ends), "yaxis": axis(EXPOSURE, **ends)}


def _marked(thresholds: Sequence[Table]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The thresholds as lines, and what they allow together as a field."""
    given = [float(Fraction(one["wanted"])) if one["origin"] in _ORIGINS else None for one in thresholds]
    across, up = given
    dashed = {"color": INK, "width": 1.5, "dash": "dash"}
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    if across is not None or up is not None:
        right, top = (1.03 if limit is None else limit for limit in given)
        field = {"type": "rect", "x0": -0.03, "x1": right, "y0": -0.03, "y1": top, "layer": "below"}
        shapes.append({**field, "fillcolor": "#e4f1e9", "line": {"width": 0}})
    if across is not None:
        shapes.append({"type": "line", "x0": across, "x1": across, "y0": -0.03, "y1": 1.03, "line": dashed})
        side = {"xanchor": "right", "xshift": -4} if across > 0.8 else {"xanchor": "left", "xshift": 4}
        notes.append({"x": across, "y": 1.02, "text": f"α = {plain(thresholds[0]['wanted'])}", "yanchor": "top", **side})
    if up is not None:
        shapes.append({"type": "line", "x0": -0.03, "x1": 1.03, "y0": up, "y1": up, "line": dashed})
        notes.append(
            {
                "x": 1.02, "y": up, "text": f"β = {plain(thresholds[1]['wanted'])}", "xanchor": "right",
                "yanchor": "top" if up > 0.9 else "bottom",
            }
        )  # fmt: skip
    return shapes, [{**note, "showarrow": False, "font": {"size": 12}} for note in notes]
