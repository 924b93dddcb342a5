"""The principles of a task as search constraints: limits on neighbours and conditions on histograms, and group sizes.

Each principle states its own conditions (`Principle.search_conditions`). Here they are put together, and laid out as the
arrays that the kernels read.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.neighbour_arrays import NeighbourArrays
from sfumato.errors import ParameterError
from sfumato.kernels import group_excess as excess
from sfumato.kernels.group_excess import HistogramConditions, NeighbourLimits, shape_excess
from sfumato.kernels.neighbour_lookup import WINDOWS
from sfumato.principles import HistogramCondition, NeighbourLimit

SIZES = 4096
"""Limits on neighbours are tabulated up to this group size; larger groups have the limit of this size."""

_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Limits:
    """What all principles of a task demand of a group."""

    least: int
    """No group may have fewer rows."""
    crowds: tuple[NeighbourLimit, ...]
    shapes: tuple[HistogramCondition, ...]

    @classmethod
    def of(cls, task: Task) -> Limits:
        """Collect the conditions of a task's principles; a principle without any is an error that names a method."""
        least = 1
        crowds: list[NeighbourLimit] = []
        shapes: list[HistogramCondition] = []
        for principle, names in task.requirements:
            if not principle.searchable:
                raise ParameterError(
                    f"the method glaze cannot serve {principle.title}, which states no search conditions",
                    remedy='Use method "mondrian", which checks every group that it makes.',
                    key="method.name",
                    value=principle.name,
                )
            least = max(least, principle.implied_k or 1)
            for condition in principle.search_conditions(task.views[names]):
                if isinstance(condition, NeighbourLimit):
                    crowds.append(condition)
                else:
                    shapes.append(condition)
        limits = cls(least, tuple(crowds), tuple(shapes))
        return cls(limits.smallest(task.table.rows), limits.crowds, limits.shapes)

    def smallest(self, rows: int) -> int:
        """Return the smallest size, from `least` on, at which a group can satisfy everything; `least` if none is found."""
        arrays = self.shape_arrays()
        buffer = np.zeros(SIZES + 1, np.int64)
        counts = scratch_counts(arrays)
        for size in range(self.least, min(rows, SIZES // 4) + 1):
            if any(crowd.allowed(size) < 0 for crowd in self.crowds):
                continue
            fits = True
            for h, shape in enumerate(self.shapes):
                buffer[:size] = _best_values(shape, size)
                if shape_excess(arrays, h, buffer, size, counts) > 0:
                    fits = False
                    break
            if fits:
                return size
        return self.least

    def roomiest(self, most: int) -> int:
        """Return the size from `least` to `most` at which (allowed + 1)/size is largest: the easiest for neighbours."""
        sizes = range(self.least, most + 1)
        return max(sizes, key=lambda s: (min((Fraction(c.allowed(s) + 1, s) for c in self.crowds), default=Fraction(0)), -s))

    def crowd_arrays(self, rows: int) -> NeighbourLimits:
        """Return the limits on neighbours as the kernels take them: all limits padded to one shape."""
        count = len(self.crowds)
        near_arrays = [NeighbourArrays.of(crowd.neighbours) for crowd in self.crowds]
        widest = max((len(near.rank) for near in near_arrays), default=0)
        words = max((near.bits.shape[1] for near in near_arrays), default=0)
        top = min(rows, SIZES) + 1
        value = np.zeros((count, rows), np.int64)
        rank, low, high = (np.zeros((count, max(widest, 1)), np.int64) for _ in range(3))
        first = np.zeros(count, np.int64)  # where the bits of each limit begin in the common matrix
        bits: list[NDArray[np.uint64]] = []
        allowed = np.zeros((count, top + 1), np.int64)
        for c, (crowd, near) in enumerate(zip(self.crowds, near_arrays, strict=True)):
            value[c] = crowd.values
            rank[c, : len(near.rank)], low[c, : len(near.low)], high[c, : len(near.high)] = near.rank, near.low, near.high
            first[c] = sum(len(part) for part in bits)
            bits.append(np.pad(near.bits, ((0, 0), (0, words - near.bits.shape[1]))))
            allowed[c] = [crowd.allowed(max(size, 1)) for size in range(top + 1)]
        bits.append(np.zeros((1, max(words, 1)), np.uint64))  # never empty, for the compiler
        matrix = np.concatenate([part for part in bits if part.shape[1] == max(words, 1)])
        windowed = np.array([near.kind == WINDOWS for near in near_arrays], bool)
        return NeighbourLimits(value, windowed, rank, low, high, first, matrix, allowed, np.ones(count))

    def shape_arrays(self, tolerance: float = _TOLERANCE) -> HistogramConditions:
        """Return the conditions on histograms as the kernels take them: all conditions padded to one shape."""
        count = len(self.shapes)
        rows = len(self.shapes[0].values) if count else 0
        values = max((int(s.values.max()) + 1 for s in self.shapes), default=1)
        levels = max((len(s.nodes) for s in self.shapes), default=1) or 1
        widest = max((len(share) for s in self.shapes for share in s.shares), default=1)
        number, node = np.zeros((count, values)), np.zeros((count, levels, values), np.int64)
        share = np.zeros((count, levels, widest))
        for h, shape in enumerate(self.shapes):
            if shape.number is not None:
                number[h, : len(shape.number)] = shape.number
            for level, (nodes, shares) in enumerate(zip(shape.nodes, shape.shares, strict=True)):
                node[h, level, : len(nodes)] = nodes
                share[h, level, : len(shares)] = shares
        # How many levels a hierarchy has, or how many values have a number.
        depth = [len(s.nodes) if s.kind == excess.APART else 0 if s.number is None else len(s.number) for s in self.shapes]
        return HistogramConditions(
            np.array([s.values for s in self.shapes], np.int64).reshape(count, rows),
            np.array([s.kind for s in self.shapes], np.int64),
            np.array([s.threshold for s in self.shapes], float),
            np.array([s.second for s in self.shapes], float),
            number, node, share, np.array(depth, np.int64), tolerance,
        )  # fmt: skip


def scratch_counts(shapes: HistogramConditions) -> NDArray[np.int64]:
    """Return zeros, enough for any value or node of the conditions; kernels leave them zero."""
    return np.zeros(2 + max(shapes.number.shape[1], shapes.share.shape[2]), np.int64)


def _best_values(shape: HistogramCondition, size: int) -> NDArray[np.int64]:
    """Return the values of a group of a size that meets a condition as well as any group can.

    Conditions on diversity are met best by different values in turn, on the spread of numbers by the two extremes, and on
    likeness to the table by evenly spaced quantiles of the table's values.
    """
    ordered = np.sort(shape.values)
    if shape.kind in (excess.VARIANCE, excess.RANGE):
        different = np.unique(ordered)
        return different[np.arange(size) % 2 * (len(different) - 1)]
    if shape.kind in (excess.DISTINCT, excess.ENTROPY, excess.RECURSIVE):
        different = np.unique(ordered)
        return different[np.arange(size) % len(different)]
    return ordered[((2 * np.arange(size) + 1) * len(ordered)) // (2 * size)]
