"""The ε-neighbour graph: which values are near one another, their degrees, and Θ, the largest degree."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.distances.distance import BoundDistance, Distance, Indices, Plane, Windows
from sfumato.distances.neighbour_counters import BallCounter, BitsetCounter, Counter, PairCounter, WindowCounter, counter_of
from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction

_CACHE = 64 * 2**20
"""The bytes that the cached graphs of one attribute may take."""

_GRAPHS = 16
"""The number of graphs that are cached for one attribute."""

_FEW = 4
"""If the distance is costly, sets with this many times fewer pairs than all values have are counted without a bit each."""


def graph_of(attribute: Attribute, distance: Distance, epsilon: Fraction) -> NeighbourGraph:
    """Return the neighbour graph of an attribute under a distance; the attribute caches those that were used last.

    A graph of n values takes up to n²/8 bytes. The cache is bounded by `_CACHE` bytes, and contains at least one graph.
    The cached graph holds the values and their counts, not the order of the rows. Code that a distance names is loaded at
    every call, and a graph is found again only if that yields the same function object.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> attribute = sf.Table(pa.table({"x": [5, 9]}), sf.Schema(sensitive=["x"])).attribute(["x"])
    >>> graph = graph_of(attribute, sf.distances.Absolute(), Fraction(1))
    >>> graph is graph_of(attribute, sf.distances.Absolute(), Fraction(1))
    True
    """
    distance = distance.resolved()
    with attribute.lock:
        cached, bound = _cached_graph(attribute.graphs, distance, epsilon)
    if cached is not None:
        return cached
    # Binding may take long and may run a user's code, so it happens without the lock.
    graph = NeighbourGraph(attribute.sorted_by_value, distance, epsilon, bound)
    with attribute.lock:
        graphs: list[NeighbourGraph] = attribute.graphs
        cached, _ = _cached_graph(graphs, distance, epsilon)
        if cached is not None:  # another thread was faster
            return cached
        most = _CACHE // max(1, len(attribute) ** 2 // 8)
        del graphs[: max(0, len(graphs) + 1 - min(max(most, 1), _GRAPHS))]
        graphs.append(graph)
    return graph


def _cached_graph(
    graphs: list[NeighbourGraph], distance: Distance, epsilon: Fraction
) -> tuple[NeighbourGraph | None, BoundDistance | None]:
    """Return the cached graph, moved to the end of the list, and the distance as it is bound already; each may be None."""
    bound = None
    for position, graph in enumerate(graphs):
        if graph.distance.is_same(distance):
            if graph.epsilon == epsilon:
                graphs.append(graphs.pop(position))
                return graph, graph.bound
            bound = graph.bound
    return None, bound


class NeighbourGraph:
    """The values of an attribute, with an edge between two rows whose values are at most ε apart.

    Equal values are neighbours, and multiplicities count: a value that several rows have has the degree
    Σ count(neighbours) + count(self) − 1.

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
        """Bind the distance to the attribute; `bound`: the bound distance, if it exists already."""
        self.attribute = attribute
        self.distance = distance
        self.epsilon = as_fraction(epsilon, "epsilon")
        if self.epsilon < 0:
            raise ParameterError(f"epsilon = {epsilon} is negative", remedy="Give at least 0.", key="epsilon", value=epsilon)
        self.bound = distance.bind(attribute) if bound is None else bound

    def counts(self, offsets: Indices, values: Indices, counts: Indices) -> Indices:
        """Return for each entry of each set the number of rows of the set that are near it, its own included.

        `sfumato.distances.neighbour_counters` defines the arrays.
        """
        within = int((np.diff(offsets) ** 2).sum())
        if self.bound.costly and _FEW * within < len(self.attribute) ** 2:
            balls = self.bound.balls(self.epsilon)
            few = PairCounter(self.bound, self.epsilon) if balls is None else BallCounter(balls)
            return few.counts(offsets, values, counts)
        return self.counter.counts(offsets, values, counts)

    def near(self, rows: Indices, columns: Indices) -> NDArray[np.bool_]:
        """Return for each pair of values whether they are neighbours; a value is its own neighbour."""
        return self.bound.near(rows, columns, self.epsilon)

    @cached_property
    def windows(self) -> Windows | None:
        """The neighbours as windows along an order, if the distance has one."""
        return self.bound.windows(self.epsilon)

    @cached_property
    def plane(self) -> Plane | None:
        """The neighbours as points of a plane, if the distance has one."""
        return self.bound.plane(self.epsilon)

    @cached_property
    def of_balls(self) -> NeighbourGraph | None:
        """The graph whose cliques are the sets of values that one ball of radius ε contains; None if the distance has none.

        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> attribute = sf.Table(pa.table({"x": [5, 7]}), sf.Schema(sensitive=["x"])).attribute(["x"])
        >>> NeighbourGraph(attribute, sf.distances.Absolute(), epsilon=1).of_balls.degrees.tolist()
        [1, 1]
        """
        found = self.bound.ball_as_clique(self.epsilon)
        return None if found is None else NeighbourGraph(self.attribute, self.distance, found[1], found[0])

    @cached_property
    def counter(self) -> Counter:
        """The structure that counts neighbours over all values."""
        return counter_of(self.bound, self.epsilon, len(self.attribute))

    @cached_property
    def degrees(self) -> Indices:
        """For each value the number of other rows of the table that are near it."""
        size = len(self.attribute)
        return self.counts(np.array([0, size]), np.arange(size), self.attribute.counts) - 1

    @property
    def max_degree(self) -> int:
        """Θ, the largest degree."""
        return int(self.degrees.max())

    def neighbourhood(self, value: int) -> Indices:
        """Return the values near one value, itself included."""
        return np.flatnonzero(self.near(np.array([value]), np.arange(len(self.attribute)))[0])

    def edges(self) -> list[tuple[int, int]]:
        """Return all pairs of different values that are neighbours; for small graphs and for drawing."""
        return [(v, int(w)) for v in range(len(self.attribute)) for w in self.neighbourhood(v) if v < w]


