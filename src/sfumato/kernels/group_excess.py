"""The excess of a group: how far it is from satisfying the principles, as a number that search can lower; 0 if it does.

Two forms cover the principles. A neighbour limit bounds, by the group's size, how many neighbours every tuple has in its
group (dissimilarity, (ε,m), (δ,l), (α,k), frequency l-diversity). A histogram condition is a condition on the counts of
the group's sensitive values. Floats with a tolerance are enough for the search; whether a principle holds is decided
elsewhere, exactly.
"""

from __future__ import annotations

from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from sfumato.kernels.compile import inlined, kernel

DISTINCT, ENTROPY, RECURSIVE, APART, ORDERED, VARIANCE, RANGE, GAIN, RATIO = range(9)
"""The kinds of histogram conditions, with their threshold `first` and their second parameter:

    DISTINCT    at least `first` distinct values
    ENTROPY     an entropy of at least `first`, in nats
    RECURSIVE   r₁ < `first` · (r_l + … + r_m) for the counts in descending order, l = `second`
    APART       an earth mover's distance from the table of at most `first`, over the levels of a hierarchy
    ORDERED     an earth mover's distance from the table of at most `first`, along an order
    VARIANCE    a variance of at least `first`
    RANGE       a range of at least `first`
    GAIN        a relative gain, (share in the group − share in the table) / share in the table, of at most `first`; if
                `second` is above 0, of at most −ln of the share in the table too
    RATIO       for every value of the table |ln(share in the group / share in the table)| below `first`
"""


class NeighbourLimits(NamedTuple):
    """Limits on the neighbours within a group. Limit c is about the values `value[c, row]` of one attribute."""

    value: Any
    windowed: Any
    """For each limit whether the neighbours are windows along an order; else they are bits."""
    rank: Any
    """`rank[c, v]` is the position of value v in the order."""
    low: Any
    """The neighbours of position r are the positions `low[c, r]` up to, not including, `high[c, r]`."""
    high: Any
    first: Any
    """The row of `bits` at which the bit matrix of a limit begins."""
    bits: Any
    """Bit w of row `first[c] + v` says that w is a neighbour of v."""
    allowed: Any
    """`allowed[c, size]` is the number of neighbours that a tuple may have; larger sizes are treated as the last."""
    weight: Any
    """The excess of one neighbour beyond the limit; brings the limits to one scale."""


class HistogramConditions(NamedTuple):
    """Conditions on the histogram of a group. Condition h is about the values `value[h, row]` of one attribute."""

    value: Any
    kind: Any
    first: Any
    """The threshold."""
    second: Any
    """The second parameter of RECURSIVE and GAIN."""
    number: Any
    """`number[h, v]`: the number v itself for VARIANCE and RANGE, the share of v in the table for the others."""
    node: Any
    """`node[h, level, v]` is the node above v on a level below the root, for APART."""
    share: Any
    """`share[h, level, node]` is the share of the table under a node."""
    levels: Any
    """The number of levels for APART, of values for ORDERED, GAIN and RATIO."""
    tolerance: Any
    """A float within this of its threshold counts as equal to it."""


@kernel
def within_reach(limits: Any, c: Any, one: Any, other: Any) -> Any:
    """Return whether value `other` is in the neighbourhood of value `one` under limit c.

    The relation need not be symmetric: a relative window is wider around a larger number.
    """
    if limits.windowed[c]:
        rank, position = limits.rank[c, one], limits.rank[c, other]
        return limits.low[c, rank] <= position < limits.high[c, rank]
    word = limits.bits[limits.first[c] + one, other >> 6]
    return (word >> np.uint64(other & 63)) & np.uint64(1) != np.uint64(0)


@kernel
def allowed_neighbours(limits: Any, c: Any, size: Any) -> Any:
    """Return how many neighbours a tuple may have in a group of a size under limit c."""
    return limits.allowed[c, min(size, limits.allowed.shape[1] - 1)]


@inlined
def _number_excess(conditions: Any, h: Any, values: Any, size: Any) -> Any:
    """Return by how much the variance or the range is below its threshold, relative to it, times the size."""
    n = float(size)
    total, squares = 0.0, 0.0
    low, high = 1e300, -1e300
    for i in range(size):
        x = conditions.number[h, values[i]]
        total += x
        squares += x * x
        low, high = min(low, x), max(high, x)
    level = squares / n - (total / n) ** 2 if conditions.kind[h] == VARIANCE else high - low
    first = conditions.first[h]
    return n * max(0.0, (first - level) / first - conditions.tolerance)


