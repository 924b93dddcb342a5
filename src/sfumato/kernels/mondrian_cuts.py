"""Cuts of sets of rows for Mondrian: the rows of set g are `order[offsets[g]:offsets[g + 1]]`.

`places[row, j]` is the place of a row in the domain of attribute j, `size[j]` the number of places and also the place of
missing values, and `above[j, level, place]` the node above a place in a hierarchy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import SET, TREE
from sfumato.kernels.compile import kernel


@kernel
def covers(order: Any, offsets: Any, places: Any, kind: Any, size: Any, low: Any, high: Any, distinct: Any) -> None:
    """Fill in, for each set and attribute, the first and last place, and for attributes published as sets the distinct ones.

    No set is empty. Cost: one look at every cell.
    """
    for j in range(places.shape[1]):
        # seen[place] is the last set in which a place occurred: counts distinct places without clearing
        seen = np.full(size[j] + 1 if kind[j] == SET else 0, -1, np.int64)
        for g in range(len(offsets) - 1):
            first, last, different = places[order[offsets[g]], j], places[order[offsets[g]], j], 0
            for i in range(offsets[g], offsets[g + 1]):
                place = places[order[i], j]
                first, last = min(first, place), max(last, place)
                if kind[j] == SET and seen[place] != g:
                    seen[place] = g
                    different += 1
            low[g, j], high[g, j], distinct[g, j] = first, last, different


@kernel
def _halves(places: Any, rows: Any, relaxed: bool, part: Any) -> int:
    """Cut at the median place; fill `part[i]` with the half of `rows[i]` and return 2.

    A strict cut is made before or after the median place, whichever gives halves of more similar size; equal places are
    never separated. A relaxed cut fills the first half with rows of the median place, in their order. The places are not
    all equal. Cost: that of sorting.
    """
    count = len(rows)
    ascending = np.sort(places[rows])
    middle = ascending[count // 2]
    below = np.searchsorted(ascending, middle)  # the rows below the median place
    through = np.searchsorted(ascending, middle, side="right")  # the rows up to and including it
    if relaxed:
        room = count // 2 - below
        for i in range(count):
            place = places[rows[i]]
            part[i] = place > middle
            if place == middle:
                part[i] = room <= 0
                room -= 1
        return 2
    before = abs(count - 2 * below) <= abs(count - 2 * through)
    for i in range(count):
        part[i] = places[rows[i]] >= middle if before else places[rows[i]] > middle
    return 2


@kernel
def _children(places: Any, rows: Any, size: int, above: Any, in_two: bool, part: Any) -> Any:
    """Cut into the children of the lowest common ancestor; fill `part[i]` and return the number of parts.

    With `in_two`, adjacent children are joined into two runs of sizes as similar as possible. Missing values go with the
    last child; if all other values are equal, the missing values are cut off. Cost: rows and levels.
    """
    first, last = size, -1  # missing values are not part of the extent
    for i in range(len(rows)):
        place = places[rows[i]]
        first = min(first, place)
        if place < size:
            last = max(last, place)
    if first == last:
        for i in range(len(rows)):
            part[i] = places[rows[i]] == size
        return 2
    # leaves under a node are adjacent, so the first and last place determine the lowest common ancestor
    level = 1
    while above[level, first] != above[level, last]:
        level += 1
    child = above[level - 1]  # the nodes one level below it, numbered along the places
    start = child[first]
    rows_of = np.zeros(child[last] - start + 1, np.int64)
    for i in range(len(rows)):
        rows_of[child[min(places[rows[i]], last)] - start] += 1  # min: missing values join the last child
    # number the children that have rows
    number = np.cumsum((rows_of > 0).astype(np.int64)) - 1
    count = number[-1] + 1
    if in_two:
        best = np.argmin(np.abs(len(rows) - 2 * np.cumsum(rows_of)[:-1]))
        number = (np.arange(len(rows_of)) > best).astype(np.int64)
        count = 2
    for i in range(len(rows)):
        part[i] = number[child[min(places[rows[i]], last)] - start]
    return count


@kernel
def cut(
    order: Any, offsets: Any, places: Any, kind: Any, size: Any, above: Any, attribute: Any, relaxed: bool, in_two: bool,
    part: Any, parts: Any,
) -> None:  # fmt: skip
    """Cut every set g along `attribute[g]`, or leave it whole if that is negative.

    `part[i]` becomes the part of the row `order[i]` within its set, and `parts[g]` the number of parts of set g. Cost: that
    of sorting the places of all rows.
    """
    for g in range(len(offsets) - 1):
        start, stop = offsets[g], offsets[g + 1]
        j = attribute[g]
        if j < 0:
            part[start:stop] = 0
            parts[g] = 1
        elif kind[j] == TREE:
            parts[g] = _children(places[:, j], order[start:stop], size[j], above[j], in_two, part[start:stop])
        else:
            parts[g] = _halves(places[:, j], order[start:stop], relaxed, part[start:stop])
