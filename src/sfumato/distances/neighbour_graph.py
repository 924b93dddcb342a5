"""The ε-neighbour graph: who is near whom, degrees, and Θ.

All that principles and methods ask is one question: of the tuples in each of some sets, how many are near each value?
Four structures answer it, each in its own file, chosen by what the distance offers:

    windows   an order in which neighbours are consecutive            any number of values, linear
    bitset    one bit per pair of values                              up to BITSET values
    balls     points with a sum of coordinate terms                   any number of values, low dimension
    pairs     nothing but the distance                                any number of values, pairs within each set
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.distances.base import BoundDistance, Distance
from sfumato.distances.neighbour_balls import BallCounter
from sfumato.distances.neighbour_bits import BitsetCounter
from sfumato.distances.neighbour_pairs import PairCounter
from sfumato.distances.neighbour_runs import WindowCounter
from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction

BITSET = 16_384
"""Up to so many distinct values every pair has its bit: 32 MiB."""


_CACHE = 64 * 2**20
"""The bytes that the cached graphs of one attribute may take."""

_GRAPHS = 16
"""The number of graphs that are cached for one attribute."""

_FEW = 4
"""Sets with so many times fewer pairs than there are pairs of all values are asked about pair by pair, if that is costly."""


class Counter(Protocol):
    """Counts neighbours within sets of tuples."""

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each entry (a value, so many times) of each set: the tuples of the set near it, all its own included."""
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


def graph_of(attribute: Attribute, distance: Distance, epsilon: Fraction) -> NeighbourGraph:
    """Return the neighbour graph of an attribute under a distance; the attribute caches those that were used last.

    A graph of n values takes up to n²/8 bytes. The cache is bounded by `_CACHE` bytes, and contains at least one graph.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> attribute = sf.Table(pa.table({"x": [5, 9]}), sf.Schema(sensitive=["x"])).attribute(["x"])
    >>> graph = graph_of(attribute, sf.distances.Absolute(), Fraction(1))
    >>> graph is graph_of(attribute, sf.distances.Absolute(), Fraction(1))
    True
    """
    graphs: list[NeighbourGraph] = attribute.graphs
    bound = None
    for position, graph in enumerate(graphs):
        if graph.distance == distance:
            if graph.epsilon == epsilon:
                graphs.append(graphs.pop(position))
                return graph
            bound = graph.bound
    graph = NeighbourGraph(attribute, distance, epsilon, bound)
    most = _CACHE // max(1, len(attribute) ** 2 // 8)
    del graphs[: max(0, len(graphs) + 1 - min(max(most, 1), _GRAPHS))]
    graphs.append(graph)
    return graph


class NeighbourGraph:
    """The values of an attribute, with an edge between two tuples whose values are at most ε apart.

    Equal values are neighbours, and the multiset counts: a value that stands for several tuples has the degree
    Σ count(neighbours) + count(self) − 1 (errata of paper 001, 5).

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [5, 5, 5, 9]}), sf.Schema(sensitive=["x"]))
    >>> graph = NeighbourGraph(table.attribute(["x"]), sf.distances.Absolute(), epsilon=0)
    >>> graph.degrees.tolist(), graph.max_degree
    ([2, 0], 2)
    """

    def __init__(
        self, attribute: Attribute, distance: Distance, epsilon: Number, bound: BoundDistance | None = None
    ) -> None:
        """Apply the distance to the attribute; `bound` is the result of that, if it is known."""
        self.attribute = attribute
        self.distance = distance
        self.epsilon = as_fraction(epsilon, "epsilon")
        if self.epsilon < 0:
            raise ParameterError(
                f"epsilon = {epsilon} is negative", remedy="Give it at least 0.", key="epsilon", value=epsilon
            )
        self.bound = distance.bind(attribute) if bound is None else bound

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each entry of each set: how many tuples of the set are near it, itself included."""
        within = int((np.diff(offsets) ** 2).sum())
        if self.bound.costly and _FEW * within < len(self.attribute) ** 2:
            return PairCounter(self.bound, self.epsilon).counts(offsets, values, counts)
        return self.counter.counts(offsets, values, counts)

    @cached_property
    def counter(self) -> Counter:
        """The structure that answers for all values."""
        return counter_of(self.bound, self.epsilon, len(self.attribute))

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """For each value the number of other tuples of the table that are near it."""
        size = len(self.attribute)
        return self.counts(np.array([0, size]), np.arange(size), self.attribute.counts) - 1

    @property
    def max_degree(self) -> int:
        """Θ, the largest degree."""
        return int(self.degrees.max())

    def neighbourhood(self, value: int) -> NDArray[np.int64]:
        """The values near one value, itself included."""
        everyone = np.arange(len(self.attribute))
        return np.flatnonzero(self.bound.near(np.array([value]), everyone, self.epsilon)[0])

    def edges(self) -> list[tuple[int, int]]:
        """All pairs of different values that are neighbours; for small graphs and for drawing."""
        return [(v, int(w)) for v in range(len(self.attribute)) for w in self.neighbourhood(v) if v < w]
