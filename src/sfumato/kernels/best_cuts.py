"""Cut groups again and again where that saves most loss, as long as both parts satisfy the conditions on histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import share
from sfumato.kernels.compile import inlined, kernel
from sfumato.kernels.group_excess import DISTINCT, counts_excess
from sfumato.kernels.row_order import extent, occupied_places


@inlined
def _side_fits(conditions: Any, counts: Any, different: Any, size: Any, slack: Any, scratch: Any) -> Any:
    """Return whether a part of a set may be a group: its excess is at most `slack` per row.

    Distinct values are required in full: a larger part does not need fewer of them.
    """
    fits = True
    for h in range(len(conditions.kind)):
        if fits:
            if conditions.kind[h] == DISTINCT:
                fits = different[h] >= conditions.first[h]
            else:
                fits = counts_excess(conditions, h, counts[h], 0, size, -1, -1, scratch) <= slack * size
    return fits


@inlined
def _move(conditions: Any, row: Any, left: Any, right: Any, left_different: Any, right_different: Any) -> None:
    """Move a row from the right part to the left one: update the histograms, and how many values each of them has."""
    for h in range(len(conditions.kind)):
        v = conditions.value[h, row]
        left[h, v] += 1
        left_different[h] += left[h, v] == 1
        right[h, v] -= 1
        right_different[h] -= right[h, v] == 0


@inlined
def _best_cut(
    shares: Any, place: Any, conditions: Any, order: Any, start: Any, stop: Any, least: Any, slack: Any, counts: Any,
    occupied: Any, ordered: Any, left: Any, right: Any, left_different: Any, right_different: Any, scratch: Any,
) -> Any:  # fmt: skip
    """Return the attribute and the last place of the lower part at which to cut the rows `order[start:stop]`.

    The attribute is -1 if no cut is allowed. Of the allowed cuts the one is taken that saves most: the rows of each part
    times the share that the part saves in this attribute.
    """
    rows = stop - start
    best, best_j, best_cut = 0.0, -1, -1
    # the histogram of the whole set is in `right`
    right[:] = 0
    left[:] = 0
    right_different[:] = 0
    for h in range(len(conditions.kind)):
        for i in range(start, stop):
            v = conditions.value[h, order[i]]
            right[h, v] += 1
            right_different[h] += right[h, v] == 1
    for j in range(place.shape[1]):
        low, high, sparse = extent(place, order, start, stop, j)
        if low == high:
            continue
        distinct = occupied_places(place, order, start, stop, j, low, high, sparse, counts, occupied)
        full = share(shares, j, low, high, distinct)
        # counting sort of the rows by place; counts[p] becomes the end of the rows at or below p
        total = 0
        for i in range(distinct):
            p = occupied[i]
            total += counts[p]
            counts[p] = total - counts[p]
        for i in range(start, stop):
            p = place[order[i], j]
            ordered[counts[p]] = order[i]
            counts[p] += 1
        taken = 0
        for seen in range(1, distinct):
            p, after = occupied[seen - 1], occupied[seen]
            while taken < counts[p]:
                _move(conditions, ordered[taken], left, right, left_different, right_different)
                taken += 1
            if taken >= least and rows - taken >= least:
                below = share(shares, j, low, p, seen)
                above = share(shares, j, after, high, distinct - seen)
                saved = taken * (full - below) + (rows - taken) * (full - above)
                if (
                    saved > best
                    and _side_fits(conditions, left, left_different, taken, slack, scratch)
                    and _side_fits(conditions, right, right_different, rows - taken, slack, scratch)
                ):
                    best, best_j, best_cut = saved, j, p
        # all rows back to the right part, for the next attribute
        while taken > 0:
            taken -= 1
            _move(conditions, ordered[taken], right, left, right_different, left_different)
    return best_j, best_cut


@kernel
def best_cuts(shares: Any, place: Any, conditions: Any, order: Any, offsets: Any, least: Any, slack: Any, label: Any) -> Any:
    """Cut groups into smaller ones until no cut is allowed; return their number, and fill in the group of each row.

    Group g of the start is `order[offsets[g]:offsets[g + 1]]`; `order` is permuted. A cut is along one attribute. It is
    allowed if each part has at least `least` rows and an excess of at most `slack` per row. Cost: rows times attributes
    times depth, and for each cut that is considered the number of values.
    """
    n, d = place.shape
    widest = 0
    for j in range(d):
        widest = max(widest, shares.size[j])
    counts = np.zeros(widest + 2, np.int64)  # one slot per place, the missing one included
    occupied = np.empty(n, np.int64)  # the places of the current set
    ordered = np.empty(n, np.int64)  # the rows of the current set by place
    right_rows = np.empty(n, np.int64)  # the upper part while a set is cut
    shape = (len(conditions.kind), conditions.number.shape[1])
    left, right = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    left_different, right_different = np.zeros(len(conditions.kind), np.int64), np.zeros(len(conditions.kind), np.int64)
    scratch = np.zeros((3, 2 + conditions.number.shape[1] + conditions.share.shape[2]), np.int64)
    stack = np.empty((n + len(offsets), 2), np.int64)  # sets order[start:stop] still to be cut
    top, groups = 0, 0
    for g in range(len(offsets) - 1):
        stack[top, 0], stack[top, 1] = offsets[g], offsets[g + 1]
        top += 1
    while top > 0:
        top -= 1
        start, stop = stack[top, 0], stack[top, 1]
        best_j, best_cut = -1, -1
        if stop - start >= 2 * least:
            best_j, best_cut = _best_cut(
                shares, place, conditions, order, start, stop, least, slack, counts, occupied, ordered, left,
                right, left_different, right_different, scratch,
            )  # fmt: skip
        if best_j < 0:
            for i in range(start, stop):
                label[order[i]] = groups
            groups += 1
            continue
        end, later = start, 0
        for i in range(start, stop):
            row = order[i]
            if place[row, best_j] <= best_cut:
                order[end] = row
                end += 1
            else:
                right_rows[later] = row
                later += 1
        for i in range(later):
            order[end + i] = right_rows[i]
        stack[top, 0], stack[top, 1] = end, stop
        stack[top + 1, 0], stack[top + 1, 1] = start, end
        top += 2
    return groups
