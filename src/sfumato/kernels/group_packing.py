"""Pack rows into groups in which no row has too many neighbours: the most crowded values first.

All kernels here respect one limit on neighbours, the first of `limits`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel
from sfumato.kernels.group_excess import allowed_neighbours, within_reach


@kernel
def _rows_by_value(codes: Any, values: Any) -> Any:
    """List the positions of each value: those of `values[v]` are `queue[start[v]:start[v + 1]]`, ascending."""
    n, u = len(codes), len(values)
    local = np.searchsorted(values, codes)
    start = np.zeros(u + 1, np.int64)
    for i in range(n):
        start[local[i] + 1] += 1
    for v in range(u):
        start[v + 1] += start[v]
    fill = start[:-1].copy()
    queue = np.empty(n, np.int64)
    for i in range(n):
        queue[fill[local[i]]] = i
        fill[local[i]] += 1
    return start, queue


@kernel
def _neighbour_lists(limits: Any, values: Any) -> Any:
    """List the neighbours of each value in either direction: those of v are `around[ends[v]:ends[v + 1]]`.

    Either direction, because a row is in conflict with another if either counts the other. Cost: the square of the values.
    """
    u = len(values)
    ends = np.zeros(u + 1, np.int64)
    for v in range(u):
        for w in range(u):
            if within_reach(limits, 0, values[v], values[w]) or within_reach(limits, 0, values[w], values[v]):
                ends[v + 1] += 1
    for v in range(u):
        ends[v + 1] += ends[v]
    around = np.empty(ends[u], np.int64)
    for v in range(u):
        k = ends[v]
        for w in range(u):
            if within_reach(limits, 0, values[v], values[w]) or within_reach(limits, 0, values[w], values[v]):
                around[k] = w
                k += 1
    return ends, around


@kernel
def pack(limits: Any, rows: Any, size: Any, groups: Any, out: Any) -> Any:
    """Pack rows into groups of a size so that no row has more neighbours in its group than allowed there.

    Each group is filled, row by row, with the value whose neighbourhood has the most unassigned rows, among the values
    that fit: crowded values first, so that the rest stays easy. (If values are near only themselves, this is the rule by
    which l-diverse groups can always be formed.) Of a value's rows the one nearest to the group's first row, in the order
    of `rows`, is taken. Rows left over join the groups in which they fit. `out[i]` becomes the group of `rows[i]`, or -1.
    Returns the number of rows without a group. Cost: rows times distinct values.
    """
    n = len(rows)
    codes = np.empty(n, np.int64)
    for i in range(n):
        codes[i] = limits.value[0, rows[i]]
        out[i] = -1
    values = np.unique(codes)
    u = len(values)  # from here on a value is its index in `values`
    start, queue = _rows_by_value(codes, values)
    ends, around = _neighbour_lists(limits, values)
    left = start[1:] - start[:-1]  # for each value its unassigned rows
    crowd = np.zeros(u, np.int64)  # for each value the unassigned rows in its neighbourhood
    for v in range(u):
        for e in range(ends[v], ends[v + 1]):
            crowd[v] += left[around[e]]
    t = allowed_neighbours(limits, 0, size)
    met = np.zeros(u, np.int64)  # for each value the rows of the current group in its neighbourhood
    closed = np.zeros(u, np.bool_)  # the values that a row of the current group cannot take as a further neighbour
    inside = np.empty(size, np.int64)  # the values of the current group
    full = np.empty(size, np.bool_)  # for each of them whether it has all neighbours that it may have
    for g in range(groups):
        met[:] = 0
        closed[:] = False
        full[:] = False
        anchor = -1  # the position of the group's first row
        for k in range(size):
            pick = -1
            for v in range(u):
                if left[v] > 0 and not closed[v] and met[v] <= t and (pick < 0 or crowd[v] > crowd[pick]):
                    pick = v
            if pick < 0:  # the group cannot be filled: its rows become unassigned, and no further group is started
                for i in range(n):
                    if out[i] == g:
                        out[i] = -1
                return _add_leftover(limits, rows, out, g, t)
            taken = _nearest(queue, start[pick], start[pick + 1], out, anchor)
            if anchor < 0:
                anchor = taken
            out[taken] = g
            left[pick] -= 1
            inside[k] = pick
            for e in range(ends[pick], ends[pick + 1]):
                crowd[around[e]] -= 1
                met[around[e]] += 1
            # met counts a row as its own neighbour, hence the - 1
            for q in range(k + 1):
                v = inside[q]
                if met[v] - 1 >= t and not full[q]:
                    full[q] = True
                    for e in range(ends[v], ends[v + 1]):
                        closed[around[e]] = True
    return _add_leftover(limits, rows, out, groups, t)


@kernel
def _nearest(queue: Any, start: Any, stop: Any, out: Any, anchor: Any) -> Any:
    """Return the unassigned position of `queue[start:stop]` that is nearest to an anchor; of two the lower one.

    At least one position is unassigned. Cost: logarithmic, and the assigned positions in between.
    """
    middle = start + np.searchsorted(queue[start:stop], anchor)
    below, above = middle - 1, middle
    while below >= start and out[queue[below]] >= 0:
        below -= 1
    while above < stop and out[queue[above]] >= 0:
        above += 1
    if below < start or (above < stop and queue[above] - anchor < anchor - queue[below]):
        return queue[above]
    return queue[below]


@kernel
def _add_leftover(limits: Any, rows: Any, out: Any, groups: Any, t: Any) -> Any:
    """Add unassigned rows to groups in which no row gets a neighbour too many; return how many remain.

    Of several groups the one with the nearest row, in the order of `rows`, is taken. `t` is the number of neighbours that
    the packed size allows; a larger group never allows fewer. Cost: unassigned rows times rows.
    """
    n, remaining = len(rows), 0
    if groups == 0:
        return n
    degree = _degrees(limits, rows, out, groups)
    for i in range(n):
        if out[i] >= 0:
            continue
        v = limits.value[0, rows[i]]
        bad = np.zeros(groups, np.bool_)  # a row of the group would get a neighbour too many
        met = np.zeros(groups, np.int64)  # the neighbours that row i would have in the group
        nearest = np.full(groups, n, np.int64)
        for q in range(n):
            g = out[q]
            if g < 0:
                continue
            nearest[g] = min(nearest[g], abs(q - i))
            w = limits.value[0, rows[q]]
            if within_reach(limits, 0, w, v) and degree[q] >= t:
                bad[g] = True
            met[g] += within_reach(limits, 0, v, w)
        best = -1
        for g in range(groups):
            if not bad[g] and met[g] <= t and (best < 0 or nearest[g] < nearest[best]):
                best = g
        if best < 0:
            remaining += 1
            continue
        out[i] = best
        degree[i] = met[best]
        for q in range(n):
            if out[q] == best and q != i:
                degree[q] += within_reach(limits, 0, limits.value[0, rows[q]], v)
    return remaining


@kernel
def _degrees(limits: Any, rows: Any, out: Any, groups: Any) -> Any:
    """Return how many neighbours each row has in its group; 0 if unassigned. Cost: rows times the size of their groups."""
    n = len(rows)
    degree = np.zeros(n, np.int64)
    order = np.argsort(out)
    at = 0
    while at < n:  # order[at:end] is one group
        end = at
        while end < n and out[order[end]] == out[order[at]]:
            end += 1
        if out[order[at]] >= 0:
            for i in range(at, end):
                for q in range(at, end):
                    one, other = limits.value[0, rows[order[i]]], limits.value[0, rows[order[q]]]
                    if i != q and within_reach(limits, 0, one, other):
                        degree[order[i]] += 1
        at = end
    return degree


@kernel
def crowding(limits: Any, rows: Any, others: Any, out: Any) -> None:
    """Fill `out[i]` with the number of other rows in the neighbourhood of `rows[i]`.

    Cost: the distinct values of both, multiplied.
    """
    codes, theirs = np.empty(len(rows), np.int64), np.empty(len(others), np.int64)
    for i in range(len(rows)):
        codes[i] = limits.value[0, rows[i]]
    for i in range(len(others)):
        theirs[i] = limits.value[0, others[i]]
    # count pairs of distinct values, each times its multiplicity, instead of pairs of rows
    values, their_values = np.unique(codes), np.unique(theirs)
    counts = np.zeros(len(their_values), np.int64)
    for v in np.searchsorted(their_values, theirs):
        counts[v] += 1
    met = np.zeros(len(values), np.int64)
    for v in range(len(values)):
        for w in range(len(their_values)):
            if within_reach(limits, 0, values[v], their_values[w]):
                met[v] += counts[w]
    at = np.searchsorted(values, codes)
    for i in range(len(rows)):
        out[i] = met[at[i]]
