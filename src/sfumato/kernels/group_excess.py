"""How far a group is from satisfying principles, as a number that search can lower: its excess, 0 when satisfied.

Two forms cover the principles. NeighbourLimits: every tuple may have so many neighbours in its group, by the group's size
(dissimilarity, (ε,m), (δ,l), (α,k), frequency l). HistogramConditions: a condition on the group's histogram of values.
Floats with a tolerance serve the search; whether a principle holds is decided elsewhere, exactly.
"""

from __future__ import annotations

from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from sfumato.kernels.compile import kernel

DISTINCT, ENTROPY, RECURSIVE, APART, ORDERED, VARIANCE, RANGE, GAIN, RATIO = range(9)
"""The shapes; `shape_excess` says what each demands."""


class NeighbourLimits(NamedTuple):
    """Limits on neighbours within a group; limit c speaks of the values `value[c]`."""

    value: Any
    windowed: Any
    """Whether neighbours are windows along an order, else bits."""
    rank: Any
    low: Any
    high: Any
    first: Any
    """Where a limit's rows begin in `bits`."""
    bits: Any
    allowed: Any
    """For each limit and group size how many neighbours a tuple may have; sizes beyond the last count as the last."""
    weight: Any
    """What one neighbour too many costs, to bring limits to one scale."""


class HistogramConditions(NamedTuple):
    """Conditions on a group's histogram; condition h speaks of the values `value[h]`."""

    value: Any
    kind: Any
    first: Any
    """The threshold."""
    second: Any
    """A second parameter."""
    number: Any
    """For each value a number: its size for variance and range, its share of the table for the others."""
    node: Any
    """For each level below the root and value the node it stands under."""
    share: Any
    """For each level and node its share of the table."""
    levels: Any
    tolerance: Any


@kernel
def near(crowds: Any, c: Any, one: Any, other: Any) -> Any:
    """Whether `other` is in the neighbourhood of `one`."""
    if crowds.windowed[c]:
        rank, position = crowds.rank[c, one], crowds.rank[c, other]
        return crowds.low[c, rank] <= position < crowds.high[c, rank]
    word = crowds.bits[crowds.first[c] + one, other >> 6]
    return (word >> np.uint64(other & 63)) & np.uint64(1) != np.uint64(0)


@kernel
def allowed_of(crowds: Any, c: Any, size: Any) -> Any:
    """How many neighbours a tuple may have in a group of a size."""
    return crowds.allowed[c, min(size, crowds.allowed.shape[1] - 1)]


@kernel
def shape_excess(shapes: Any, h: Any, values: Any, size: Any, counts: Any) -> Any:
    """By how much the histogram of `values[:size]` misses a condition, in about the number of rows to change.

    `counts` is scratch, all zeros before and after. Cost: linear in the size, and for ordered values in their number.
    """
    kind, first, second = shapes.kind[h], shapes.first[h], shapes.second[h]
    n = float(size)
    out = 0.0
    distinct = 0
    for i in range(size):
        counts[values[i]] += 1
        if counts[values[i]] == 1:
            distinct += 1
    if kind == DISTINCT:
        out = max(0.0, first - distinct)
    elif kind == ENTROPY:
        inner = 0.0
        for i in range(size):
            inner += log(counts[values[i]])
        out = n * max(0.0, first - (log(n) - inner / n) - shapes.tolerance)
    elif kind == RECURSIVE:
        out = _recursive(values, size, counts, first, second, shapes.tolerance)
    elif kind in (VARIANCE, RANGE):
        total, squares = 0.0, 0.0
        low, high = 1e300, -1e300
        for i in range(size):
            x = shapes.number[h, values[i]]
            total += x
            squares += x * x
            low, high = min(low, x), max(high, x)
        level = squares / n - (total / n) ** 2 if kind == VARIANCE else high - low
        out = n * max(0.0, (first - level) / first - shapes.tolerance)
    elif kind == ORDERED:
        reached, table, moved = 0.0, 0.0, 0.0
        places = shapes.levels[h]
        for v in range(places):
            reached += counts[v] / n
            table += shapes.number[h, v]
            moved += abs(reached - table)
        out = n * max(0.0, moved / max(1, places - 1) - first - shapes.tolerance)
    elif kind in (GAIN, RATIO):
        for v in range(shapes.levels[h]):
            p = shapes.number[h, v]
            if kind == GAIN:
                bound = min(first, max(0.0, -log(p))) if second > 0 else first
                out += max(0.0, counts[v] - n * p * (1 + bound) - shapes.tolerance)
            else:
                over, under = counts[v] - n * p * exp(first), n * p * exp(-first) - counts[v]
                out += max(0.0, over + shapes.tolerance) + max(0.0, under + shapes.tolerance)
    for i in range(size):
        counts[values[i]] = 0
    if kind == APART:
        moved = 0.0
        for level in range(shapes.levels[h]):
            moved += 1.0
            for i in range(size):
                counts[shapes.node[h, level, values[i]]] += 1
            for i in range(size):
                node = shapes.node[h, level, values[i]]
                if counts[node] > 0:
                    share = shapes.share[h, level, node]
                    moved += abs(counts[node] / n - share) - share
                    counts[node] = 0
        out = n * max(0.0, moved / (2 * shapes.levels[h]) - first - shapes.tolerance)
    # a miss by a hair is still a miss
    return out + 0.5 if out > 0 else 0.0


@kernel
def _recursive(values: Any, size: Any, counts: Any, c: Any, l: Any, tolerance: Any) -> Any:
    """By how much r₁ reaches c·(r_l + … + r_m)."""
    ranked = np.empty(size, np.int64)
    different = 0
    for i in range(size):
        if counts[values[i]] > 0:
            ranked[different] = counts[values[i]]
            counts[values[i]] = -counts[values[i]]
            different += 1
    for i in range(size):
        counts[values[i]] = abs(counts[values[i]])
    ordered = np.sort(ranked[:different])[::-1]
    tail = 0
    for i in range(int(l) - 1, different):
        tail += ordered[i]
    gap = ordered[0] - c * tail
    return 0.0 if gap < -tolerance else gap + 0.5
