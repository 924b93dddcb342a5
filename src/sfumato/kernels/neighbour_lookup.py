"""Test pairs of values for being neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel

WINDOWS, BITS = 0, 1
"""The representation of the neighbours: windows along an order, or one bit per pair."""


@kernel
def near(kind: int, rank: Any, low: Any, high: Any, bits: Any, u: int, v: int) -> Any:
    """Return whether the values u and v are neighbours; every value is its own neighbour. Cost: constant.

    WINDOWS: `rank[u]` is the position of u in the order, and the neighbours of position r are `low[r]` up to, not
    including, `high[r]`. BITS: bit v of row u. The arrays of the other kind are empty.
    """
    if kind == WINDOWS:
        return low[rank[u]] <= rank[v] < high[rank[u]]
    return bits[u, v >> 6] >> np.uint64(v & 63) & np.uint64(1) != 0
