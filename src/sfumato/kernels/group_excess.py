"""The excess of a group: how far it is from satisfying the principles, as a number that search can lower; 0 if it does.

Two forms cover the principles. A neighbour limit bounds, by the group's size, how many neighbours every tuple has in its
group (dissimilarity, (ε,m), (δ,l), (α,k), frequency l-diversity). A histogram condition is a condition on the counts of
the group's sensitive values. Floats with a tolerance are enough for the search; whether a principle holds is decided
elsewhere, exactly.
"""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np

from sfumato.kernels.array_records import by_reference
from sfumato.kernels.compile import kernel, subroutine

DISTINCT, ENTROPY, RECURSIVE, APART, ORDERED, VARIANCE, RANGE, GAIN, RATIO, GUARDED, CHAIN, CYCLE = range(12)
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
    GUARDED     if value 1 occurs (the value 0 stands for all others): at least `first` rows, and a share of value 1 of at
                most `second`
    CHAIN       at most a share `first` of the group in one component of the neighbour graph
    CYCLE       at most a share `first` of the group in one block of the neighbour graph, along an order
"""


@by_reference
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


@by_reference
class HistogramConditions(NamedTuple):
    """Conditions on the histogram of a group. Condition h is about the values `value[h, row]` of one attribute."""

    value: Any
    kind: Any
    first: Any
    """The threshold."""
    second: Any
    """The second parameter of RECURSIVE, GAIN and GUARDED."""
    number: Any
    """`number[h, v]`: the number v itself for VARIANCE and RANGE, the share of v in the table for the others."""
    node: Any
    """`node[h, level, v]` is the node above v on a level below the root, for APART."""
    share: Any
    """`share[h, level, node]` is the share of the table under a node."""
    levels: Any
    """The number of levels for APART, of values for ORDERED, GAIN and RATIO."""
    least: Any
    """`least[h, v]` and `most[h, v]` are the bounds on the share of v in a group, for GAIN and RATIO."""
    most: Any
    width: Any
    """The number of values of the attribute."""
    combination: Any
    """For each row the number of its combination of values under all conditions; rows with the same one are alike."""
    tolerance: Any
    """A float within this of its threshold counts as equal to it."""


@subroutine
def within_reach(limits: Any, c: Any, one: Any, other: Any) -> Any:
    """Return whether value `other` is in the neighbourhood of value `one` under limit c.

    The relation need not be symmetric: a relative window is wider around a larger number.
    """
    if limits.windowed[c]:
        rank, position = limits.rank[c, one], limits.rank[c, other]
        return limits.low[c, rank] <= position < limits.high[c, rank]
    word = limits.bits[limits.first[c] + one, other >> 6]
    return (word >> np.uint64(other & 63)) & np.uint64(1) != np.uint64(0)


@subroutine
def allowed_neighbours(limits: Any, c: Any, size: Any) -> Any:
    """Return how many neighbours a tuple may have in a group of a size under limit c."""
    return limits.allowed[c, min(size, limits.allowed.shape[1] - 1)]


# ------------------------------------------------------------------------------ the excess of a histogram
#
# A histogram is a list of entries: `scratch[1, i]` is a value and `scratch[2, i]` how often it occurs, for each i below
# `different`; every value occurs once. `scratch[0]` is all zeros between calls.


@subroutine
def _number_excess(conditions: Any, h: Any, size: Any, different: Any, scratch: Any) -> Any:
    """Return by how much the variance or the range is below its threshold, relative to it, times the size."""
    n = float(size)
    total, squares = 0.0, 0.0
    low, high = 1e300, -1e300
    for i in range(different):
        x, count = conditions.number[h, scratch[1, i]], scratch[2, i]
        total += count * x
        squares += count * x * x
        low, high = min(low, x), max(high, x)
    level = squares / n - (total / n) ** 2 if conditions.kind[h] == VARIANCE else high - low
    first = conditions.first[h]
    return n * max(0.0, (first - level) / first - conditions.tolerance)


@subroutine
def _ordered_excess(conditions: Any, h: Any, size: Any, different: Any, scratch: Any) -> Any:
    """Return by how much the earth mover's distance along an order exceeds its threshold, times the size.

    What must pass each place is the difference of the two cumulative shares there; a step costs 1 / (places - 1).
    """
    n = float(size)
    for i in range(different):
        scratch[0, scratch[1, i]] = scratch[2, i]
    reached, table, moved = 0.0, 0.0, 0.0
    places = conditions.levels[h]
    for v in range(places):
        reached += scratch[0, v] / n
        table += conditions.number[h, v]
        moved += abs(reached - table)
    for i in range(different):
        scratch[0, scratch[1, i]] = 0
    return n * max(0.0, moved / max(1, places - 1) - conditions.first[h] - conditions.tolerance)


@subroutine
def _share_excess(conditions: Any, h: Any, size: Any, different: Any, scratch: Any) -> Any:
    """Return, in rows, by how much the counts miss the bounds on gains (GAIN) or on ratios (RATIO), summed over values.

    A bound on ratios counts as missed where it is reached, and by every value that is absent.
    """
    n, tolerance = float(size), conditions.tolerance
    out = 0.0
    if conditions.kind[h] == GAIN:
        for i in range(different):
            out += max(0.0, scratch[2, i] - n * conditions.most[h, scratch[1, i]] - tolerance)
        return out
    absent = 1.0  # the share of the absent values in the table
    for i in range(different):
        v, count = scratch[1, i], scratch[2, i]
        absent -= conditions.number[h, v]
        over, under = count - n * conditions.most[h, v], n * conditions.least[h, v] - count
        out += max(0.0, over + tolerance) + max(0.0, under + tolerance)
    lacking = conditions.levels[h] - different
    if lacking > 0:  # least / number is the same for all values
        v = scratch[1, 0]
        out += n * max(0.0, absent) * conditions.least[h, v] / conditions.number[h, v] + lacking * tolerance
    return out


@subroutine
def _tree_excess(conditions: Any, h: Any, size: Any, different: Any, scratch: Any) -> Any:
    """Return by how much the earth mover's distance over a hierarchy exceeds its threshold, times the size.

    The distance is the sum over levels of Σ_node |share in the group − share in the table|, over twice the levels. Nodes
    that the group does not have contribute their share in the table: the sum starts at 1 per level and is corrected for
    the nodes that occur.
    """
    n = float(size)
    moved = 0.0
    for level in range(conditions.levels[h]):
        moved += 1.0
        for i in range(different):
            scratch[0, conditions.node[h, level, scratch[1, i]]] += scratch[2, i]
        for i in range(different):
            node = conditions.node[h, level, scratch[1, i]]
            if scratch[0, node] > 0:  # each node once: its count is reset
                share = conditions.share[h, level, node]
                moved += abs(scratch[0, node] / n - share) - share
                scratch[0, node] = 0
    return n * max(0.0, moved / (2 * conditions.levels[h]) - conditions.first[h] - conditions.tolerance)


@subroutine
def _recursive_excess(conditions: Any, h: Any, different: Any, scratch: Any) -> Any:
    """Return by how much r₁ reaches c · (r_l + … + r_m), for the counts in descending order; clears counts in `scratch`.

    Cost: the entries times l. A sort would allocate, which `local_search` does without.
    """
    tail, largest = 0, 0
    for i in range(different):
        tail += scratch[2, i]
    for _ in range(min(different, int(conditions.second[h]) - 1)):
        top = 0
        for i in range(different):
            if scratch[2, i] > scratch[2, top]:
                top = i
        largest = max(largest, scratch[2, top])
        tail -= scratch[2, top]
        scratch[2, top] = 0
    for i in range(different):  # l = 1: none was taken away
        largest = max(largest, scratch[2, i])
    gap = largest - conditions.first[h] * tail
    return 0.0 if gap < -conditions.tolerance else gap + 0.5


@subroutine
def _sort_entries(different: Any, scratch: Any) -> None:
    """Sort the entries by value, in place: a Shell sort, which allocates nothing."""
    gap = 1
    while gap < different // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, different):
            v, count = scratch[1, i], scratch[2, i]
            at = i
            while at >= gap and scratch[1, at - gap] > v:
                scratch[1, at], scratch[2, at] = scratch[1, at - gap], scratch[2, at - gap]
                at -= gap
            scratch[1, at], scratch[2, at] = v, count
        gap //= 3


@subroutine
def _run_excess(conditions: Any, h: Any, size: Any, different: Any, scratch: Any) -> Any:
    """Return how many rows the runs have beyond the share that one may have, where values are numbered along an order.

    The neighbours of value v end before `number[h, v]`. CHAIN: each value of a run is near the next. CYCLE: each row is near
    the next but one, or there are two near rows. Cost: sorting the entries.
    """
    _sort_entries(different, scratch)
    most, over = conditions.first[h] * size + conditions.tolerance, 0.0
    if conditions.kind[h] == CHAIN:
        held = 0
        for i in range(different):
            held += scratch[2, i]
            if i + 1 == different or scratch[1, i + 1] >= conditions.number[h, scratch[1, i]]:
                over += max(0.0, held - most)
                held = 0
    else:
        # the last two rows, how many the last stands for, and the rows of the block that ends with it
        before, last, standing, held = -1, -1, 0, 0
        for i in range(different):
            v, count = scratch[1, i], scratch[2, i]
            for copy in range(min(count, 2)):  # of several rows two stand for all
                rows = count - 1 if count > 1 and copy == 0 else 1
                if before >= 0 and v < conditions.number[h, before]:
                    held += rows
                else:
                    near = last >= 0 and v < conditions.number[h, last]
                    if not (near and held == standing):  # a block of one row is within that of two
                        over += max(0.0, held - most)
                    held = rows + (standing if near else 0)
                before, last, standing = last, v, rows
        over += max(0.0, held - most)
    return over


@subroutine
def _component_excess(conditions: Any, h: Any, size: Any, different: Any, scratch: Any) -> Any:
    """Return how many rows the components have beyond the share that one may have; `node` has one bit per pair of values.

    Entries are moved so that those of the component come first that have been looked at, then the others of it. Cost: the
    square of the entries.
    """
    most = conditions.first[h] * size + conditions.tolerance
    over, held, reached = 0.0, 0, 0
    for done in range(different):
        if done == reached:  # the component is complete: begin another
            over += max(0.0, held - most)
            held, reached = scratch[2, done], done + 1
        v = scratch[1, done]
        for i in range(reached, different):
            w = scratch[1, i]
            if (conditions.node[h, w >> 6, v] >> (w & 63)) & 1:
                held += scratch[2, i]
                scratch[1, i], scratch[1, reached] = scratch[1, reached], scratch[1, i]
                scratch[2, i], scratch[2, reached] = scratch[2, reached], scratch[2, i]
                reached += 1
    return over + max(0.0, held - most)


@subroutine
def entries_excess(conditions: Any, h: Any, size: Any, different: Any, scratch: Any) -> Any:
    """Return by how much the histogram in `scratch` misses condition h, in about the number of rows to change.

    Cost: the entries; for ORDERED the values of the attribute.
    """
    kind, first = conditions.kind[h], conditions.first[h]
    n = float(size)
    out = 0.0
    if kind == DISTINCT:
        out = max(0.0, first - different)
    elif kind == ENTROPY:
        inner = 0.0
        for i in range(different):
            inner += scratch[2, i] * log(scratch[2, i])
        # the entropy is ln n − Σ_values count · ln(count) / n
        out = n * max(0.0, first - (log(n) - inner / n) - conditions.tolerance)
    elif kind == RECURSIVE:
        out = _recursive_excess(conditions, h, different, scratch)
    elif kind in (VARIANCE, RANGE):
        out = _number_excess(conditions, h, size, different, scratch)
    elif kind == ORDERED:
        out = _ordered_excess(conditions, h, size, different, scratch)
    elif kind in (GAIN, RATIO):
        out = _share_excess(conditions, h, size, different, scratch)
    elif kind == GUARDED:
        for i in range(different):
            if scratch[1, i] == 1:
                over = scratch[2, i] - n * conditions.second[h] - conditions.tolerance
                out = max(0.0, over) + max(0.0, first - n)
    elif kind in (CHAIN, CYCLE) and conditions.levels[h] > 0:
        out = _component_excess(conditions, h, size, different, scratch)
    elif kind in (CHAIN, CYCLE):
        out = _run_excess(conditions, h, size, different, scratch)
    elif kind == APART:
        out = _tree_excess(conditions, h, size, different, scratch)
    # even the smallest excess must outweigh rounding
    return out + 0.5 if out > 0 else 0.0


@subroutine
def _miss(conditions: Any, h: Any, v: Any, count: Any, size: Any) -> Any:
    """Return, in rows, by how much a count of value v in a group of a size misses its bounds, for GAIN and RATIO."""
    over = count - size * conditions.most[h, v]
    if conditions.kind[h] == GAIN:
        miss = max(0.0, over - conditions.tolerance)
    else:
        under = size * conditions.least[h, v] - count
        miss = max(0.0, over + conditions.tolerance) + max(0.0, under + conditions.tolerance)
    return miss


@subroutine
def swapped_excess(conditions: Any, h: Any, counts: Any, first: Any, size: Any, before: Any, out: Any, into: Any) -> Any:
    """Return what `counts_excess` returns for GAIN and RATIO if a row of the value `out` is swapped for one of `into`.

    `before` is the excess before that. The size does not change, so only the two values matter. Cost: constant.
    """
    less, more = counts[first + out], counts[first + into]
    missed = max(0.0, before - 0.5)
    missed += _miss(conditions, h, out, less - 1, size) - _miss(conditions, h, out, less, size)
    missed += _miss(conditions, h, into, more + 1, size) - _miss(conditions, h, into, more, size)
    # half the tolerance: more than rounding, less than what a bound that is reached adds
    return missed + 0.5 if missed > conditions.tolerance / 2 else 0.0


@kernel
def histogram_excess(conditions: Any, h: Any, values: Any, size: Any, scratch: Any) -> Any:
    """Return by how much the histogram of `values[:size]` misses condition h.

    Cost: the size, and that of `entries_excess`.
    """
    different = 0
    for i in range(size):
        v = values[i]
        scratch[0, v] += 1
        if scratch[0, v] == 1:
            scratch[1, different] = v
            different += 1
    for i in range(different):
        v = scratch[1, i]
        scratch[2, i] = scratch[0, v]
        scratch[0, v] = 0
    return entries_excess(conditions, h, size, different, scratch)


@subroutine
def counts_excess(conditions: Any, h: Any, counts: Any, first: Any, size: Any, out: Any, into: Any, scratch: Any) -> Any:
    """Return by how much the histogram `counts[first:first + width]` misses condition h after a change.

    One row of the value `out` leaves and one of the value `into` joins, unless that is negative; `size` is the size after
    that. Cost: the values of the attribute.
    """
    different = 0
    for v in range(conditions.width[h]):
        count = counts[first + v] - (v == out) + (v == into)
        if count > 0:
            scratch[1, different] = v
            scratch[2, different] = count
            different += 1
    return entries_excess(conditions, h, size, different, scratch)
