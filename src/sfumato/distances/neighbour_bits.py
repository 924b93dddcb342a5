"""Neighbours as one bit per pair of values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.base import BoundDistance
from sfumato.kernels.neighbour_bitset import bitset_counts

_BLOCK = 1 << 22
"""So many pairs are decided at a time."""


class BitsetCounter:
    """Counts neighbours with a symmetric bit matrix over all distinct values."""

    def __init__(self, bound: BoundDistance, epsilon: Fraction, size: int) -> None:
        everyone = np.arange(size)
        self.bits = np.zeros((size, -(-size // 64)), np.uint64)
        as_bytes = self.bits.view(np.uint8)
        step = max(1, _BLOCK // size)
        for start in range(0, size, step):
            near = bound.near(everyone[start : start + step], everyone, epsilon)
            packed = np.packbits(near, axis=1, bitorder="little")
            as_bytes[start : start + step, : packed.shape[1]] = packed

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each entry of each set: how many tuples of the set are near it, itself included."""
        out = np.empty(len(values), np.int64)
        bitset_counts(self.bits, offsets, values, counts, out)
        return out
