"""The plots of columns: what each lost, and how its values are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.reports.plots.figure import AFTER, Figure, Table, axis, percent, plain

_SAND = "#dcb877"
"""Ochre, lighter: what stands before it must be seen."""


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
        caption="How much of its domain a published cell leaves open, on average over the rows: "
        f"{percent(0)} is the value itself, {percent(1)} tells nothing. Over all quasi-identifiers the mean is "
        f"{percent(mean)}. Suppressed rows count as {percent(1)}.",
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
    quasi, labels, after = "before" in column, column["labels"], column["after"]
    if quasi:
        traces = [_bars(column, "before", "before", _SAND), _points(column)]
        caption = "Before (bars) and as a reader of the release expects it (diamonds), who spreads the rows of a cell "
        caption += "evenly over the values or numbers that it leaves open, and those of * over all bars. "
        caption += f"Value by value, {percent(column['misplaced'])} of the rows seem to be elsewhere."
        head: tuple[str, ...] = ("value", "before", "after")
        rows = [(label, *map(percent, both)) for label, *both in zip(labels, column["before"], after, strict=True)]
    else:
        traces = [_bars(column, "after", "published", AFTER)]
        caption = f"Published as it is; {column['distinct']:,} distinct values."
        head, rows = ("value", "published"), [(label, percent(share)) for label, share in zip(labels, after, strict=True)]
    what = "before and after" if quasi else "as it is published"
    return Figure(
        key=f"column-{number}",
        title=str(column["name"]),
        caption=caption,
        alt=f"The distribution of {column['name']} over {len(labels)} values or ranges, {what}.",
        data=traces,
        layout={**_axes(column), "margin": {"l": 44, "r": 10, "t": 8, "b": 36}},
        head=head,
        rows=rows,
        height=230 if column["ordered"] else max(180, 70 + 21 * len(labels)),
        narrow=True,
    )


def _axes(column: Table) -> dict[str, Any]:
    """Bars that stand where the values have an order, and lie where they have names."""
    labels = column["labels"]
    places = list(range(len(labels)))
    shares = axis(None, tickformat=".0%", rangemode="tozero", nticks=4, tickangle=0)
    if column["ordered"]:
        starts = [plain(label.partition(" – ")[0], 14) for label in labels]
        step = max(1, -(-len(labels) * (max(map(len, starts)) + 2) // 32))  # as many as fit beside each other
        values = axis(None, tickvals=places[::step], ticktext=starts[::step], tickangle=0, showgrid=False)
        return {"xaxis": values, "yaxis": shares, "bargap": 0.08}
    names = [plain(label, 20) for label in labels]
    values = axis(None, tickvals=places, ticktext=names, autorange="reversed", showgrid=False)
    return {"xaxis": shares, "yaxis": values, "bargap": 0.3}


def _points(column: Table) -> dict[str, Any]:
    places, shares, ordered = list(range(len(column["labels"]))), column["after"], column["ordered"]
    return {
        "type": "scatter",
        "mode": "lines+markers" if ordered else "markers",
        "name": "after",
        "x": places if ordered else shares,
        "y": shares if ordered else places,
        "marker": {"color": AFTER, "size": 5 if ordered else 8, "symbol": "diamond"},
        "line": {"color": AFTER, "width": 1.5},
        "customdata": [plain(label) for label in column["labels"]],
        "hovertemplate": _hover(column, "after"),
    }


def _bars(column: Table, key: str, name: str, colour: str) -> dict[str, Any]:
    places, shares, ordered = list(range(len(column["labels"]))), column[key], column["ordered"]
    return {
        "type": "bar",
        "name": name,
        "orientation": "v" if ordered else "h",
        "x": places if ordered else shares,
        "y": shares if ordered else places,
        "marker": {"color": colour},
        "customdata": [plain(label) for label in column["labels"]],
        "hovertemplate": _hover(column, name),
    }


def _hover(column: Table, name: str) -> str:
    return "%{customdata}: " + ("%{y:.1%}" if column["ordered"] else "%{x:.1%}") + f"<extra>{name}</extra>"
