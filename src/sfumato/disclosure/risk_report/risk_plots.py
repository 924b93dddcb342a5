"""The plots of a risk against what is disclosed and against the dictionary's size, and of the true against the estimated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.disclosure.risk_report.loss_format import Amount, amount, amounts_axis, drawable, spread
from sfumato.reports.plots.figure import AFTER, BEFORE, INK, LEGEND, Figure, Table, axis, percent, plain

_LINES = (AFTER, BEFORE, "#5b2a86", "#1f6b4a", "#8a8f94", INK)
"""Colours of lines that are told apart by their markers too."""
_MARKERS = ("circle", "diamond", "square", "triangle-up", "x", "star")
_SHADES = ("#9dbfd6", "#5d93b8", "#1d5c87", "#0c2c43")
"""From few cells to many."""


def cells_plot(curve: Table) -> Figure:
    """The least risk for every number of cells that each record may disclose."""
    lines = curve["lines"]
    values = [value for line in lines for value in line["risks"]]
    logarithmic = spread(values)
    traces = [
        _trace(line["against"], list(range(len(line["risks"]))), line["risks"], logarithmic, number, "%{x} cells")
        for number, line in enumerate(lines)
    ]
    infinite = "inf" in values
    first = lines[0]
    return Figure(
        key="by-cells",
        title="The least risk, by how much is disclosed",
        caption="For each number k of cells that a record discloses, the least risk that any choice of k cells per "
        "record has (a record "
        "with fewer discloses all it has); at the right end everything is disclosed."
        + (" Where a line breaks off the risk is infinite." if infinite else "")
        + (" The axis is logarithmic." if logarithmic else ""),
        alt=f"Lines: the least risk over k from 0 to {curve['attributes']}; {first['against']}: from "
        f"{amount(first['risks'][0])} "
        f"to {amount(first['risks'][-1])}.",
        data=traces,
        layout={
            "showlegend": len(lines) > 1,
            "legend": LEGEND,
            "margin": {"l": 60, "r": 12, "t": 14 + 20 * ((len(lines) + 1) // 2) * (len(lines) > 1), "b": 48},
            "xaxis": axis("cells disclosed per record", range=[-0.3, curve["attributes"] + 0.3], nticks=8, showgrid=False),
            "yaxis": amounts_axis("risk", values),
        },
        head=("cells per record", *(line["against"] for line in lines)),
        rows=[(k, *(amount(line["risks"][k]) for line in lines)) for k in range(curve["attributes"] + 1)],
        height=330,
        internal=True,
    )


def sizes_plot(curve: Table, number: int) -> Figure:
    """The risk against parts of one dictionary, a line for each number of cells."""
    sizes = curve["individuals"]
    values = [value for line in curve["lines"] for value in line["risks"]]
    logarithmic = spread(values)
    traces = [
        {
            **_trace(
                _cells(line["cells"], curve["attributes"]), sizes, line["risks"], logarithmic, at, "%{x:,} individuals"
            ),
            "line": {"color": _SHADES[at % len(_SHADES)], "width": 2},
            "marker": {"color": _SHADES[at % len(_SHADES)], "size": 7, "symbol": _MARKERS[at % len(_MARKERS)]},
        }
        for at, line in enumerate(curve["lines"])
    ]
    kept = curve["kept"]
    about = (
        f"Every part holds {kept:,} individuals, for each record its own or one who fits it, and others drawn at random"
        if kept
        else "The parts are drawn at random; nobody fits a whole record"
    )
    some = "" if curve["sampled"] is None else f" Measured on {curve['sampled']:,} records drawn at random."
    return Figure(
        key=f"by-size-{number}",
        title="The least risk, by how many individuals the attacker knows",
        about=curve["dictionary"],
        caption=f"The risk of the best choice of k cells per record against ever larger parts of the dictionary, each "
        "part within the "
        f"next; the choice is made for that part. {about}.{some}" + (" The axis is logarithmic." if logarithmic else ""),
        alt=f"Lines: the least risk against parts of {sizes[0]:,} to {sizes[-1]:,} individuals, for "
        f"{len(curve['lines'])} numbers "
        "of cells.",
        data=traces,
        layout={
            "showlegend": True,
            "legend": LEGEND,
            "margin": {"l": 60, "r": 12, "t": 54, "b": 48},
            "xaxis": axis("individuals in the dictionary", rangemode="tozero", nticks=6),
            "yaxis": amounts_axis("risk", values),
        },
        head=("individuals", *(_cells(line["cells"], curve["attributes"]) for line in curve["lines"])),
        rows=[(f"{size:,}", *(amount(line["risks"][at]) for line in curve["lines"])) for at, size in enumerate(sizes)],
        height=340,
        internal=True,
    )


def scatter_plot(scatter: Table, number: int) -> Figure:
    """The true risk beside the one estimated from a part of the dictionary; on or above the diagonal it is bounded."""
    points = scatter["points"]
    values = [value for point in points for value in (point["true"], point["estimated"])]
    logarithmic = spread(values)
    both = [value for value in drawable(values, logarithmic) if value is not None]
    ends = [min(both, default=0.0), max(both, default=1.0)]
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": ends if logarithmic else [0, ends[1]],
            "y": ends if logarithmic else [0, ends[1]],
            "line": {"color": INK, "width": 1.5, "dash": "dash"},
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]
    for at, cells in enumerate(sorted({point["cells"] for point in points})):
        some = [point for point in points if point["cells"] == cells]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": _cells(cells, scatter["attributes"]),
                "x": drawable((point["true"] for point in some), logarithmic),
                "y": drawable((point["estimated"] for point in some), logarithmic),
                "marker": {
                    "color": _SHADES[at % len(_SHADES)],
                    "size": 8,
                    "symbol": _MARKERS[at % len(_MARKERS)],
                    "line": {"color": "white", "width": 0.7},
                },
                "customdata": [[f"{point['truly']:,}", f"{point['supposed']:,}"] for point in some],
                "hovertemplate": "true %{x:.4g} (%{customdata[0]} individuals), estimated %{y:.4g} (%{customdata[1]})"
                "<extra></extra>",
            }
        )
    below = scatter["below"]
    told = (
        f"All {len(points)} points lie on or above the dashed line."
        if not below
        else f"{below} of {len(points)} points lie below the dashed line: {scatter['why']}."
    )
    some_records = "" if scatter["sampled"] is None else f" Measured on {scatter['sampled']:,} records drawn at random."
    return Figure(
        key=f"scatter-{number}",
        title="The true risk beside the estimated one",
        about=scatter["dictionary"],
        caption="The attacker has one part of the dictionary (true), the publisher a smaller one within it (estimated), "
        "and chooses the "
        f"cells by that. On or above the dashed line the estimate is an upper bound. {told}{some_records}"
        + (" Both axes are logarithmic." if logarithmic else ""),
        alt=f"A scatter of {len(points)} points, the estimated over the true risk. {told}",
        data=traces,
        layout={
            "showlegend": True,
            "legend": LEGEND,
            "margin": {"l": 60, "r": 12, "t": 54, "b": 48},
            "xaxis": amounts_axis("true risk", values),
            "yaxis": amounts_axis("estimated risk", values),
        },
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
        height=340,
        internal=True,
    )


def _cells(cells: int, attributes: int) -> str:
    return f"k = {cells} ({percent(cells / attributes)})"


def _trace(
    name: str, xs: Sequence[float], ys: Sequence[Amount], logarithmic: bool, number: int, where: str
) -> dict[str, Any]:
    colour = _LINES[number % len(_LINES)]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(name),
        "x": list(xs),
        "y": drawable(ys, logarithmic),
        "connectgaps": False,
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 7, "symbol": _MARKERS[number % len(_MARKERS)]},
        "hovertemplate": f"{where}: risk %{{y:.4g}}<extra></extra>",
    }
