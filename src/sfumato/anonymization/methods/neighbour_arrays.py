"""The neighbours of sensitive values as arrays that kernels read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.neighbour_bits import BitsetCounter
from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.errors import ParameterError
from sfumato.kernels.neighbour_lookup import BITS, WINDOWS

MOST = 40_000
"""So many distinct values have one bit per pair at most: 200 MB."""

Arrays = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]


@dataclass(frozen=True, eq=False)
class Nearness:
    """Which values are neighbours, for `kernels.nearness.near`: as windows along an order, else as one bit per pair.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.kernels.neighbour_lookup import near
    >>> table = sf.Table(pa.table({"x": [5, 6, 9]}), sf.Schema(sensitive=["x"]))
    >>> nearness = Nearness.of(NeighbourGraph(table.attribute(["x"]), sf.distances.Absolute(), epsilon=1))
    >>> near(*nearness.arrays, 0, 1), near(*nearness.arrays, 1, 2)
    (True, False)
    """

    kind: int
    """WINDOWS or BITS; the arrays of the other kind are empty."""
    rank: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    bits: NDArray[np.uint64]

    @classmethod
    def of(cls, graph: NeighbourGraph) -> Nearness:
        """Lay out the neighbours of a graph; too many values that stand in no order are an error."""
        nothing, no_bits = np.zeros(0, np.int64), np.zeros((0, 0), np.uint64)
        windows = graph.bound.windows(graph.epsilon)
        if windows is not None:
            rank, low, high = (np.ascontiguousarray(a, np.int64) for a in (windows.rank, windows.low, windows.high))
            return cls(WINDOWS, rank, low, high, no_bits)
        size = len(graph.attribute)
        if size > MOST:
            raise ParameterError(
                f"{graph.attribute.name!r} has {size:,} distinct values under a distance with no order, more than the "
                f"{MOST:,} whose neighbours are held pair by pair",
                remedy='Round the values, use a distance along one order, such as absolute, or method "mondrian".',
                key="distance",
                value=size,
            )
        counter = graph.counter
        bits = counter.bits if isinstance(counter, BitsetCounter) else BitsetCounter(graph.bound, graph.epsilon, size).bits
        return cls(BITS, nothing, nothing, nothing, bits)

    @property
    def arrays(self) -> Arrays:
        """What the kernels take, in their order."""
        return self.kind, self.rank, self.low, self.high, self.bits
