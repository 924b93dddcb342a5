"""An order of the rows in which near rows stand together."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import share
from sfumato.kernels.compile import kernel


@kernel
def tree_order(shares: Any, place: Any, order: Any, coarse: Any, leaf: Any, random: Any, state: Any) -> None:
    """Order the rows by splitting them again and again, so that near rows stand together.

    Each set of rows is split along the attribute and cut that save most; costly attributes first (the saving is weighed
    by the square of the attribute's cost), which came out best on real tables. The half that agrees with the row just
    before comes first. `random` draws attribute and cut by chance instead, weighed by cost. `coarse[i]` becomes the
    number of rows that the split before position i cut apart. Cost: rows times attributes times depth.
    """
    n, d = place.shape
    widest = 0
    for j in range(d):
        widest = max(widest, shares.size[j])
    counts = np.zeros(widest + 2, np.int64)
    right = np.empty(n, np.int64)
    stack = np.empty((n + 2, 2), np.int64)
    top = 1
    stack[0, 0], stack[0, 1] = 0, n
    while top > 0:
        top -= 1
        start, stop = stack[top, 0], stack[top, 1]
        rows = stop - start
        if rows <= leaf:
            continue
        best, best_j, best_cut = -1.0, -1, -1
        for j in range(d):
            low, high = 1 << 60, -1
            for i in range(start, stop):
                p = int(place[order[i], j])
                low, high = min(low, p), max(high, p)
            if low == high:
                continue
            for p in range(low, high + 1):
                counts[p] = 0
            for i in range(start, stop):
                counts[place[order[i], j]] += 1
            distinct = 0
            for p in range(low, high + 1):
                distinct += counts[p] > 0
            full = share(shares, j, low, high, distinct)
            if full <= 0.0:
                full = 1e-12
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
        if best_j < 0:
            continue
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
        # the first half is done first, so that the second can be turned towards it
        stack[top, 0], stack[top, 1] = end, stop
        stack[top + 1, 0], stack[top + 1, 1] = start, end
        top += 2


@kernel
def draw(state: Any) -> Any:
    """The next 64 random bits (xorshift), the same on every machine."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@kernel
def uniform(state: Any) -> Any:
    """A random number in [0, 1)."""
    return (draw(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
