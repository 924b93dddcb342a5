"""Count neighbours within sets of rows: four structures that answer one question.

Of the rows in each of some sets, how many are near each value? Sets are given as a compressed histogram: set g contains the
entries `offsets[g]` to `offsets[g + 1]` - 1, entry i represents `counts[i]` rows with the value `values[i]`. Each structure
returns for each entry the number of rows of its set that are near it, all rows of the entry itself included.

    windows   an order in which neighbours are consecutive            any number of values, linear
    bitset    one bit per pair of values                              up to BITSET values
    balls     points with a sum of coordinate terms                   any number of values, low dimension
    pairs     nothing but the distance                                any number of values, pairs within each set
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.distance import Balls, BoundDistance, Windows

BITSET = 16_384
"""Up to this many distinct values every pair has its bit: 32 MiB."""

_BLOCK = 1 << 22
"""How many pairs are decided at a time."""

_DOUBTFUL, _LISTED = 1024, 1 << 20
"""How many pairs that points cannot decide are listed at first, and where there are many."""


class Counter(Protocol):
    """Counts neighbours within sets of rows; see the module."""

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each entry of each set the number of rows of the set that are near it, its own included."""
        ...  # pragma: no cover


def counter_of(bound: BoundDistance, epsilon: Fraction, size: int) -> Counter:
    """Choose the structure for a distance and a number of distinct values."""
    windows = bound.windows(epsilon)
    if windows is not None:
        return WindowCounter(windows)
    if size <= BITSET:
        return BitsetCounter(bound, epsilon, size)
    balls = bound.balls(epsilon)
    if balls is not None:
        return BallCounter(balls)
    return PairCounter(bound, epsilon)


class WindowCounter:
    """Counts neighbours with two pointers, where those of each value are consecutive in one order of all values."""

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self.ordered = bool((np.diff(windows.rank) > 0).all())
        """Whether the values are numbered in that order already, so that entries need not be sorted."""

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each entry of each set the number of rows of the set that are near it, its own included."""
        from sfumato.kernels.neighbour_windows import window_counts

        ranks = self.windows.rank[values]
        out = np.empty(len(values), np.int64)
        if self.ordered:
            window_counts(offsets, ranks, counts, self.windows.low, self.windows.high, out)
            return out
        # The kernel needs ascending ranks within each set: sort the entries by set, then rank, and put the answers back.
        group = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = np.argsort(group * len(self.windows.rank) + ranks)
        window_counts(offsets, ranks[order], counts[order], self.windows.low, self.windows.high, out)
        result = np.empty_like(out)
        result[order] = out
        return result


class BitsetCounter:
    """Counts neighbours with a symmetric bit matrix over all distinct values."""

    def __init__(self, bound: BoundDistance, epsilon: Fraction, size: int) -> None:
        everyone = np.arange(size)
        self.bits = np.zeros((size, -(-size // 64)), np.uint64)
        """Bit w of row v, in words of 64: whether the values v and w are near."""
        as_bytes = self.bits.view(np.uint8)
        step = max(1, _BLOCK // size)
        for start in range(0, size, step):
            near = bound.near(everyone[start : start + step], everyone, epsilon)
            packed = np.packbits(near, axis=1, bitorder="little")
            as_bytes[start : start + step, : packed.shape[1]] = packed

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each entry of each set the number of rows of the set that are near it, its own included."""
        from sfumato.kernels.neighbour_bitset import bitset_counts

        out = np.empty(len(values), np.int64)
        bitset_counts(self.bits, offsets, values, counts, out)
        return out


class BallCounter:
    """Counts points in balls with a tree over each set; pairs are listed only where the points cannot decide them."""

    def __init__(self, balls: Balls) -> None:
        self.balls = balls

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each entry of each set the number of rows of the set that are near it, its own included."""
        from sfumato.kernels.ball_counts import ball_counts

        b = self.balls
        out = np.empty(len(values), np.int64)
        begin, unknown = 0, np.empty((_DOUBTFUL, 2), np.int64)
        while begin < len(values):
            # The kernel lists the pairs of entries that it cannot decide, and stops where there is no room for more.
            listed, end = ball_counts(
                b.points, b.absent, offsets, values, counts, b.weights, b.full, b.span, b.names,
                b.power, b.sure, b.never, begin, out, unknown,
            )  # fmt: skip
            i, j = unknown[:listed].T
            near = b.decide(values[i], values[j])
            np.add.at(out, i[near], counts[j[near]])
            begin = int(end)
            if begin < len(values) and len(unknown) < max(_LISTED, int(np.diff(offsets).max())):
                unknown = np.empty((4 * len(unknown), 2), np.int64)
        return out


class PairCounter:
    """Counts neighbours by asking the distance about every pair of a set, so that no matrix of all values is needed."""

    def __init__(self, bound: BoundDistance, epsilon: Fraction) -> None:
        self.bound = bound
        self.epsilon = epsilon

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each entry of each set the number of rows of the set that are near it, its own included."""
        out = np.empty(len(values), np.int64)
        for start, stop in itertools.pairwise(offsets):
            if stop - start == 1:  # a single value has no other to be compared with
                out[start] = counts[start]
                continue
            step = max(1, _BLOCK // int(stop - start))
            for first in range(int(start), int(stop), step):
                some = values[first : min(first + step, stop)]
                near = self.bound.near(some, values[start:stop], self.epsilon)
                out[first : first + len(some)] = near @ counts[start:stop]
        return out
