"""Near values on one side only: each clique lies on the one side of one of its values, which a local search can limit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.neighbour_graph import OneSidedNeighbours


def one_sided(bits: NDArray[np.uint64], counts: NDArray[np.int64]) -> OneSidedNeighbours:
    """Return for each value only those near values that follow it in an order, and itself.

    Of a clique, one value is first in the order, and all others are near it and follow it. So a limit on these is a limit on
    cliques, and about half as strict as one on all near values. The order takes away, again and again, a value that is near
    the fewest rows left. Cost: the square of the number of values.

    >>> pair_and_another = np.array([[0b011], [0b111], [0b110]], np.uint64)
    >>> one_sided(pair_and_another, np.array([1, 1, 1])).bits.tolist()
    [[3], [6], [4]]
    """
    size = len(bits)
    left = np.full(bits.shape[1], ~np.uint64(0))
    near_rows = np.array([int(counts[_values(row, size)].sum()) for row in bits], np.int64)
    gone = np.iinfo(np.int64).max
    out = np.empty_like(bits)
    for _ in range(size):
        v = int(np.argmin(near_rows))
        out[v] = bits[v] & left
        near_rows[_values(out[v], size)] -= counts[v]
        near_rows[v] = gone
        left[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
    return OneSidedNeighbours(out)


def _values(row: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """Return the values whose bits are set."""
    return np.flatnonzero(np.unpackbits(row.view(np.uint8), count=size, bitorder="little"))
