"""What groups cost: the loss of their cells, and that of groups that might be merged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.search_space import SearchSpace
from sfumato.anonymization.republication.partition_checks import Partition
from sfumato.kernels.cell_shares import shares_of
from sfumato.kernels.mondrian_cuts import covers

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Extents:
    """For each group the lowest and highest place of each attribute, its distinct values, and the cost per row."""

    size: Integers
    low: Integers
    high: Integers
    distinct: Integers
    columns: Floats
    """For each group and attribute the share of its cell."""

    @property
    def cost(self) -> Floats:
        """The cost of a row of each group."""
        return np.asarray(self.columns.sum(axis=1))


class GroupCosts:
    """The costs of groups of the rows of a search space."""

    def __init__(self, space: SearchSpace, rows: Integers) -> None:
        self.places = np.ascontiguousarray(space.places[rows])
        self.shares = space.shares
        size = np.maximum(1, np.asarray(space.shares.size, float))
        # points for the search of near rows and groups: each attribute has the length of its weight
        self.points = self.places / size * np.asarray(space.shares.weight, float)

    def extents(self, partition: Partition) -> Extents:
        """Return the extents of all groups up to the last; those of a group without rows are not defined."""
        label, end = partition.label, partition.end
        rows = np.flatnonzero(label >= 0)
        order = rows[np.argsort(label[rows], kind="stable")]
        sizes = np.bincount(label[rows], minlength=end)
        present = np.flatnonzero(sizes)
        offsets = np.concatenate([[0], np.cumsum(sizes[present])])
        width = self.places.shape[1]
        low, high, distinct = (np.zeros((len(present), width), np.int64) for _ in range(3))
        covers(order, offsets, self.places, self.shares.kind, self.shares.size, low, high, distinct)
        cost = np.empty((len(present), width))
        shares_of(self.shares, low, high, distinct, cost)
        position = np.zeros(end, np.int64)
        position[present] = np.arange(len(present))
        return Extents(sizes, low[position], high[position], distinct[position], cost[position])

    def of_rows(self, rows: Integers) -> Extents:
        """Return the extents of rows, each a group by itself."""
        places = self.places[rows].astype(np.int64)
        return Extents(np.ones(len(rows), np.int64), places, places, np.ones_like(places), np.zeros(places.shape))

    def centres(self, partition: Partition) -> Floats:
        """Return the mean point of each group."""
        label = partition.label
        rows = np.flatnonzero(label >= 0)
        sizes = np.maximum(1, np.bincount(label[rows], minlength=partition.end))
        sums = [np.bincount(label[rows], column, partition.end) for column in self.points[rows].T]
        return np.column_stack(sums) / sizes[:, None]

    def merged(self, one: Extents, ones: Integers, other: Extents, others: Integers) -> Floats:
        """Return for each pair of a group of one kind and of another by how much merging them raises the total cost."""
        low = np.minimum(one.low[ones], other.low[others])
        high = np.maximum(one.high[ones], other.high[others])
        distinct = one.distinct[ones] + other.distinct[others]  # at most; only sets use it
        cost = np.empty(low.shape)
        shares_of(self.shares, low, high, distinct, cost)
        sizes = one.size[ones] + other.size[others]
        before = one.cost[ones] * one.size[ones] + other.cost[others] * other.size[others]
        return np.asarray(cost.sum(axis=1) * sizes - before)
