"""Utility figures that depend on the sizes of the groups only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.data.groups import Groups
from sfumato.errors import ParameterError


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """The sizes of the groups.

    >>> sizes = ClassSizes.of(Groups(np.array([0, 0, 1, 1, 1]), 2, 5), k=2)
    >>> sizes.discernibility, sizes.mean, sizes.average, sizes.histogram
    (13, 2.5, 1.25, {2: 1, 3: 1})
    """

    discernibility: int
    """See `discernibility`."""
    mean: float
    """The mean number of rows per group."""
    average: float | None
    """See `average_class_size`; None if no k is given."""
    histogram: dict[int, int]
    """See `class_sizes`."""

    @classmethod
    def of(cls, groups: Groups, k: int | None = None, suppressed: int = 0) -> ClassSizes:
        """Return every figure of the group sizes."""
        return cls(
            discernibility(groups, suppressed),
            len(groups.of_row) / groups.count,
            None if k is None else average_class_size(groups, k),
            class_sizes(groups),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON; the histogram as pairs of a size and a number of groups."""
        return {
            "discernibility": self.discernibility,
            "mean": self.mean,
            "average": self.average,
            "histogram": [[size, count] for size, count in self.histogram.items()],
        }


def discernibility(groups: Groups, suppressed: int = 0) -> int:
    """Return the sum over groups of |G|², plus the number of all rows (suppressed ones included) for each suppressed row.

    Each row costs the number of rows that it cannot be distinguished from. Source: Bayardo & Agrawal (2005).

    >>> discernibility(Groups(np.array([0, 0, 1]), 2, 3)), discernibility(Groups(np.array([0, 0, 1]), 2, 3), suppressed=2)
    (5, 15)
    """
    if suppressed < 0:
        raise ParameterError(
            f"invalid number of suppressed rows: {suppressed}", remedy="Write 0 or more.", key="suppressed", value=suppressed
        )
    return sum(size * size * count for size, count in class_sizes(groups).items()) + suppressed * (
        len(groups.of_row) + suppressed
    )


def average_class_size(groups: Groups, k: int) -> float:
    """Return rows / (groups × k): how many times larger than necessary the groups are on average; 1 is best.

    Suppressed rows are in no group and do not count. Source: LeFevre, DeWitt & Ramakrishnan (2006a).

    >>> average_class_size(Groups(np.array([0, 0, 0, 1, 1, 1]), 2, 6), k=2)
    1.5
    """
    if k < 1:
        raise ParameterError(f"k = {k} is below 1", remedy="Write 1 or more.", key="k", value=k)
    return float(Fraction(len(groups.of_row), groups.count * k))


def class_sizes(groups: Groups) -> dict[int, int]:
    """Return the number of groups of each size that occurs, by ascending size.

    >>> class_sizes(Groups(np.array([0, 1, 1, 2, 2]), 3, 5))
    {1: 1, 2: 2}
    """
    sizes, counts = np.unique(groups.sizes, return_counts=True)
    return dict(zip(sizes.tolist(), counts.tolist(), strict=True))
