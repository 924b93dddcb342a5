"""The distribution of each column before and after, and the information loss of its recoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.figures.distribution_bars import BINS, OTHERS, EvenBins, named_bars, order_bars
from sfumato.anonymization.figures.reader_view import ReaderView
from sfumato.anonymization.figures.rounding_steps import EXACT, in_steps
from sfumato.anonymization.recoding import RecodingKind
from sfumato.anonymization.recoding.domain import domain_of
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.anonymization.utility.marginals import marginal_of
from sfumato.data.column import MISSING
from sfumato.data.schema import Role
from sfumato.data.table import Table

_COARSEST = Fraction(1, 10)
"""Shares in larger steps say nothing about a distribution: quasi-identifiers of tables this small have none."""
Shares = NDArray[np.float64]


def columns(
    original: Table,
    published: Table,
    covers: Sequence[Cover],
    sizes: NDArray[np.int64],
    loss: Mapping[str, float],
    step: Fraction,
) -> list[dict[str, Any]]:
    """Return the distribution of each quasi-identifier and sensitive column, in at most 40 bins.

    Quasi-identifiers: `before`, the share of the original's rows; `after`, the estimate of a reader; both in steps;
    `misplaced`, half the sum of the differences over the original's values. Tables of fewer than 50 rows have no
    distributions. The figures do not reveal which values occur in the original: a value is named only if it appears in a
    published cell, or in an order or a hierarchy that the schema lists; numbers are in bins of equal width between
    published ones; all other values are pooled. `after` follows from the published cells and the bars alone: the rows of a
    cell are spread evenly over the values that may be named, or over the numbers from one end to the other; those of `*`
    over all bars.

    Sensitive columns are published unchanged, so there is one distribution, that of the published rows.
    """
    distributions = []
    for cover in covers:
        marginal = marginal_of(cover, sizes)
        view = ReaderView(cover, sizes, original.schema.hierarchies.get(cover.domain.name))
        labels, before, after = _compare(view, marginal.true, step)
        pooled = len(labels) - 2 if _ordered(view) else 0  # an order is shown with its gaps
        shown = [i for i in range(len(labels)) if (before[i] or after[i] or i < pooled) and step <= _COARSEST]
        distributions.append(
            {
                "name": cover.domain.name,
                "role": str(Role.QUASI_IDENTIFIER),
                "loss": loss[cover.domain.name],
                "misplaced": in_steps(marginal.distance, max(step, Fraction(1, 100))),
                "ordered": _ordered(view),
                "labels": [labels[i] for i in shown],
                "before": [before[i] for i in shown],
                "after": [after[i] for i in shown],
            }
        )
    return [*distributions, *(_sensitive(published, name) for name in dict.fromkeys(published.schema.sensitive_columns()))]


def _compare(view: ReaderView, true: Shares, step: Fraction) -> tuple[list[str], list[float], list[float]]:
    """Return the bars, then one for other and one for missing values, and the shares before and after."""
    domain = view.cover.domain
    numbers = view.numbers
    if numbers and view.is_numeric and not (view.only_single_values and len(view.nameable) <= BINS):
        spans, weights = view.spans()
        ends = [span.last - (span.half_open and span.last.denominator == 1) for span in spans]
        even = EvenBins.over(
            [*(span.low for span in spans), *ends], np.tile(weights, 2), gaps=True, like=domain.column.numbers
        )
        bars, labels, estimated = even.places(numbers), even.labels(), even.spread(spans, weights)
        parts = np.ones(len(labels))
    else:
        if numbers and view.is_declared and len(view.nameable) > BINS:  # the leaves of a declared hierarchy
            even = EvenBins.over(numbers, np.ones(len(numbers)), gaps=False, like=domain.column.numbers)
            bars, labels = even.places(numbers), even.labels()
        elif _ordered(view):
            bars, labels = order_bars(domain, view.nameable)
        else:
            bars, labels = named_bars(domain, view.nameable, true, step)
        parts = np.bincount(bars[view.nameable], minlength=len(labels) + 1).astype(np.float64)
        informative = np.where((view.withheld | view.absent)[view.cover.cell], 0, view.sizes)
        rows = int(informative.sum())
        spread = marginal_of(view.cover, informative).estimated[:-1] * rows if rows else np.zeros(domain.size)
        estimated = np.asarray(np.bincount(bars, spread, len(labels) + 1), np.float64)
    after = np.zeros(len(labels) + 2)
    after[: len(estimated)] = estimated
    after[-1] = view.missing_rows
    # A withheld row may be in any bar, and missing too where `*` can mean that. If all cells are `*`, no bar has a name.
    for hidden, missing in zip(view.withheld_rows, (1, 0), strict=True):
        shares = np.zeros(len(after))
        shares[: len(parts)] = parts
        shares[-1] = missing
        shares[-2] += not shares[:-1].any()
        after += hidden * shares / shares.sum()
    missing_at = len(labels) + 1 if view.reveals_missing else len(labels)  # only if a cell reveals that values are missing
    before = np.bincount([*bars.tolist(), missing_at], true, len(labels) + 2)
    return (
        [*labels, OTHERS, MISSING],
        [in_steps(share, step) for share in before.tolist()],
        [in_steps(share, step) for share in (after / view.sizes.sum()).tolist()],
    )


def _sensitive(published: Table, name: str) -> dict[str, Any]:
    """Return the distribution of a sensitive column as it is published."""
    domain = domain_of(published.column(name))
    counts = np.bincount(domain.place[domain.column.codes], minlength=domain.size + 1)
    ordered, numbers = domain.recoding is RecodingKind.INTERVAL or domain.column.numbers is not None, domain.column.numbers
    if domain.size > BINS and numbers is not None and domain.recoding is not RecodingKind.ANCESTOR:
        values = [numbers[place] for place in range(domain.size)]
        even = EvenBins.over(values, counts[: domain.size].astype(np.float64), gaps=False, like=numbers)
        bars, labels = even.places(values), even.labels()
    elif ordered:
        bars, labels = order_bars(domain, np.arange(domain.size))
    else:
        bars, labels = named_bars(domain, np.arange(domain.size), counts / counts.sum(), EXACT)
    labels = [*labels, OTHERS, MISSING]
    shares = np.bincount([*bars.tolist(), len(labels) - 1], counts, len(labels)) / counts.sum()
    shown = [i for i in range(len(labels)) if shares[i]]
    return {
        "name": name,
        "role": str(Role.SENSITIVE),
        "distinct": domain.column.size,
        "ordered": ordered,
        "labels": [labels[i] for i in shown],
        "after": [in_steps(shares[i], EXACT) for i in shown],
    }


def _ordered(view: ReaderView) -> bool:
    """Whether the values have a meaningful order."""
    domain = view.cover.domain
    return view.is_numeric or domain.recoding is RecodingKind.INTERVAL or domain.column.numbers is not None
