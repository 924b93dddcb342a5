"""Cuts of sets of rows for Mondrian: the rows of set g are `order[offsets[g]:offsets[g + 1]]`.

`places[row, j]` is the place of a row in the domain of attribute j, `size[j]` the number of places and also the place of
missing values, and `above[j, level, place]` the node above a place in a hierarchy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import SET, TREE
from sfumato.kernels.compile import inlined, kernel
from sfumato.kernels.selection import select


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


@inlined
def _halves(places: Any, order: Any, start: Any, stop: Any, j: Any, relaxed: Any, scratch: Any, part: Any) -> Any:
    """Cut the rows `order[start:stop]` at the median place; fill `part[i]` with the half of `order[i]` and return 2.

    A strict cut is made before or after the median place, whichever gives halves of more similar size; equal places are
    never separated. A relaxed cut fills the first half with rows of the median place, in their order. The places are not
    all equal. Cost: linear, on average.
    """
    count = stop - start
    for i in range(count):
        scratch[i] = places[order[start + i], j]
    middle, below, through = select(scratch, count, count // 2)
    room = count // 2 - below  # the rows of the median place that a relaxed cut adds to the first half
    before = abs(count - 2 * below) <= abs(count - 2 * through)
    for i in range(start, stop):
        place = places[order[i], j]
        if relaxed and place == middle:
            part[i] = room <= 0
            room -= 1
        else:
            part[i] = place > middle or (place == middle and before)
    return 2


@inlined
def _children(
    places: Any, order: Any, start: Any, stop: Any, j: Any, size: Any, above: Any, in_two: Any, number: Any, part: Any
) -> Any:  # fmt: skip
    """Cut the rows `order[start:stop]` into the children of the lowest common ancestor; fill `part[i]`, return the parts.

    With `in_two`, adjacent children are joined into two runs of sizes as similar as possible. Missing values go with the
    last child; if all other values are equal, the missing values are cut off. `number` is scratch. Cost: rows and levels.
    """
    first, last = size, -1  # missing values are not part of the extent
    for i in range(start, stop):
        place = places[order[i], j]
        first = min(first, place)
        if place < size:
            last = max(last, place)
    count = 2
    if first == last:
        for i in range(start, stop):
            part[i] = places[order[i], j] == size
    else:
        # leaves under a node are adjacent, so the first and last place determine the lowest common ancestor
        level = 0  # of its children, which are numbered along the places
        while above[j, level + 1, first] != above[j, level + 1, last]:
            level += 1
        least = above[j, level, first]
        children = above[j, level, last] - least + 1
        # the number of rows of each child; min: missing values join the last one
        for c in range(children):
            number[c] = 0
        for i in range(start, stop):
            number[above[j, level, min(places[order[i], j], last)] - least] += 1
        # then the number of the part of each child
        if in_two:
            best, closest, seen = -1, 2 * (stop - start), 0
            for c in range(children - 1):
                seen += number[c]
                difference = abs(stop - start - 2 * seen)
                if difference < closest:
                    best, closest = c, difference
            for c in range(children):
                number[c] = c > best
        else:
            count = 0
            for c in range(children):
                rows = number[c]
                number[c] = count
                count += rows > 0
        for i in range(start, stop):
            part[i] = number[above[j, level, min(places[order[i], j], last)] - least]
    return count


@kernel
def cut(
    order: Any, offsets: Any, places: Any, kind: Any, size: Any, above: Any, attribute: Any, relaxed: bool, in_two: bool,
    part: Any, parts: Any,
) -> None:  # fmt: skip
    """Cut every set g along `attribute[g]`, or leave it whole if that is negative.

    `part[i]` becomes the part of the row `order[i]` within its set, and `parts[g]` the number of parts of set g. Cost:
    linear in the rows, on average.
    """
    scratch = np.empty(len(order), np.int64)
    number = np.empty(above.shape[2] + 1, np.int64)
    for g in range(len(offsets) - 1):
        start, stop = offsets[g], offsets[g + 1]
        j = attribute[g]
        if j < 0:
            for i in range(start, stop):
                part[i] = 0
            parts[g] = 1
        elif kind[j] == TREE:
            parts[g] = _children(places, order, start, stop, j, size[j], above, in_two, number, part)
        else:
            parts[g] = _halves(places, order, start, stop, j, relaxed, scratch, part)
