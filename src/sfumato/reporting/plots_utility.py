"""The plots of utility: loss, distributions, errors of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.reporting.figure import AFTER, BEFORE, LEGEND, Figure, axis, percent, plain

Table = Mapping[str, Any]


def loss_plot(columns: Sequence[Table], mean: float) -> Figure | None:
    """What each quasi-identifier lost by its recoding."""
    quasi = [column for column in columns if "loss" in column]
    if not quasi:
        return None
    places = list(range(len(quasi)))
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": places,
        "x": [column["loss"] for column in quasi],
        "marker": {"color": AFTER},
        "text": [percent(column["loss"]) for column in quasi],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{text}<extra></extra>",
    }
    worst = max(quasi, key=lambda column: column["loss"])
    return Figure(
        key="loss",
        title="Information loss by column",
        caption="How much of its domain a published cell leaves open, on average over the rows: 0 % is the value itself, 100 % "
        f"tells nothing. Over all quasi-identifiers the mean is {percent(mean)}. Suppressed rows count as 100 %.",
        alt=f"Bars: the loss of {len(quasi)} columns; the largest is {worst['name']} with {percent(worst['loss'])}.",
        data=[bars],
        layout={
            "xaxis": axis(None, tickformat=".0%", range=[0, min(1.12, 1.25 * max(0.01, worst["loss"]))]),
            "yaxis": axis(None, tickvals=places, ticktext=[plain(column["name"]) for column in quasi], autorange="reversed"),
            "margin": {"l": 60, "r": 30, "t": 8, "b": 36},
        },
        head=("column", "loss"),
        rows=[(column["name"], percent(column["loss"])) for column in quasi],
        height=70 + 34 * len(quasi),
    )


def column_plot(column: Table, number: int) -> Figure:
    """One column's distribution: before and after, or as it is published."""
    quasi = "before" in column
    labels, after = column["labels"], column["after"]
    places = list(range(len(labels)))
    traces = (
        [_bars(column, "before", "before", BEFORE if not quasi else "#dcb877")]
        if quasi
        else [_bars(column, "after", "published", AFTER)]
    )
    if quasi:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers" if not column["ordered"] else "lines+markers",
                "name": "after",
                "x": places if column["ordered"] else after,
                "y": after if column["ordered"] else places,
                "marker": {"color": AFTER, "size": 8 if not column["ordered"] else 5, "symbol": "diamond"},
                "line": {"color": AFTER, "width": 1.5},
                "customdata": [plain(label) for label in labels],
                "hovertemplate": "%{customdata}: "
                + ("%{y:.1%}" if column["ordered"] else "%{x:.1%}")
                + "<extra>after</extra>",
            }
        )
    shares = axis(None, tickformat=".0%", rangemode="tozero", nticks=4, tickangle=0)
    if column["ordered"]:
        starts = [plain(label.partition(" – ")[0], 14) for label in labels]
        step = max(1, -(-len(labels) * (max(map(len, starts)) + 2) // 32))  # as many as fit beside each other
        values = axis(None, tickvals=places[::step], ticktext=starts[::step], tickangle=0, showgrid=False)
        layout = {"xaxis": values, "yaxis": shares, "bargap": 0.08}
        height = 230
    else:
        values = axis(
            None, tickvals=places, ticktext=[plain(label, 20) for label in labels], autorange="reversed", showgrid=False
        )
        layout = {"xaxis": shares, "yaxis": values, "bargap": 0.3}
        height = max(180, 70 + 21 * len(labels))
    if quasi:
        caption = f"Before (bars) and as a reader of the release expects it (diamonds). {percent(column['misplaced'])} of the rows seem to be elsewhere."
        head: tuple[str, ...] = ("value", "before", "after")
        rows = [(label, percent(b), percent(a)) for label, b, a in zip(labels, column["before"], after, strict=True)]
    else:
        caption = f"Published as it is; {column['distinct']:,} distinct values."
        head, rows = ("value", "published"), [(label, percent(a)) for label, a in zip(labels, after, strict=True)]
    return Figure(
        key=f"column-{number}",
        title=str(column["name"]),
        caption=caption,
        alt=f"The distribution of {column['name']} over {len(labels)} values or ranges"
        + (", before and after." if quasi else "."),
        data=traces,
        layout={**layout, "margin": {"l": 44, "r": 10, "t": 8, "b": 36}},
        head=head,
        rows=rows,
        height=height,
        narrow=True,
    )


def _bars(column: Table, key: str, name: str, colour: str) -> dict[str, Any]:
    places, shares = list(range(len(column["labels"]))), column[key]
    ordered = column["ordered"]
    return {
        "type": "bar",
        "name": name,
        "orientation": "v" if ordered else "h",
        "x": places if ordered else shares,
        "y": shares if ordered else places,
        "marker": {"color": colour},
        "customdata": [plain(label) for label in column["labels"]],
        "hovertemplate": "%{customdata}: " + ("%{y:.1%}" if ordered else "%{x:.1%}") + f"<extra>{name}</extra>",
    }


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
        f"For each number of quasi-identifiers, {expected['asked']} counts over stretches of as many columns{also}, asked of "
        f"{expected['drawn']} originals drawn at random from all that look like this release: each row's quasi-identifiers "
        "evenly from its cells, the secrets of a group dealt at random. Points are medians of the relative error, bars the "
        "middle half."
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
