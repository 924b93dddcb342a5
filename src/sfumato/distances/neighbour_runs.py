"""Neighbours along an order, counted with two pointers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.base import Windows
from sfumato.kernels.neighbour_windows import window_counts


class WindowCounter:
    """Counts neighbours where those of each value are consecutive in one order of all values."""

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self.ordered = bool((np.diff(windows.rank) > 0).all())

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each entry of each set: how many tuples of the set are near it, itself included."""
        ranks = self.windows.rank[values]
        out = np.empty(len(values), np.int64)
        if self.ordered:
            window_counts(offsets, ranks, counts, self.windows.low, self.windows.high, out)
            return out
        group = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = np.argsort(group * len(self.windows.rank) + ranks)
        window_counts(offsets, ranks[order], counts[order], self.windows.low, self.windows.high, out)
        result = np.empty_like(out)
        result[order] = out
        return result
