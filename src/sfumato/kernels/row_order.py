"""An order of the rows in which similar rows are adjacent, and the random numbers of the search."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import share
from sfumato.kernels.compile import inlined, kernel, subroutine


@inlined
def count_places(place: Any, order: Any, start: Any, stop: Any, j: Any, counts: Any) -> Any:
    """Count the places of the rows `order[start:stop]` in attribute j; return the lowest, the highest and how many differ.

    `counts[low:high + 1]` is filled in. Places outside this range keep their old content.
    """
    low, high = 1 << 60, -1
    for i in range(start, stop):
        p = int(place[order[i], j])
        low, high = min(low, p), max(high, p)
    distinct = 0
    if low != high:
        for p in range(low, high + 1):
            counts[p] = 0
        for i in range(start, stop):
            counts[place[order[i], j]] += 1
        for p in range(low, high + 1):
            distinct += counts[p] > 0
    return low, high, distinct


@inlined
def _best_split(
    shares: Any, place: Any, order: Any, start: Any, stop: Any, counts: Any, random: Any, state: Any
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
        low, high, distinct = count_places(place, order, start, stop, j, counts)
        if low == high:
            continue
        full = share(shares, j, low, high, distinct)
        if full <= 0.0:
            full = 1e-12  # a split that saves nothing is still better than none
        if random:
            wanted = int(rows * (0.25 + 0.5 * uniform(state)))
            left, cut = 0, low
            for p in range(low, high):
                left += counts[p]
                cut = p
                if left >= wanted:
                    break
            saved = full * (0.2 + uniform(state)) * (min(left, rows - left) / rows + 0.05)
            if saved > best:
                best, best_j, best_cut = saved, j, cut
            continue
        # visit the occupied places in order; `left` rows of `seen` distinct places are at or below p
        left, seen, p = 0, 0, low
        while p < high:
            left += counts[p]
            seen += 1
            after = p + 1
            while counts[after] == 0:
                after += 1
            below = share(shares, j, low, p, seen)
            above = share(shares, j, after, high, distinct - seen)
            saved = (left * (full - below) + (rows - left) * (full - above)) * full * full
            if saved > best:
                best, best_j, best_cut = saved, j, p
            p = after
    return best_j, best_cut


@kernel
def tree_order(shares: Any, place: Any, order: Any, coarse: Any, leaf: Any, random: Any, state: Any) -> None:
    """Permute `order` by splitting the rows recursively, so that similar rows are adjacent.

    Each set of more than `leaf` rows is split in two (see `_best_split`), and the half that agrees with the preceding row
    comes first. Weighting by the square of the attribute's share gave the least loss on real tables. `coarse[i]` becomes
    the number of rows of the set that was split before position i: large where the order is cut coarsely. `state` is the
    state of the random numbers. Cost: rows times attributes times depth.
    """
    n, d = len(order), place.shape[1]
    widest = 0
    for j in range(d):
        widest = max(widest, shares.size[j])
    counts = np.zeros(widest + 2, np.int64)  # one slot per place, the missing one included
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
        best_j, best_cut = _best_split(shares, place, order, start, stop, counts, random, state)
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