class NeighbourWindows:
    """Neighbours that a principle defines itself, as windows along an order: no distance is declared for them.

    >>> low, high = np.array([0, 0, 2]), np.array([2, 2, 3])
    >>> near = NeighbourWindows(Windows(np.arange(3), low, high), Fraction(1))
    >>> near.near(np.array([0]), np.array([0, 1, 2])).tolist()
    [[True, True, False]]
    """

    def __init__(self, windows: Windows, epsilon: Fraction) -> None:
        self.windows = windows
        self.epsilon = epsilon
        """How far apart neighbours may be, for display."""

    @classmethod
    def upward(cls, windows: Windows, epsilon: Fraction) -> NeighbourWindows:
        """Return the runs of pairwise near values that begin at each value, as the neighbours of that value.

        Along an order in which neighbours are consecutive, values are pairwise near exactly if the last is near the first.

        >>> near = NeighbourWindows.upward(Windows(np.arange(3), np.array([0, 0, 1]), np.array([2, 3, 3])), Fraction(1))
        >>> near.counts(np.array([0, 3]), np.arange(3), np.array([1, 1, 1])).tolist()
        [2, 2, 1]
        """
        return cls(Windows(windows.rank, np.arange(len(windows.rank)), windows.high), epsilon)

    def counts(self, offsets: Indices, values: Indices, counts: Indices) -> Indices:
        """Return for each entry of each set the number of rows of the set that are near it, its own included."""
        return WindowCounter(self.windows).counts(offsets, values, counts)

    def near(self, rows: Indices, columns: Indices) -> NDArray[np.bool_]:
        """Return for each pair of values whether the second is near the first."""
        rank, other = self.windows.rank[rows][:, None], self.windows.rank[columns][None, :]
        return np.asarray((self.windows.low[rank] <= other) & (other < self.windows.high[rank]))


@dataclass(frozen=True, eq=False)
class NeighbourSets:
    """Sets of values of which two are near if a value of one is near a value of the other; one bit per pair of sets.

    >>> near = NeighbourSets(np.array([[0b11], [0b11], [0b100]], np.uint64))
    >>> near.counts(np.array([0, 3]), np.arange(3), np.array([2, 1, 4])).tolist()
    [3, 3, 4]
    """

    bits: NDArray[np.uint64]
    """Bit t of row s, in words of 64: whether the sets s and t are near."""
    windows: None = None
    """There is no order in which neighbours are consecutive."""

    def counts(self, offsets: Indices, values: Indices, counts: Indices) -> Indices:
        """Return for each entry of each set of units how many of them have values near its own, itself included."""
        from sfumato.kernels.neighbour_bitset import bitset_counts

        out = np.empty(len(values), np.int64)
        bitset_counts(self.bits, offsets, values, counts, out)
        return out


@dataclass(frozen=True, eq=False)
class OneSidedNeighbours:
    """For each value those near values that follow it in some order, and itself; one bit per pair of values.

    Unlike other neighbours they are not symmetric: of two near values, the one that comes first has the other.

    >>> OneSidedNeighbours(np.array([[0b11], [0b10]], np.uint64)).bits.tolist()
    [[3], [2]]
    """

    bits: NDArray[np.uint64]
    """Bit w of row v, in words of 64: whether the value w is near v and follows it."""
    windows: None = None
    """There is no order in which neighbours are consecutive."""


@dataclass(frozen=True, eq=False)
class GuardedNeighbours:
    """The neighbours of some values only: a value that is not guarded has none, and may be the neighbour of a guarded one.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [5, 6, 7]}), sf.Schema(sensitive=["x"]))
    >>> graph = NeighbourGraph(table.attribute(["x"]), sf.distances.Absolute(), epsilon=1)
    >>> GuardedNeighbours.of(graph, np.array([True, False, False])).near(np.arange(3), np.arange(3)).tolist()
    [[True, True, False], [False, False, False], [False, False, False]]
    """

    graph: NeighbourGraph
    guarded: NDArray[np.bool_]
    windows: Windows | None
    """Those of the graph, with an empty window at each value that is not guarded."""

    @classmethod
    def of(cls, graph: NeighbourGraph, guarded: NDArray[np.bool_]) -> GuardedNeighbours:
        """Keep the neighbours of the guarded values of a graph."""
        windows = graph.windows
        if windows is not None:
            of_rank = np.empty(len(guarded), bool)
            of_rank[windows.rank] = guarded
            own = np.arange(len(guarded))
            windows = Windows(windows.rank, np.where(of_rank, windows.low, own), np.where(of_rank, windows.high, own))
        return cls(graph, guarded, windows)

    def near(self, rows: Indices, columns: Indices) -> NDArray[np.bool_]:
        """Return for each pair of values whether the first is guarded and the second near it."""
        return self.graph.near(rows, columns) & self.guarded[rows][:, None]

    def bits(self) -> NDArray[np.uint64]:
        """Return which values are near which guarded ones: bit w of row v, in words of 64."""
        size = len(self.guarded)
        counter = self.graph.counter
        if not isinstance(counter, BitsetCounter):
            counter = BitsetCounter(self.graph.bound, self.graph.epsilon, size)
        return np.where(self.guarded[:, None], counter.bits, np.uint64(0))


Neighbours = NeighbourGraph | NeighbourWindows
"""Which values are near one another: `counts`, `near` and `windows` have one meaning in both."""
