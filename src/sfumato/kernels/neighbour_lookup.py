"""Whether two values are neighbours, asked pair by pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel

WINDOWS, BITS = 0, 1
"""How the neighbours are known: as windows along an order, or as one bit per pair."""


@kernel
def near(kind: int, rank: Any, low: Any, high: Any, bits: Any, u: int, v: int) -> Any:
    """Whether the values u and v are neighbours (a value is its own). Cost: constant."""
    if kind == WINDOWS:
        return low[rank[u]] <= rank[v] < high[rank[u]]
    return bits[u, v >> 6] >> np.uint64(v & 63) & np.uint64(1) != 0
