"""Neighbours found by asking the distance about every pair of a set."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.base import BoundDistance

_BLOCK = 1 << 22
"""So many pairs are decided at a time."""


class PairCounter:
    """Counts neighbours within each set only, so that many distinct values in small sets need no matrix of them all."""

    def __init__(self, bound: BoundDistance, epsilon: Fraction) -> None:
        self.bound = bound
        self.epsilon = epsilon

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each entry of each set: how many tuples of the set are near it, itself included."""
        out = np.empty(len(values), np.int64)
        for start, stop in itertools.pairwise(offsets):
            if stop - start == 1:  # alone, with nobody to ask about
                out[start] = counts[start]
                continue
            step = max(1, _BLOCK // int(stop - start))
            for first in range(int(start), int(stop), step):
                some = values[first : min(first + step, stop)]
                near = self.bound.near(some, values[start:stop], self.epsilon)
                out[first : first + len(some)] = near @ counts[start:stop]
        return out
