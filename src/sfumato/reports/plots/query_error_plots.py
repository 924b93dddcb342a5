"""The plot of how far off counts from the release are."""

from __future__ import annotations

from sfumato.plurals import count_of
from sfumato.reports.plots.figure import AFTER, BEFORE, LEGEND, Figure, Table, axis, percent


def errors_plot(expected: Table, true: Table | None) -> Figure:
    """The errors of counts by how many quasi-identifiers they ask for."""
    traces, rows = [], []
    told = [("expected from the release alone", expected, AFTER, "diamond")]
    if true is not None:
        told.append(("true, against the original", true, BEFORE, "circle"))
    for shift, (name, table, colour, symbol) in enumerate(told):
        by = [entry for entry in table["by"] if entry["median"] is not None]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": [entry["columns"] + 0.12 * shift for entry in by],
                "y": [entry["median"] for entry in by],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [entry["upper"] - entry["median"] for entry in by],
                    "arrayminus": [entry["median"] - entry["lower"] for entry in by],
                    "color": colour,
                    "thickness": 2,
                    "width": 5,
                },
                "marker": {"color": colour, "size": 10, "symbol": symbol},
                "hovertemplate": "median %{y:.1%}<extra>" + name + "</extra>",
            }
        )
        rows += [
            (name, entry["columns"], percent(entry["lower"]), percent(entry["median"]), percent(entry["upper"]))
            for entry in table["by"]
        ]
    most = expected["by"][-1]["columns"]
    also = (
        f" and {expected['sensitive']} sensitive column{'s' if expected['sensitive'] > 1 else ''}"
        if expected["sensitive"]
        else ""
    )
    drawn = (
        f"For each number of quasi-identifiers, {expected['asked']} counts over stretches of as many columns{also}, of "
        f"{count_of(expected['drawn'], 'original')} drawn at random from all that look like this release: the "
        "quasi-identifiers of each "
        "row evenly from its cells, the secrets of a group dealt at random. Points are medians of the relative error, bars "
        "the middle half."
    )
    beside = " Beside them, the true errors against the original." if true is not None else ""
    return Figure(
        key="errors",
        title="How far off counts are",
        caption=f"{drawn}{beside}",
        alt=f"Points with bars: the median relative error of counts over 1 to {most} quasi-identifiers.",
        data=traces,
        layout={
            "showlegend": True,
            "legend": LEGEND,
            "margin": {"l": 56, "r": 12, "t": 30 + 18 * (true is not None), "b": 48},
            "xaxis": axis("quasi-identifiers asked for", dtick=1, range=[0.5, most + 0.5], showgrid=False),
            "yaxis": axis("relative error", tickformat=".1~%", rangemode="tozero"),
        },
        head=("", "quasi-identifiers", "lower quartile", "median", "upper quartile"),
        rows=rows,
        height=300,
        internal=true is not None,
    )
