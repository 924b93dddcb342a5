"""What requirements say about every group: how many rows it has at least, and of which rows it can only have a share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Task
from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.exact import as_fraction
from sfumato.principles import (
    AlphaKAnonymity,
    DeltaLDiversity,
    Dissimilarity,
    DistinctLDiversity,
    EntropyLDiversity,
    EpsilonMAnonymity,
    FrequencyLDiversity,
    NeighbourLimit,
    Principle,
)

_LIMITED = (Dissimilarity, AlphaKAnonymity, FrequencyLDiversity, EpsilonMAnonymity, DeltaLDiversity)
"""Principles under which no more rows of a group are pairwise near than one row and the neighbours that it may have."""

_VALUES = 6_000
"""Up to this many sensitive values without an order are divided into balls of near values."""


def least_size(principles: Sequence[Principle]) -> int:
    """Return a number of rows that every group has at least, whatever the table.

    >>> import sfumato as sf
    >>> least_size([sf.KAnonymity(3), sf.DistinctLDiversity(4)]), least_size([])
    (4, 1)
    """
    return max((_least(principle) for principle in principles), default=1)


def _least(principle: Principle) -> int:
    least = principle.implied_k or 1
    if type(principle) in (DistinctLDiversity, EntropyLDiversity, FrequencyLDiversity):
        least = max(least, math.ceil(as_fraction(principle.l, "l")))  # type: ignore[attr-defined]
    return least


def limits_neighbours(principle: Principle) -> bool:
    """Return whether no group that satisfies a principle exceeds the limit on neighbours that a search observes.

    For other shapes than the star the search observes a stricter limit than the principle.

    >>> import sfumato as sf
    >>> [limits_neighbours(each) for each in (sf.AlphaKAnonymity("0.5", 2), sf.Dissimilarity(1, 1, 2, shape="ball"))]
    [True, False]
    """
    return type(principle) in _LIMITED and getattr(principle, "shape", "star") == "star"


@dataclass(frozen=True, eq=False)
class Crowds:
    """A partition of the rows into crowds, in each of which all rows are near one another.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [1, 2, 3, 4], "pay": [10, 11, 12, 30]}), sf.Schema(["age"], ["pay"]))
    >>> crowds = Crowds.of(sf.anonymization.Task(table, (sf.Dissimilarity(epsilon=1, delta="0.5", k=2),)))
    >>> crowds.of_row.tolist(), crowds.share
    ([0, 0, 1, 2], Fraction(2, 3))
    """

    of_row: NDArray[np.int64]
    """For each row the number of its crowd."""
    share: Fraction
    """The largest share of a group's rows that may be of one crowd."""

    @classmethod
    def unlimited(cls, rows: int) -> Crowds:
        """Return one crowd of all rows, of which a group may consist."""
        return cls(np.zeros(rows, np.int64), Fraction(1))

    @classmethod
    def of(cls, task: Task) -> Crowds:
        """Return the crowds under the requirement that allows the smallest share; one crowd of all rows if none does."""
        best = cls.unlimited(task.table.rows)
        if task.table.units is not None:  # limits are on people then, not on rows
            return best
        for principle, names in task.requirements:
            if not limits_neighbours(principle):
                continue
            for limit in task.search_conditions(principle, names):
                if isinstance(limit, NeighbourLimit):
                    share = _largest_share(limit, _least(principle), task.table.rows)
                    if share < best.share:
                        best = cls(_cliques(limit)[limit.values], share)
        return best


def _largest_share(limit: NeighbourLimit, least: int, rows: int) -> Fraction:
    """Return the largest share of a group's rows, whatever its size, that can be pairwise near; 1 if no size is allowed."""
    many, of = 0, 1
    for size in range(least, rows + 1):
        most = limit.allowed(size) + 1
        if most * of > many * size:
            many, of = most, size
    return Fraction(many, of) if many else Fraction(1)


def _cliques(limit: NeighbourLimit) -> NDArray[np.int64]:
    """Return for each sensitive value the number of its crowd.

    Along an order, the values from one to its last neighbour are all near one another. Without one, under a metric, so are
    the values within half of ε of one of them. Otherwise each value is a crowd of its own.
    """
    near, windows = limit.neighbours, limit.neighbours.windows
    if windows is not None:
        crowd = np.empty(len(windows.rank), np.int64)
        by_rank = np.argsort(windows.rank)
        start, number = 0, 0
        while start < len(by_rank):
            stop = int(windows.high[start])
            crowd[by_rank[start:stop]] = number
            start, number = stop, number + 1
        return crowd
    crowd = np.arange(int(limit.values.max(initial=-1)) + 1)
    if isinstance(near, NeighbourGraph) and near.distance.is_metric and not near.bound.costly and len(crowd) <= _VALUES:
        left = crowd
        while len(left):
            ball = near.bound.near(left[:1], left, near.epsilon / 2)[0]
            ball[0] = True
            crowd[left[ball]] = left[0]
            left = left[~ball]
        crowd = np.unique(crowd, return_inverse=True)[1].reshape(-1)
    return crowd
