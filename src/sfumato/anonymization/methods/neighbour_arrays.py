"""The neighbours of sensitive values as arrays that kernels read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.neighbour_counters import BitsetCounter
from sfumato.distances.neighbour_graph import (
    GuardedNeighbours,
    Neighbours,
    NeighbourSets,
    NeighbourWindows,
    OneSidedNeighbours,
)
from sfumato.errors import ParameterError
from sfumato.kernels.neighbour_lookup import BITS, WINDOWS

MOST = 40_000
"""The largest number of distinct values with one bit per pair: 200 MB."""

Arrays = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]


@dataclass(frozen=True, eq=False)
class NeighbourArrays:
    """Which values are neighbours, for `kernels.neighbour_lookup.near`: windows along an order, else one bit per pair.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.kernels.neighbour_lookup import near
    >>> table = sf.Table(pa.table({"x": [5, 6, 9]}), sf.Schema(sensitive=["x"]))
    >>> graph = sf.distances.NeighbourGraph(table.attribute(["x"]), sf.distances.Absolute(), epsilon=1)
    >>> arrays = NeighbourArrays.of(graph).arrays
    >>> near(*arrays, 0, 1), near(*arrays, 1, 2)
    (True, False)
    """

    kind: int
    """WINDOWS or BITS; the arrays of the other kind are empty."""
    rank: NDArray[np.int64]
    """For each value its rank in the order."""
    low: NDArray[np.int64]
    """For each rank the first rank of its window."""
    high: NDArray[np.int64]
    """For each rank one past the last rank of its window."""
    bits: NDArray[np.uint64]
    """For each value one bit per other value, in words of 64."""

    @classmethod
    def of(cls, neighbours: Neighbours | NeighbourSets | OneSidedNeighbours | GuardedNeighbours) -> NeighbourArrays:
        """Lay out neighbours; too many values without an order are an error."""
        windows = neighbours.windows
        if windows is not None:
            rank, low, high = (np.ascontiguousarray(a, np.int64) for a in (windows.rank, windows.low, windows.high))
            return cls(WINDOWS, rank, low, high, np.zeros((0, 0), np.uint64))
        nothing = np.zeros(0, np.int64)
        if isinstance(neighbours, NeighbourSets | OneSidedNeighbours):
            return cls(BITS, nothing, nothing, nothing, neighbours.bits)
        assert not isinstance(neighbours, NeighbourWindows)
        graph = neighbours.graph if isinstance(neighbours, GuardedNeighbours) else neighbours
        size = len(graph.attribute)
        if size > MOST:
            raise ParameterError(
                f"{graph.attribute.name!r} has {size:,} distinct values under a distance with no order, more than the "
                f"{MOST:,} whose neighbours are stored pair by pair",
                remedy='Round the values, use a distance along one order, such as absolute, or method "mondrian".',
                key="distance",
                value=size,
            )
        if isinstance(neighbours, GuardedNeighbours):
            return cls(BITS, nothing, nothing, nothing, neighbours.bits())
        counter = neighbours.counter
        if not isinstance(counter, BitsetCounter):
            counter = BitsetCounter(neighbours.bound, neighbours.epsilon, size)
        return cls(BITS, nothing, nothing, nothing, counter.bits)

    @property
    def arrays(self) -> Arrays:
        """The arguments of the kernels, in their order."""
        return self.kind, self.rank, self.low, self.high, self.bits
