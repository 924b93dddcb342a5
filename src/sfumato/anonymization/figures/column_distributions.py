"""Each column's distribution before and after, and what its recoding cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.figures.distribution_bars import BINS, OTHERS, Even, lined, listed
from sfumato.anonymization.figures.reader_view import AttackerView
from sfumato.anonymization.figures.rounding_steps import EXACT, in_steps
from sfumato.anonymization.recoding import RecodingKind
from sfumato.anonymization.recoding.domain import domain_of
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.anonymization.utility.marginals import marginal_of
from sfumato.data.column import MISSING
from sfumato.data.schema import Role
from sfumato.data.table import Table

_COARSEST = Fraction(1, 10)
"""Shares in larger steps tell nothing of a distribution: quasi-identifiers of so few rows have none."""
Shares = NDArray[np.float64]


def columns(
    original: Table,
    published: Table,
    covers: Sequence[Cover],
    sizes: NDArray[np.int64],
    loss: Mapping[str, float],
    step: Fraction,
) -> list[dict[str, Any]]:
    """The distribution of each quasi-identifier and sensitive column, in at most 40 bins.

    Quasi-identifiers: `before`, the share of the original's rows; `after`, what a reader expects; both in steps;
    `misplaced`, half the sum of the differences over the original's values. None are told of fewer than 50 rows. Which
    values occur in the original is not told: a value is named only if it stands in a published cell, in an order or in a
    hierarchy that the schema lists; numbers stand in even bins between published ones; all else is pooled. `after` follows
    from the published cells and the bars alone: a cell's rows are spread evenly over the values that may be named, or over
    the numbers from its one end to its other; those of `*` over all bars.

    Sensitive columns are published as they are, so there is one distribution, that of the published rows.
    """
    found = []
    for cover in covers:
        marginal = marginal_of(cover, sizes)
        seen = AttackerView(cover, sizes, original.schema.hierarchies.get(cover.domain.name))
        labels, before, after = _compared(seen, marginal.true, step)
        pooled = len(labels) - 2 if _ordered(seen) else 0  # an order is shown with its gaps
        shown = [i for i in range(len(labels)) if (before[i] or after[i] or i < pooled) and step <= _COARSEST]
        found.append(
            {
                "name": cover.domain.name,
                "role": str(Role.QUASI_IDENTIFIER),
                "loss": loss[cover.domain.name],
                "misplaced": in_steps(marginal.distance, max(step, Fraction(1, 100))),
                "ordered": _ordered(seen),
                "labels": [labels[i] for i in shown],
                "before": [before[i] for i in shown],
                "after": [after[i] for i in shown],
            }
        )
    return [*found, *(_secret(published, name) for name in dict.fromkeys(published.schema.sensitive_columns()))]


def _compared(seen: AttackerView, true: Shares, step: Fraction) -> tuple[list[str], list[float], list[float]]:
    """The bars, behind them one for others and one for missing values; and the shares before and after."""
    domain = seen.cover.domain
    numbers = seen.numbers
    if numbers and seen.is_numeric and not (seen.only_single and len(seen.named) <= BINS):
        spans, weights = seen.spans()
        ends = [span.last - (span.half_open and span.last.denominator == 1) for span in spans]
        even = Even.over([*(span.low for span in spans), *ends], np.tile(weights, 2), gaps=True)
        bars, labels, told = even.places(numbers), even.labels(), even.spread(spans, weights)
        parts = np.ones(len(labels))
    else:
        if numbers and len(seen.named) > BINS:  # the leaves of a hierarchy that was declared
            even = Even.over(numbers, np.ones(len(numbers)), gaps=False)
            bars, labels = even.places(numbers), even.labels()
        elif _ordered(seen):
            bars, labels = lined(domain, seen.named)
        else:
            bars, labels = listed(domain, seen.named, true, step)
        parts = np.bincount(bars[seen.named], minlength=len(labels) + 1).astype(np.float64)
        telling = np.where((seen.withheld | seen.absent)[seen.cover.cell], 0, seen.sizes)
        rows = int(telling.sum())
        spread = marginal_of(seen.cover, telling).estimated[:-1] * rows if rows else np.zeros(domain.size)
        told = np.asarray(np.bincount(bars, spread, len(labels) + 1), np.float64)
    after = np.zeros(len(labels) + 2)
    after[: len(told)] = told
    after[-1] = seen.lacking
    # what is withheld may be any bar, and missing too where `*` says so; a reader of nothing but `*` knows none
    for hidden, missing in zip(seen.hidden, (1, 0), strict=True):
        shares = np.zeros(len(after))
        shares[: len(parts)] = parts
        shares[-1] = missing
        shares[-2] += not shares[:-1].any()
        after += hidden * shares / shares.sum()
    missing_at = len(labels) + 1 if seen.misses else len(labels)  # that values are missing must be told by a cell too
    before = np.bincount([*bars.tolist(), missing_at], true, len(labels) + 2)
    return (
        [*labels, OTHERS, MISSING],
        [in_steps(share, step) for share in before.tolist()],
        [in_steps(share, step) for share in (after / seen.sizes.sum()).tolist()],
    )


def _secret(published: Table, name: str) -> dict[str, Any]:
    """A sensitive column as it is published."""
    domain = domain_of(published.column(name))
    counts = np.bincount(domain.place[domain.column.codes], minlength=domain.size + 1)
    ordered, numbers = domain.recoding is RecodingKind.INTERVAL or domain.column.numbers is not None, domain.column.numbers
    if domain.size > BINS and numbers is not None and domain.recoding is not RecodingKind.ANCESTOR:
        values = [numbers[place] for place in range(domain.size)]
        even = Even.over(values, counts[: domain.size].astype(np.float64), gaps=False)
        bars, labels = even.places(values), even.labels()
    elif ordered:
        bars, labels = lined(domain, np.arange(domain.size))
    else:
        bars, labels = listed(domain, np.arange(domain.size), counts / counts.sum(), EXACT)
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


def _ordered(seen: AttackerView) -> bool:
    """Whether the values stand in an order that means something."""
    domain = seen.cover.domain
    return seen.is_numeric or domain.recoding is RecodingKind.INTERVAL or domain.column.numbers is not None
