"""Re-identification risk and class sizes: rows with equal quasi-identifiers before, with equal cells after."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.figures.rounding_steps import EXACT, in_steps
from sfumato.exact.bins import size_bin_start, size_bins

THRESHOLDS = ("0.2", "0.1", "0.05")
"""Common limits of the risk of one row: classes of fewer than 5, 10 and 20 rows exceed them."""


def risk(sizes: NDArray[np.int64], step: Fraction = EXACT) -> dict[str, Any]:
    """Return the risk that a row in classes of these sizes is linked to the right person.

    `highest`: one divided by the smallest class size, the highest risk of a row, for an attacker who knows that the person
    is in the table (prosecutor), or does not know it and has no larger register (journalist). `mean`: classes divided by
    rows, the expected share of correct links if every row is linked to a person (marketer). `unique`: the share of rows
    that are alone in their class. `above`: for each threshold the share of rows whose risk is above it. Source:
    *Dankar & El Emam (2010)*.

    With a step, which is for the original, `highest` is the upper bound that follows from the bin of the smallest class.

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
    """Return the share of rows in classes of each size, before and after, in bins of growing width.

    >>> histogram(np.array([1, 1, 3]), np.array([5]), Fraction(1, 100))
    {'bins': ['1', '2', '3–4', '5–9'], 'before': [0.4, 0.0, 0.6, 0.0], 'after': [0.0, 0.0, 0.0, 1.0]}
    """
    starts, bins = size_bins(max(int(before.max()), int(after.max())))
    return {"bins": bins, "before": _shares(before, starts, step), "after": _shares(after, starts, EXACT)}


def _shares(sizes: NDArray[np.int64], starts: list[int], step: Fraction) -> list[float]:
    rows = int(sizes.sum())
    counts = np.bincount(np.searchsorted(starts, sizes, side="right") - 1, weights=sizes, minlength=len(starts))
    return [in_steps(Fraction(int(count), rows), step) for count in counts]
