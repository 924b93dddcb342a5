"""An order of the rows in which similar rows are adjacent, and the random numbers of the search."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import inlined, kernel, subroutine
from sfumato.kernels.selection import select, sort

_SPARSE = 8
"""Rows are sparse in an attribute if the places from the lowest to the highest are more than this many times the rows."""


@inlined
def extent(place: Any, order: Any, start: Any, stop: Any, j: Any) -> Any:
    """Return the lowest and highest place of the rows `order[start:stop]` in attribute j, and whether they are sparse."""
    low, high = 1 << 60, -1
    for i in range(start, stop):
        p = int(place[order[i], j])
        low, high = min(low, p), max(high, p)
    return low, high, high - low > _SPARSE * (stop - start)


@inlined
def occupied_places(
    place: Any, order: Any, start: Any, stop: Any, j: Any, low: Any, high: Any, sparse: Any, counts: Any, occupied: Any
) -> Any:  # fmt: skip
    """List the places of the rows `order[start:stop]` in attribute j, ascending, in `occupied`; return how many differ.

    `low`, `high` and `sparse` are those of `extent`. `counts[p]` becomes the number of rows at each place that occurs;
    other places keep their old content. `occupied` has room for all rows. Cost: linear; where the rows are sparse they are
    sorted, because looking at every place in between would cost the size of the domain for each small set of rows.
    """
    distinct = 0
    if sparse:
        for i in range(start, stop):
            occupied[i - start] = place[order[i], j]
        sort(occupied, stop - start)
        for i in range(stop - start):
            p = occupied[i]
            if distinct > 0 and occupied[distinct - 1] == p:
                counts[p] += 1
            else:
                occupied[distinct] = p
                counts[p] = 1
                distinct += 1
    else:
        for p in range(low, high + 1):
            counts[p] = 0
        for i in range(start, stop):
            counts[place[order[i], j]] += 1
        for p in range(low, high + 1):
            if counts[p] > 0:
                occupied[distinct] = p
                distinct += 1
    return distinct


@inlined
def _random_cut(
    place: Any, order: Any, start: Any, stop: Any, j: Any, low: Any, high: Any, counted: Any, wanted: Any, counts: Any,
    scratch: Any,
) -> Any:  # fmt: skip
    """Return the lowest place at or below which there are at least `wanted` rows, and the number of those rows.

    But a place below the highest. `counted`: whether `counts` holds the rows at each place from `low` to `high`.
    """
    left, cut = 0, low
    if counted:
        for p in range(low, high):
            left += counts[p]
            cut = p
            if left >= wanted:
                break
    else:
        for i in range(start, stop):
            scratch[i - start] = place[order[i], j]
        cut, below, left = select(scratch, stop - start, max(wanted - 1, 0))
        if cut == high:
            cut, left = high - 1, below
    return cut, left


@inlined
def _best_split(
    shares: Any, place: Any, order: Any, start: Any, stop: Any, counts: Any, occupied: Any, random: Any, state: Any
) -> Any:  # fmt: skip
    """Return the attribute and the last place of the lower half at which to split the rows `order[start:stop]`.

    The attribute is -1 if all rows are equal. Without `random`, the split saves most: for every cut, the rows of each half
    times the share that the half saves, weighted by the square of the attribute's share, so that costly attributes come
    first. With `random`, each attribute proposes one cut between the first and the third quartile, and chance, weighted by
    share and balance, decides between the attributes.
    """
    rows = stop - start
    best, best_j, best_cut = -1.0, -1, -1
    for j in range(place.shape[1]):
        low, high, sparse = extent(place, order, start, stop, j)
        if low == high:
            continue
        # only the share of a set depends on how many places differ, and a random cut on nothing but ranks
        counted = not (random and sparse)
        distinct = 0
        if counted or shares.kind[j] == SET:
            distinct = occupied_places(place, order, start, stop, j, low, high, sparse, counts, occupied)
        full = share(shares, j, low, high, distinct)
        if full <= 0.0:
            full = 1e-12  # a split that saves nothing is still better than none
        if random:
            wanted = int(rows * (0.25 + 0.5 * uniform(state)))
            cut, left = _random_cut(place, order, start, stop, j, low, high, counted, wanted, counts, occupied)
            saved = full * (0.2 + uniform(state)) * (min(left, rows - left) / rows + 0.05)
            if saved > best:
                best, best_j, best_cut = saved, j, cut
            continue
        # `left` rows of `seen` distinct places are at or below p
        left = 0
        for seen in range(1, distinct):
            p, after = occupied[seen - 1], occupied[seen]
            left += counts[p]
            below = share(shares, j, low, p, seen)
            above = share(shares, j, after, high, distinct - seen)
            saved = (left * (full - below) + (rows - left) * (full - above)) * full * full
            if saved > best:
                best, best_j, best_cut = saved, j, p
    return best_j, best_cut


@kernel
def tree_order(shares: Any, place: Any, order: Any, coarse: Any, leaf: Any, random: Any, state: Any) -> None:
    """Permute `order` by splitting the rows recursively, so that similar rows are adjacent.

    Each set of more than `leaf` rows is split in two (see `_best_split`), and the half that agrees with the preceding row
    comes first. Weighting by the square of the attribute's share gave the least loss on real tables. `coarse[i]` becomes
    the number of rows of the set that was split before position i: large where the order is cut coarsely. `state` is the
    state of the random numbers. Cost: rows times attributes times depth, and for the best
    splits times a logarithm where rows are sparse.
    """
    n, d = len(order), place.shape[1]
    widest = 0
    for j in range(d):
        widest = max(widest, shares.size[j])
    counts = np.zeros(widest + 2, np.int64)  # one slot per place, the missing one included
    occupied = np.empty(n, np.int64)  # the places of a set
    right = np.empty(n, np.int64)  # the second half while a set is split
    stack = np.empty((n + 2, 2), np.int64)  # sets order[start:stop] still to be split
    top = 1
    stack[0, 0], stack[0, 1] = 0, n
    while top > 0:
        top -= 1
        start, stop = stack[top, 0], stack[top, 1]
        rows = stop - start
        if rows <= leaf:
            continue
        best_j, best_cut = _best_split(shares, place, order, start, stop, counts, occupied, random, state)
        if best_j < 0:
            continue
        # stable partition; if the preceding row is above the cut, the upper half comes first
        turned = start > 0 and place[order[start - 1], best_j] > best_cut
        end, later = start, 0
        for i in range(start, stop):
            row = order[i]
            if (place[row, best_j] <= best_cut) != turned:
                order[end] = row
                end += 1
            else:
                right[later] = row
                later += 1
        for i in range(later):
            order[end + i] = right[i]
        coarse[end] = rows
        # the first half is split first, so that the second can be turned towards its last row
        stack[top, 0], stack[top, 1] = end, stop
        stack[top + 1, 0], stack[top + 1, 1] = start, end
        top += 2


@subroutine
def draw(state: Any) -> Any:
    """Return the next 64 random bits (Marsaglia's xorshift), the same on every machine; `state[0]` is never 0."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@subroutine
def uniform(state: Any) -> Any:
    """Return a random number in [0, 1): the upper 53 bits over 2^53."""
    return (draw(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
