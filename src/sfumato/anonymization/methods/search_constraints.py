"""The principles of a task as search constraints: limits on neighbours and conditions on histograms, and group sizes.

Each principle states its own conditions (`Principle.search_conditions`). Here they are put together, and laid out as the
arrays that the kernels read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.neighbour_arrays import NeighbourArrays
from sfumato.data.groups import joint_ranks
from sfumato.errors import ParameterError
from sfumato.kernels import group_excess as excess
from sfumato.kernels.group_excess import HistogramConditions, NeighbourLimits, histogram_excess
from sfumato.kernels.neighbour_lookup import WINDOWS
from sfumato.principles import HistogramCondition, NeighbourLimit

SIZES = 4096
"""Limits on neighbours are tabulated up to this group size; larger groups have the limit of this size."""

_TOLERANCE = 1e-9

_SPREAD = (excess.VARIANCE, excess.RANGE)
"""Conditions on the spread of numbers."""

_DIVERSITY = (excess.DISTINCT, excess.ENTROPY, excess.RECURSIVE)
"""Conditions on how many different values there are, and how evenly they occur."""

_WITH_NODES = (excess.APART, excess.CHAIN, excess.CYCLE)
"""Conditions on nodes of a hierarchy or on pairs of values."""

ConstraintValues = tuple[tuple[NDArray[np.int64], ...], tuple[NDArray[np.int64], ...]]
"""For each limit on neighbours, and for each condition on histograms, the values of some rows."""


@dataclass(frozen=True, eq=False)
class LimitArrays:
    """A limit on neighbours as arrays: no graph and no function, so that it can be sent to another process."""

    values: NDArray[np.int64]
    """For each row the number of its sensitive value."""
    near: NeighbourArrays
    """Which values are near one another."""
    by_size: NDArray[np.int64]
    """For each size of a group how many neighbours a row may have in it; negative if no group of that size will do."""
    symmetric: bool
    """Whether it is the limit of a dissimilarity, for which a bound may guarantee that exchanges succeed."""

    @classmethod
    def of(cls, limit: NeighbourLimit, symmetric: bool) -> LimitArrays:
        """Tabulate a limit for all sizes that groups of these rows can have, up to `SIZES`."""
        sizes = range(min(len(limit.values), SIZES) + 2)
        by_size = np.array([limit.allowed(max(size, 1)) for size in sizes], np.int64)
        return cls(limit.values, NeighbourArrays.of(limit.neighbours), by_size, symmetric)

    def allowed(self, size: int) -> int:
        """Return how many neighbours a row may have in a group of a size."""
        return int(self.by_size[min(size, len(self.by_size) - 1)])


@dataclass(frozen=True, eq=False)
class SearchConstraints:
    """What all principles of a task require of a group."""

    least: int
    """No group may have fewer rows."""
    neighbour_limits: tuple[LimitArrays, ...]
    conditions: tuple[HistogramCondition, ...]

    @classmethod
    def of(cls, task: Task) -> SearchConstraints:
        """Collect the conditions of a task's principles; a principle without any is an error that names a method."""
        least = 1
        neighbour_limits: list[LimitArrays] = []
        conditions: list[HistogramCondition] = []
        for principle, names in task.requirements:
            if not principle.searchable:
                raise ParameterError(
                    f"the method glaze does not support {principle.title}, which states no search conditions",
                    remedy='Use method "mondrian", which checks every group that it makes.',
                    key="method.name",
                    value=principle.name,
                )
            least = max(least, principle.implied_k or 1)
            for condition in task.search_conditions(principle, names):
                if isinstance(condition, NeighbourLimit):
                    neighbour_limits.append(LimitArrays.of(condition, principle.as_dissimilarity() is not None))
                else:
                    conditions.append(condition)
        constraints = cls(least, tuple(neighbour_limits), tuple(conditions))
        return replace(constraints, least=constraints.smallest_size(task.table.rows))

    def restricted(self, rows: NDArray[np.int64]) -> SearchConstraints:
        """Return the same constraints on some of the rows; what they compare with stays that of the whole table."""
        part = self.with_values(self.values_of(rows))
        return replace(part, least=part.smallest_size(len(rows)))

    def values_of(self, rows: NDArray[np.int64]) -> ConstraintValues:
        """Return the values of some rows, under each limit and each condition."""
        return (
            tuple(limit.values[rows] for limit in self.neighbour_limits),
            tuple(condition.values[rows] for condition in self.conditions),
        )

    def with_values(self, values: ConstraintValues) -> SearchConstraints:
        """Return the same constraints, with the same least size, on rows that have these values."""
        limits, conditions = values
        return replace(
            self,
            neighbour_limits=tuple(replace(a, values=b) for a, b in zip(self.neighbour_limits, limits, strict=True)),
            conditions=tuple(replace(a, values=b) for a, b in zip(self.conditions, conditions, strict=True)),
        )

    def smallest_size(self, rows: int) -> int:
        """Return the smallest size, from `least` on, at which a group can satisfy everything; `least` if none is found."""
        arrays = self.condition_arrays()
        buffer = np.zeros(SIZES + 1, np.int64)
        counts = scratch_counts(arrays)
        candidates = [_candidates(condition) for condition in self.conditions]
        for size in range(self.least, min(rows, SIZES // 4) + 1):
            if any(limit.allowed(size) < 0 for limit in self.neighbour_limits):
                continue
            fits = True
            for h, condition in enumerate(self.conditions):
                buffer[:size] = _best_values(condition.kind, candidates[h], size)
                if histogram_excess(arrays, h, buffer, size, counts) > 0:
                    fits = False
                    break
            if fits:
                return size
        return self.least

    def most_groups(self, rows: int) -> int:
        """Return a bound on the number of groups: each needs `least` rows, and the required number of distinct values.

        A value that occurs c times is in at most min(c, G) of G groups, so G groups with l values each need
        Σ min(c, G) ≥ l · G. The left side grows ever more slowly, so bisection finds the largest G.
        """
        groups = rows // self.least
        for condition in self.conditions:
            if condition.kind != excess.DISTINCT:
                continue
            counts = np.bincount(condition.values)
            low, high = 0, groups  # low groups are possible, more than high are not
            while low < high:
                middle = (low + high + 1) // 2
                enough = np.minimum(counts, middle).sum() >= condition.threshold * middle
                low, high = (middle, high) if enough else (low, middle - 1)
            groups = low
        return groups

    @property
    def bounds_shares(self) -> bool:
        """Whether the share of each value is bounded: a rare value then needs a large group, and others do not."""
        return any(condition.kind in (excess.GAIN, excess.RATIO) for condition in self.conditions)

    def roomiest_size(self, most: int) -> int:
        """Return the size from `least` to `most` at which (allowed + 1)/size is largest: the easiest for neighbours."""

        def room(size: int) -> Fraction:
            return min((Fraction(limit.allowed(size) + 1, size) for limit in self.neighbour_limits), default=Fraction(0))

        return max(range(self.least, most + 1), key=lambda size: (room(size), -size))

    def neighbour_limit_arrays(self, rows: int) -> NeighbourLimits:
        """Return the limits on neighbours as the kernels take them: all limits padded to one shape."""
        count = len(self.neighbour_limits)
        near_arrays = [limit.near for limit in self.neighbour_limits]
        widest = max((len(near.rank) for near in near_arrays), default=0)
        words = max((near.bits.shape[1] for near in near_arrays), default=0)
        top = min(rows, SIZES) + 1
        value = np.zeros((count, rows), np.int64)
        rank, low, high = (np.zeros((count, max(widest, 1)), np.int64) for _ in range(3))
        first = np.zeros(count, np.int64)  # where the bits of each limit begin in the common matrix
        bits: list[NDArray[np.uint64]] = []
        allowed = np.zeros((count, top + 1), np.int64)
        for c, (limit, near) in enumerate(zip(self.neighbour_limits, near_arrays, strict=True)):
            value[c] = limit.values
            rank[c, : len(near.rank)], low[c, : len(near.low)], high[c, : len(near.high)] = near.rank, near.low, near.high
            first[c] = sum(len(part) for part in bits)
            bits.append(np.pad(near.bits, ((0, 0), (0, words - near.bits.shape[1]))))
            allowed[c] = limit.by_size[np.minimum(np.arange(top + 1), len(limit.by_size) - 1)]
        bits.append(np.zeros((1, max(words, 1)), np.uint64))  # never empty, for the compiler
        matrix = np.concatenate([part for part in bits if part.shape[1] == max(words, 1)])
        windowed = np.array([near.kind == WINDOWS for near in near_arrays], bool)
        return NeighbourLimits(value, windowed, rank, low, high, first, matrix, allowed, np.ones(count))

    def condition_arrays(self, tolerance: float = _TOLERANCE) -> HistogramConditions:
        """Return the conditions on histograms as the kernels take them: all conditions padded to one shape."""
        count = len(self.conditions)
        rows = len(self.conditions[0].values) if count else 0
        # restricted rows may lack the last values of the table
        sizes = [(int(s.values.max()) + 1, 0 if s.number is None else len(s.number)) for s in self.conditions]
        values = max((*map(max, sizes), *(len(nodes) for s in self.conditions for nodes in s.nodes)), default=1)
        levels = max((len(s.nodes) for s in self.conditions), default=1) or 1
        widest = max((len(share) for s in self.conditions for share in s.shares), default=1)
        number, node = np.zeros((count, values)), np.zeros((count, levels, values), np.int64)
        share = np.zeros((count, levels, widest))
        for h, condition in enumerate(self.conditions):
            if condition.number is not None:
                number[h, : len(condition.number)] = condition.number
            for level, nodes in enumerate(condition.nodes):
                node[h, level, : len(nodes)] = nodes
            for level, shares in enumerate(condition.shares):
                share[h, level, : len(shares)] = shares
        # the number of levels of a hierarchy, of words of neighbours, or of values with a number
        depth = [
            len(s.nodes) if s.kind in _WITH_NODES else 0 if s.number is None else len(s.number) for s in self.conditions
        ]
        least, most = np.zeros((count, values)), np.zeros((count, values))
        for h, condition in enumerate(self.conditions):
            if condition.number is not None:
                least[h, : len(condition.number)], most[h, : len(condition.number)] = _share_bounds(condition)
        value = np.array([s.values for s in self.conditions], np.int64).reshape(count, rows)
        columns = ((column, int(column.max(initial=0)) + 1) for column in value)
        combination = joint_ranks([(np.zeros(rows, np.int64), 1), *columns])
        return HistogramConditions(
            value,
            np.array([s.kind for s in self.conditions], np.int64),
            np.array([s.threshold for s in self.conditions], float),
            np.array([s.second for s in self.conditions], float),
            number, node, share, np.array(depth, np.int64), least, most,
            np.array([max(size) for size in sizes], np.int64),
            combination, tolerance,
        )  # fmt: skip


def scratch_counts(conditions: HistogramConditions) -> NDArray[np.int64]:
    """Return the scratch of `kernels.group_excess`: three rows of zeros, enough for any value or node of the conditions."""
    return np.zeros((3, 2 + max(conditions.number.shape[1], conditions.share.shape[2])), np.int64)


def _share_bounds(condition: HistogramCondition) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest share of each value in a group, for conditions on gains and ratios."""
    share = np.asarray(condition.number)
    if condition.kind == excess.GAIN:
        gain = np.full(len(share), condition.threshold)
        if condition.second > 0:
            gain = np.minimum(gain, np.maximum(0.0, -np.log(share)))
        return np.zeros(len(share)), share * (1 + gain)
    if condition.kind == excess.RATIO:
        # a large threshold allows everything: beyond this, exp would overflow
        factor = np.exp(min(condition.threshold, 700.0))
        return share / factor, share * factor
    return np.zeros(len(share)), np.ones(len(share))


def _candidates(condition: HistogramCondition) -> NDArray[np.int64]:
    """Return the values of which a group may consist, in order: those of all rows, or different ones if no other counts."""
    counts = np.bincount(condition.values)
    different = np.flatnonzero(counts)
    if condition.kind == excess.GUARDED:
        return different[:1]  # a group without guarded values, if there is one
    return different if condition.kind in (*_SPREAD, *_DIVERSITY) else np.repeat(different, counts[different])


def _best_values(kind: int, candidates: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the values of a group of a size that meets a condition as well as any group can.

    Conditions on diversity are met best by different values in turn, on the spread of numbers by the two extremes, and on
    likeness to the table by evenly spaced quantiles of the table's values.
    """
    if kind == excess.GUARDED:
        return np.repeat(candidates, size)
    if kind in _SPREAD:
        return candidates[np.arange(size) % 2 * (len(candidates) - 1)]
    if kind in _DIVERSITY:
        return candidates[np.arange(size) % len(candidates)]
    return candidates[((2 * np.arange(size) + 1) * len(candidates)) // (2 * size)]
