"""How hard it is to satisfy the principles in some of the rows, measured cheaply: it decides where a table may be cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.search_constraints import LimitArrays, SearchConstraints, scratch_counts
from sfumato.kernels import group_excess as excess
from sfumato.kernels.group_excess import histogram_excess
from sfumato.kernels.neighbour_bitset import bitset_counts
from sfumato.kernels.neighbour_lookup import WINDOWS
from sfumato.principles import HistogramCondition

Integers = NDArray[np.int64]

_CROWDED = 0.8
"""Values that are all near one another may have this share of the room that groups leave for them."""

_EASY, _LARGEST = 0.35, 2.0
"""Up to this share of the room crowding does not matter; beyond, parts are up to so many times larger."""

_LOOKED_AT = 4_000
"""The number of rows from which crowding is estimated; its cost grows with the square."""

_TIGHTER = {
    excess.ENTROPY: 1.1,
    excess.RECURSIVE: 0.8,
    excess.APART: 0.5,
    excess.ORDERED: 0.5,
    excess.VARIANCE: 1.25,
    excess.RANGE: 1.0,
    excess.GAIN: 0.5,
    excess.RATIO: 0.5,
}
"""By kind of condition the factor of its threshold: a part meets it with room to spare, because its groups deviate."""

_FEWER_GROUPS = 0.5
"""A part may have this share of the groups per row that the table can have, where values are rare."""

_SLACK = 1.05
"""A part may be this many times as hard as the table."""


class Difficulty:
    """The difficulty of sets of rows, compared with that of all rows: 0 means that no trouble is to be expected.

    A limit on neighbours is hard where values that are all near one another fill a larger share of the rows than of any
    group. A condition on histograms is hard where the rows as one group miss it, with a stricter threshold.
    """

    def __init__(self, constraints: SearchConstraints) -> None:
        self.constraints = constraints
        self.rooms = [_room(limit, constraints.least) for limit in constraints.neighbour_limits]
        strict = tuple(
            replace(each, threshold=each.threshold * _TIGHTER.get(each.kind, 1.0)) for each in constraints.conditions
        )
        self.arrays = replace(constraints, conditions=strict).condition_arrays()
        self.scratch = scratch_counts(self.arrays)
        rows = max((len(limit.values) for limit in constraints.neighbour_limits), default=0)
        rows = max((len(condition.values) for condition in constraints.conditions), default=rows)
        self.groups = [_most_groups(each, each.values, constraints.least) / max(rows, 1) for each in constraints.conditions]
        """For each condition the number of groups per row that the table can have."""
        self.worst = _SLACK * self.of(np.arange(rows)) + 1e-9

    @property
    def requires_anything(self) -> bool:
        """Whether there is more to satisfy than a size."""
        return bool(self.constraints.neighbour_limits or self.constraints.conditions)

    def allows(self, rows: Integers) -> bool:
        """Return whether some rows are not much harder than all of them."""
        return not self.requires_anything or self.of(rows) <= self.worst

    def size_factor(self, rows: Integers) -> float:
        """Return how many times larger than usual a part of such rows should be: the more crowded, the larger."""
        crowding = self._crowding(rows)
        return min(_LARGEST, max(1.0, (crowding / _EASY) ** 2))

    def _crowding(self, rows: Integers) -> float:
        """Return the largest share of the room of a limit that values fill that are all near one another."""
        limits = zip(self.constraints.neighbour_limits, self.rooms, strict=True)
        return max((crowding_share(limit, rows) / room for limit, room in limits), default=0.0)

    def of(self, rows: Integers) -> float:
        """Return the difficulty of some rows."""
        if not len(rows):
            return 0.0
        hardest = max(0.0, self._crowding(rows) - _CROWDED)
        for h, condition in enumerate(self.constraints.conditions):
            values = condition.values[rows]
            if condition.kind == excess.DISTINCT:
                groups = _most_groups(condition, values, self.constraints.least)
                hardest = max(hardest, _FEWER_GROUPS * self.groups[h] - groups / len(rows))
            else:
                missing = histogram_excess(self.arrays, h, values, len(values), self.scratch)
                hardest = max(hardest, (missing - 0.5) / len(rows))
        return hardest


def crowding_share(limit: LimitArrays, rows: Integers) -> float:
    """Return the share of rows in a large set of values that are all near one another; the largest one along an order.

    No group has more than `allowed` + 1 rows of such a set.
    """
    # every so many rows, because they may be sorted
    looked_at = rows[:: -(-len(rows) // _LOOKED_AT)]
    counts = np.bincount(limit.values[looked_at], minlength=1)
    values = np.flatnonzero(counts)
    counts = counts[values]
    near = limit.near
    if near.kind == WINDOWS:
        # all values from one on to the end of its window are near it, and within its window of one another
        rank = near.rank[values]
        before = np.concatenate([[0], np.cumsum(np.bincount(rank, counts, len(near.rank)))])
        return float((before[near.high[rank]] - before[rank]).max()) / len(looked_at)
    around = np.empty(len(values), np.int64)
    bitset_counts(near.bits, np.array([0, len(values)]), values, counts, around)
    start = int(np.argmax(around))
    inside = _near_to(near.bits, values[start], values)
    total = 0
    # the most frequent value that is near all others so far joins, again and again
    candidates = np.where(inside, counts, 0)
    candidates[start] = counts[start] + len(looked_at)
    while candidates.any():
        best = int(np.argmax(candidates))
        total += int(counts[best])
        candidates[best] = 0
        candidates[~_near_to(near.bits, values[best], values)] = 0
    return total / len(looked_at)


def _near_to(bits: NDArray[np.uint64], value: int, others: Integers) -> NDArray[np.bool_]:
    """Return which values are near one value."""
    words = bits[value][others >> 6]
    return np.asarray((words >> (others & 63).astype(np.uint64)) & np.uint64(1), bool)


def _room(limit: LimitArrays, least: int) -> float:
    """Return the largest share of a group that may consist of values that are all near one another."""
    return max((limit.allowed(size) + 1) / size for size in range(max(least, 1), 2 * least + 1))


def _most_groups(condition: HistogramCondition, values: Integers, least: int) -> int:
    """Return a bound on the number of groups of rows with these values; see `SearchConstraints.most_groups`."""
    one = SearchConstraints(least, (), (replace(condition, values=values),))
    return one.most_groups(len(values))
