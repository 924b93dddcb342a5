"""Heavy cliques: values that lie pairwise within ε of one another, and how many rows have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.neighbour_graph import NeighbourGraph, graph_of

_PAIRS, _COSTLY_PAIRS = 1 << 22, 1 << 19
"""How many pairs of values one greedy search examines at most; fewer where the distance of a pair is costly."""

_LOOK = 1 << 11
"""Examining fewer pairs at once than this costs as much as examining this many."""

_STARTS = 2
"""How many values of the highest degree a clique is grown from."""


@dataclass(frozen=True, eq=False)
class Clique:
    """Values that are pairwise near, by their numbers, and how many rows have them."""

    values: NDArray[np.int64]
    count: int
    largest: bool
    """Whether no clique is heavier, for certain."""


def fullest_run(counts: NDArray[np.int64], high: NDArray[np.int64]) -> tuple[int, int, int]:
    """Return the start, end and weight of the heaviest run; the run of position i ends before `high[i]`.

    >>> fullest_run(np.array([1, 5, 2]), np.array([2, 2, 3]))
    (0, 2, 6)
    """
    sums = np.concatenate([[0], np.cumsum(counts)])
    weights = sums[high] - sums[:-1]
    start = int(np.argmax(weights))
    return start, int(high[start]), int(weights[start])


def heavy_clique(graph: NeighbourGraph) -> Clique:
    """Return a heavy clique of the neighbour graph: the heaviest if the distance orders the values, else the best found.

    Along an order in which neighbours are consecutive, a clique lies between its first value and the last neighbour of
    that value, and all values between are near one another. Otherwise, cliques are grown from the values of the highest
    degree, adding the nearest or the heaviest values first; under a metric, all values within ε/2 of one value are a clique,
    which is grown too.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [1, 2, 3, 3, 9]}), sf.Schema(sensitive=["x"]))
    >>> clique = heavy_clique(NeighbourGraph(table.attribute(["x"]), sf.distances.Absolute(), epsilon=1))
    >>> clique.values.tolist(), clique.count, clique.largest
    ([1, 2], 3, True)
    """
    counts = graph.attribute.counts
    windows = graph.windows
    if windows is not None:
        by_rank = np.argsort(windows.rank)
        start, stop, count = fullest_run(counts[by_rank], windows.high)
        return Clique(np.sort(by_rank[start:stop]), count, True)
    if int(graph.degrees.min()) == int(counts.sum()) - 1:
        return Clique(np.arange(len(counts)), int(counts.sum()), True)
    best = max(_grown_cliques(graph), key=lambda values: int(counts[values].sum()))
    return Clique(np.sort(best), int(counts[best].sum()), False)


def _grown_cliques(graph: NeighbourGraph) -> Iterator[NDArray[np.int64]]:
    """Yield cliques, each grown greedily from another start."""
    counts = graph.attribute.counts
    starts = np.lexsort((-counts, -graph.degrees))[:_STARTS]
    for start in (*starts, np.argmax(counts)):
        near = graph.neighbourhood(int(start))
        apart = graph.bound.distances(np.array([start]), near)[0]
        first = np.array([start])
        yield _extended(graph, first, near[np.lexsort((-counts[near], apart))])
        yield _extended(graph, first, near[np.lexsort((apart, -counts[near]))])
    if graph.distance.is_metric:
        half = graph_of(graph.attribute, graph.distance, graph.epsilon / 2)
        centre = int(np.argmax(half.degrees))
        ball = half.neighbourhood(centre)
        # Values near all of the ball are near its centre. The ball's own values are pairwise near (triangle inequality).
        near = graph.neighbourhood(centre)
        outside = near[~np.isin(near, ball)]
        outside = outside[np.argsort(-counts[outside], kind="stable")]
        room = (_COSTLY_PAIRS if graph.bound.costly else _PAIRS) // len(ball)
        outside = outside[:room]
        # a distance of a plug-in need not know what no values are near
        fits = graph.bound.near(outside, ball, graph.epsilon).all(axis=1) if len(outside) else np.zeros(0, bool)
        yield _extended(graph, ball, outside[fits])


def _extended(graph: NeighbourGraph, clique: NDArray[np.int64], candidates: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add candidates in turn, keeping those near all members. All candidates must be near the whole clique at the start."""
    chosen = [clique]
    alive = candidates[~np.isin(candidates, clique)]
    room = _COSTLY_PAIRS if graph.bound.costly else _PAIRS
    while len(alive) and room > 0:
        room -= max(len(alive), _LOOK)
        first, alive = alive[:1], alive[1:]
        chosen.append(first)
        alive = alive[graph.bound.near(first, alive, graph.epsilon)[0]]
    return np.concatenate(chosen)
