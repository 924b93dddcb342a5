"""Re-identification risk and class sizes: how many rows look alike, by quasi-identifiers before, by cells after."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.figures.rounding_steps import EXACT, in_steps
from sfumato.exact.bins import size_bin_start, size_bins

THRESHOLDS = ("0.2", "0.1", "0.05")
"""The usual limits of the risk of one row: classes of fewer than 5, 10 and 20 rows are above them."""


def risk(sizes: NDArray[np.int64], step: Fraction = EXACT) -> dict[str, Any]:
    """The risk that a row is pinned to a person by what classes of these sizes tell.

    `highest`: one over the smallest class, the risk of the row worst off, to an attacker who knows that the person is in
    the table (prosecutor), or does not and has no larger register to look in (journalist). `mean`: classes over rows, the
    share of rows that an attacker gets right who pins a person to every row (marketer). `unique`: the share of rows that
    are alone in their class. `above`: for each threshold the share of rows whose risk is above it. Source: F. Dankar and
    K. El Emam, *A method for evaluating marketer re-identification risk*, EDBT/ICDT Workshops 2010.

    In steps, that is for the original, the smallest class is told as the bin of `histogram` that it is in, and `highest` is
    the most that it can be.

    >>> risk(np.array([1, 4, 5]))["mean"], risk(np.array([1, 4, 5]))["above"]
    (0.3, {'0.2': 0.5, '0.1': 1.0, '0.05': 1.0})
    >>> risk(np.array([4, 5]))["highest"], risk(np.array([4, 5]), Fraction(1, 1000))["highest"]
    (0.25, 0.333)
    """
    rows, smallest = int(sizes.sum()), int(sizes.min())

    def share(chosen: NDArray[np.bool_]) -> float:
        return in_steps(Fraction(int(sizes[chosen].sum()), rows), step)

    return {
        "highest": in_steps(
            Fraction(1, smallest if step == EXACT else size_bin_start(smallest)), min(step, Fraction(1, 1000))
        ),
        "mean": in_steps(Fraction(len(sizes), rows), step),
        "unique": share(sizes == 1),
        "above": {text: share(sizes * Fraction(text).numerator < Fraction(text).denominator) for text in THRESHOLDS},
    }


def histogram(before: NDArray[np.int64], after: NDArray[np.int64], step: Fraction) -> dict[str, Any]:
    """The share of rows in classes of each size, before and after, in bins that widen.

    >>> histogram(np.array([1, 1, 3]), np.array([5]), Fraction(1, 100))
    {'bins': ['1', '2', '3–4', '5–9'], 'before': [0.4, 0.0, 0.6, 0.0], 'after': [0.0, 0.0, 0.0, 1.0]}
    """
    starts, bins = size_bins(max(int(before.max()), int(after.max())))
    return {"bins": bins, "before": _shares(before, starts, step), "after": _shares(after, starts, EXACT)}


def _shares(sizes: NDArray[np.int64], starts: list[int], step: Fraction) -> list[float]:
    rows = int(sizes.sum())
    counts = np.bincount(np.searchsorted(starts, sizes, side="right") - 1, weights=sizes, minlength=len(starts))
    return [in_steps(Fraction(int(count), rows), step) for count in counts]
