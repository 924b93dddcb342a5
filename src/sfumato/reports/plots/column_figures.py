"""The figures about columns: information loss, distributions before and after, and errors of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.plurals import count_of
from sfumato.reports.plots.axes import Axis, fitting_step, name_axis, number_axis
from sfumato.reports.plots.chart import Chart
from sfumato.reports.plots.figure import Figure, chart_figure, percent
from sfumato.reports.plots.svg import AFTER, BEFORE, SAND, shortened

Table = Mapping[str, Any]


def loss_figure(columns: Sequence[Table], mean: float) -> Figure | None:
    """Draw the information loss of each quasi-identifier; None if there is none."""
    quasi = [column for column in columns if "loss" in column]
    if not quasi:
        return None
    losses = [column["loss"] for column in quasi]
    worst = max(quasi, key=lambda column: column["loss"])
    chart = Chart(
        number_axis(0, max(0.01, worst["loss"]), percent=True, count=4),
        name_axis([shortened(column["name"], 24) for column in quasi], backwards=True),
        30 * len(quasi),
    )
    chart.bars(
        range(len(quasi)), losses, AFTER, [f"{c['name']}: {percent(c['loss'])}" for c in quasi], width=0.62, lying=True
    )
    for place, loss in enumerate(losses):
        chart.note(percent(loss), loss, place, dx=6)
    return chart_figure(
        chart,
        right=48,
        key="loss",
        title="Information loss by column",
        caption="How much of the column's domain a published cell leaves open, on average over the rows: "
        f"{percent(0)} is the exact value, {percent(1)} says nothing about it. The mean over all quasi-identifiers is "
        f"{percent(mean)}. Suppressed rows count as {percent(1)}.",
        alt=f"Bars: the loss of {len(quasi)} columns; the largest is {worst['name']} with {percent(worst['loss'])}.",
        head=("column", "loss"),
        rows=[(column["name"], percent(column["loss"])) for column in quasi],
    )


def column_figure(column: Table, number: int) -> Figure:
    """Draw one column's distribution: before and after, or as it is published."""
    quasi, labels, after = "before" in column, column["labels"], column["after"]
    if quasi:
        caption = (
            "Bars: the original. Diamonds: the estimate of a reader of the release, who spreads the rows of a cell evenly "
            "over the values or numbers that the cell leaves open, and the rows of * over all bars. Value by value, "
            f"{percent(column['misplaced'])} of the rows seem to be elsewhere."
        )
        head: tuple[str, ...] = ("value", "before", "after")
        rows = [(label, *map(percent, both)) for label, *both in zip(labels, column["before"], after, strict=True)]
    else:
        caption = f"Published unchanged; {column['distinct']:,} distinct values."
        head, rows = ("value", "published"), [(label, percent(share)) for label, share in zip(labels, after, strict=True)]
    return chart_figure(
        _distribution(column, quasi),
        key=f"column-{number}",
        title=str(column["name"]),
        caption=caption,
        alt=f"The distribution of {column['name']} over {len(labels)} values or ranges, "
        f"{'before and after' if quasi else 'as published'}.",
        head=head,
        rows=rows,
        narrow=True,
    )


def _distribution(column: Table, quasi: bool) -> Chart:
    """Bars are upright where the values have an order, and lie where they have names."""
    labels, after, ordered = column["labels"], column["after"], column["ordered"]
    bars, name = (column["before"], "before") if quasi else (after, "published")
    places = list(range(len(labels)))
    shares = number_axis(0, 1.06 * max([*bars, *after, 0.01]), percent=True, count=4)
    if ordered:
        starts = [shortened(label.partition(" – ")[0], 14) for label in labels]
        chart = Chart(name_axis(starts, every=fitting_step(starts)), shares, 170)
    else:
        names = name_axis([shortened(label, 20) for label in labels], backwards=True)
        chart = Chart(shares, names, max(100, 21 * len(labels)))
    titles = [f"{shortened(label)}: {percent(share)}, {name}" for label, share in zip(labels, bars, strict=True)]
    chart.bars(places, bars, SAND if quasi else AFTER, titles, width=0.92 if ordered else 0.7, lying=not ordered)
    if quasi:
        titles = [f"{shortened(label)}: {percent(share)}, after" for label, share in zip(labels, after, strict=True)]
        if ordered:
            chart.line(places, after, AFTER)
        xs, ys = (places, after) if ordered else (after, places)
        chart.points(xs, ys, AFTER, titles, shape="diamond", size=7 if ordered else 10)
        chart.name("before", SAND)
        chart.name("after", AFTER, "diamond")
    return chart


def error_figure(expected: Table, true: Table | None) -> Figure:
    """Draw the relative errors of counts by the number of quasi-identifiers in the question."""
    series = [("expected from the release alone", expected, AFTER, "diamond")]
    if true is not None:
        series.append(("true, against the original", true, BEFORE, "circle"))
    most = expected["by"][-1]["columns"]
    tops = [entry["upper"] for _, table, _, _ in series for entry in table["by"] if entry["upper"] is not None]
    chart = Chart(
        Axis(0.5, most + 0.5, [(n, str(n)) for n in range(1, most + 1)], "quasi-identifiers in the question", grid=False),
        number_axis(0, 1.08 * max([*tops, 0.001]), "relative error", percent=True),
        210,
    )
    rows: list[tuple[Any, ...]] = []
    for number, (name, table, colour, shape) in enumerate(series):
        drawn = [entry for entry in table["by"] if entry["median"] is not None]
        for entry in drawn:
            chart.spread(entry["columns"] + 0.12 * number, entry["lower"], entry["upper"], colour)
        chart.points(
            [entry["columns"] + 0.12 * number for entry in drawn],
            [entry["median"] for entry in drawn],
            colour,
            [f"{entry['columns']} quasi-identifiers: median {percent(entry['median'])}, {name}" for entry in drawn],
            shape=shape,
            size=11,
        )
        chart.name(name, colour, shape)
        rows += [
            (name, entry["columns"], percent(entry["lower"]), percent(entry["median"]), percent(entry["upper"]))
            for entry in table["by"]
        ]
    return chart_figure(
        chart,
        key="errors",
        title="Errors of counts",
        caption=_error_caption(expected, true is not None),
        alt=f"Points with bars: the median relative error of counts over 1 to {most} quasi-identifiers.",
        head=("", "quasi-identifiers", "lower quartile", "median", "upper quartile"),
        rows=rows,
        internal=true is not None,
    )


def _error_caption(expected: Table, with_true_errors: bool) -> str:
    sensitive = f" and {count_of(expected['sensitive'], 'sensitive column')}" if expected["sensitive"] else ""
    return (
        f"For each number of quasi-identifiers, {expected['asked']} counts over ranges of as many columns{sensitive}, asked "
        f"of {count_of(expected['drawn'], 'original')} drawn at random from all that look like this release: the "
        "quasi-identifiers of each row evenly from its cells, the sensitive values of a group assigned at random. Points "
        "are medians of the relative error, bars the middle half."
        + (" Beside them, the true errors against the original." if with_true_errors else "")
    )