@inlined
def _ordered_excess(conditions: Any, h: Any, size: Any, counts: Any) -> Any:
    """Return by how much the earth mover's distance along an order exceeds its threshold, times the size.

    What must pass each place is the difference of the two cumulative shares there; a step costs 1 / (places - 1).
    """
    n = float(size)
    reached, table, moved = 0.0, 0.0, 0.0
    places = conditions.levels[h]
    for v in range(places):
        reached += counts[v] / n
        table += conditions.number[h, v]
        moved += abs(reached - table)
    return n * max(0.0, moved / max(1, places - 1) - conditions.first[h] - conditions.tolerance)


@inlined
def _share_excess(conditions: Any, h: Any, size: Any, counts: Any) -> Any:
    """Return, in rows, by how much the counts miss the bounds on gains (GAIN) or on ratios (RATIO), summed over values."""
    n, first, second = float(size), conditions.first[h], conditions.second[h]
    out = 0.0
    for v in range(conditions.levels[h]):
        p = conditions.number[h, v]
        if conditions.kind[h] == GAIN:
            bound = min(first, max(0.0, -log(p))) if second > 0 else first
            out += max(0.0, counts[v] - n * p * (1 + bound) - conditions.tolerance)
        else:
            over, under = counts[v] - n * p * exp(first), n * p * exp(-first) - counts[v]
            out += max(0.0, over + conditions.tolerance) + max(0.0, under + conditions.tolerance)
    return out


@inlined
def _tree_excess(conditions: Any, h: Any, values: Any, size: Any, counts: Any) -> Any:
    """Return by how much the earth mover's distance over a hierarchy exceeds its threshold, times the size.

    The distance is the sum over levels of Σ_node |share in the group − share in the table|, over twice the levels. Nodes
    that the group does not have contribute their share in the table: the sum starts at 1 per level and is corrected for
    the nodes that occur. `counts` is all zeros before and after.
    """
    n = float(size)
    moved = 0.0
    for level in range(conditions.levels[h]):
        moved += 1.0
        for i in range(size):
            counts[conditions.node[h, level, values[i]]] += 1
        for i in range(size):
            node = conditions.node[h, level, values[i]]
            if counts[node] > 0:  # each node once: its count is reset
                share = conditions.share[h, level, node]
                moved += abs(counts[node] / n - share) - share
                counts[node] = 0
    return n * max(0.0, moved / (2 * conditions.levels[h]) - conditions.first[h] - conditions.tolerance)


@kernel
def histogram_excess(conditions: Any, h: Any, values: Any, size: Any, counts: Any) -> Any:
    """Return by how much the histogram of `values[:size]` misses condition h, in about the number of rows to change.

    `counts` is scratch, all zeros before and after. Cost: linear in the size; for ORDERED, GAIN and RATIO also in the number
    of values of the attribute.
    """
    kind, first, second = conditions.kind[h], conditions.first[h], conditions.second[h]
    n = float(size)
    out = 0.0
    # the histogram
    distinct = 0
    for i in range(size):
        counts[values[i]] += 1
        if counts[values[i]] == 1:
            distinct += 1
    # the conditions that read it
    if kind == DISTINCT:
        out = max(0.0, first - distinct)
    elif kind == ENTROPY:
        inner = 0.0
        for i in range(size):
            inner += log(counts[values[i]])
        # the entropy is ln n − Σ_rows ln(count of the row's value) / n
        out = n * max(0.0, first - (log(n) - inner / n) - conditions.tolerance)
    elif kind == RECURSIVE:
        out = _recursive_excess(values, size, counts, first, second, conditions.tolerance)
    elif kind in (VARIANCE, RANGE):
        out = _number_excess(conditions, h, values, size)
    elif kind == ORDERED:
        out = _ordered_excess(conditions, h, size, counts)
    elif kind in (GAIN, RATIO):
        out = _share_excess(conditions, h, size, counts)
    for i in range(size):
        counts[values[i]] = 0
    # counts nodes instead of values, so it needs the scratch to be clear
    if kind == APART:
        out = _tree_excess(conditions, h, values, size, counts)
    # even the smallest excess must outweigh rounding
    return out + 0.5 if out > 0 else 0.0


@kernel
def _recursive_excess(values: Any, size: Any, counts: Any, c: Any, l: Any, tolerance: Any) -> Any:
    """Return by how much r₁ reaches c · (r_l + … + r_m), for the counts in descending order. Cost: that of sorting them."""
    # collect each count once: a count that was taken is negative until all are collected
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
