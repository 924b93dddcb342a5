"""The figures about columns: information loss, distributions before and after, and errors of counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.plurals import count_of
from sfumato.releases.figure_models import ColumnFigures, CountErrors, ExpectedErrors
from sfumato.reports.plots.axes import Axis, fitting_step, name_axis, number_axis
from sfumato.reports.plots.chart import Chart
from sfumato.reports.plots.figure import Figure, chart_figure, percent
from sfumato.reports.plots.svg import AFTER, BEFORE, SAND, shortened


def loss_figure(columns: Sequence[ColumnFigures], mean: float) -> Figure | None:
    """Draw the information loss of each quasi-identifier; None if there is none."""
    losses = {column.name: column.loss for column in columns if column.loss is not None}
    if not losses:
        return None
    worst = max(losses, key=lambda name: losses[name])
    chart = Chart(
        number_axis(0, max(0.01, losses[worst]), percent=True, count=4),
        name_axis([shortened(name, 24) for name in losses], backwards=True),
        30 * len(losses),
    )
    titles = [f"{name}: {percent(loss)}" for name, loss in losses.items()]
    chart.bars(range(len(losses)), list(losses.values()), AFTER, titles, width=0.62, lying=True)
    for place, loss in enumerate(losses.values()):
        chart.note(percent(loss), loss, place, dx=6)
    return chart_figure(
        chart,
        right=48,
        key="loss",
        title="Information loss by column",
        caption="How much of the column's domain a published cell leaves open, on average over the rows: "
        f"{percent(0)} is the exact value, {percent(1)} says nothing about it. The mean over all quasi-identifiers is "
        f"{percent(mean)}. Suppressed rows count as {percent(1)}.",
        alt=f"Bars: the loss of {len(losses)} columns; the largest is {worst} with {percent(losses[worst])}.",
        head=("column", "loss"),
        rows=[(name, percent(loss)) for name, loss in losses.items()],
    )


def column_figure(column: ColumnFigures, number: int) -> Figure:
    """Draw one column's distribution: before and after, or as it is published."""
    labels, after = column.labels, column.after
    quasi = column.before is not None
    if column.before is not None:
        caption = (
            "Bars: the original. Diamonds: the estimate of a reader of the release, who spreads the rows of a cell evenly "
            "over the values or numbers that the cell leaves open, and the rows of * over all bars. Value by value, "
            f"{percent(column.misplaced)} of the rows would have to move to match the original."
        )
        head: tuple[str, ...] = ("value", "before", "after")
        rows = [(label, *map(percent, both)) for label, *both in zip(labels, column.before, after, strict=True)]
    else:
        caption = f"Published unchanged; {column.distinct:,} distinct values."
        head, rows = ("value", "published"), [(label, percent(share)) for label, share in zip(labels, after, strict=True)]
    return chart_figure(
        _distribution(column),
        key=f"column-{number}",
        title=column.name,
        caption=caption,
        alt=f"The distribution of {column.name} over {len(labels)} values or ranges, "
        f"{'before and after' if quasi else 'as published'}.",
        head=head,
        rows=rows,
        narrow=True,
    )


def _distribution(column: ColumnFigures) -> Chart:
    """Bars are upright where the values have an order, and lie where they have names."""
    labels, after, ordered = column.labels, column.after, column.ordered
    quasi = column.before is not None
    bars, name = (after, "published") if column.before is None else (column.before, "before")
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
        xs: Sequence[float]
        ys: Sequence[float]
        xs, ys = (places, after) if ordered else (after, places)
        chart.points(xs, ys, AFTER, titles, shape="diamond", size=7 if ordered else 10)
        chart.name("before", SAND)
        chart.name("after", AFTER, "diamond")
    return chart


def error_figure(expected: ExpectedErrors, true: CountErrors | None) -> Figure:
    """Draw the relative errors of counts by the number of quasi-identifiers in the question."""
    series: list[tuple[str, CountErrors, str, str]] = [("expected from the release alone", expected, AFTER, "diamond")]
    if true is not None:
        series.append(("true, against the original", true, BEFORE, "circle"))
    most = expected.by[-1].columns
    tops = [entry.upper for _, table, _, _ in series for entry in table.by if entry.upper is not None]
    chart = Chart(
        Axis(0.5, most + 0.5, [(n, str(n)) for n in range(1, most + 1)], "quasi-identifiers in the question", grid=False),
        number_axis(0, 1.08 * max([*tops, 0.001]), "relative error", percent=True),
        210,
    )
    rows: list[tuple[Any, ...]] = []
    for number, (name, table, colour, shape) in enumerate(series):
        drawn = [entry for entry in table.by if entry.median is not None]
        for entry in drawn:
            if entry.lower is not None and entry.upper is not None:
                chart.spread(entry.columns + 0.12 * number, entry.lower, entry.upper, colour)
        chart.points(
            [entry.columns + 0.12 * number for entry in drawn],
            [entry.median for entry in drawn],
            colour,
            [f"{count_of(entry.columns, 'quasi-identifier')}: median {percent(entry.median)}, {name}" for entry in drawn],
            shape=shape,
            size=11,
        )
        chart.name(name, colour, shape)
        rows += [
            (name, entry.columns, percent(entry.lower), percent(entry.median), percent(entry.upper)) for entry in table.by
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


def _error_caption(expected: ExpectedErrors, with_true_errors: bool) -> str:
    sensitive = f" and {count_of(expected.sensitive, 'sensitive column')}" if expected.sensitive else ""
    return (
        f"For each number of quasi-identifiers, {expected.asked} counts over ranges of as many columns{sensitive}, taken "
        f"from {count_of(expected.drawn, 'original')} drawn at random from all that match this release: the "
        "quasi-identifiers of each row evenly from its cells, the sensitive values of a group assigned at random. Points "
        "are medians of the relative error, bars the middle half."
        + (" Beside them, the true errors against the original." if with_true_errors else "")
    )
