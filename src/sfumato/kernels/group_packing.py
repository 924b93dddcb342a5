"""Pack rows into groups without a neighbour too many: the most crowded values first."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel
from sfumato.kernels.group_excess import allowed_of, near


@kernel
def pack(crowds: Any, rows: Any, size: Any, groups: Any, out: Any) -> Any:
    """Deal rows into groups of a size so that no row has more neighbours in its group than allowed there.

    Group after group is filled with the value whose neighbourhood holds the most rows still to be dealt, of those that
    fit: whoever is crowded is dealt first, so that what is left stays easy. (For values that are near only themselves
    this is the rule by which l-diverse groups can always be dealt.) Of a value's rows the one that stands nearest to the
    group's first row, in the order given, is taken. Rows left over are added where they fit. `out[i]` is the group of
    `rows[i]`, or -1. Returns how many rows found no group. One limit on neighbours, the first, is looked at.
    Cost: rows times distinct values.
    """
    n = len(rows)
    codes = np.empty(n, np.int64)
    for i in range(n):
        codes[i] = crowds.value[0, rows[i]]
    values = np.unique(codes)
    u = len(values)
    # rows of each value, in the order given
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
    left = start[1:] - start[:-1]
    # neighbours of each value, both ways
    ends = np.zeros(u + 1, np.int64)
    for v in range(u):
        for w in range(u):
            if near(crowds, 0, values[v], values[w]) or near(crowds, 0, values[w], values[v]):
                ends[v + 1] += 1
    for v in range(u):
        ends[v + 1] += ends[v]
    around = np.empty(ends[u], np.int64)
    crowd = np.zeros(u, np.int64)
    for v in range(u):
        k = ends[v]
        for w in range(u):
            if near(crowds, 0, values[v], values[w]) or near(crowds, 0, values[w], values[v]):
                around[k] = w
                k += 1
                crowd[v] += left[w]
    for i in range(n):
        out[i] = -1
    t = allowed_of(crowds, 0, size)
    met = np.zeros(u, np.int64)
    closed = np.zeros(u, np.bool_)
    inside = np.empty(size, np.int64)
    full = np.empty(size, np.bool_)
    for g in range(groups):
        met[:] = 0
        closed[:] = False
        full[:] = False
        anchor = -1
        for k in range(size):
            pick = -1
            for v in range(u):
                if left[v] > 0 and not closed[v] and met[v] <= t and (pick < 0 or crowd[v] > crowd[pick]):
                    pick = v
            if pick < 0:
                for i in range(n):  # this group cannot be filled: its rows are left over
                    if out[i] == g:
                        out[i] = -1
                return _leftover(crowds, rows, out, g, t)
            taken = _nearest(queue, start[pick], start[pick + 1], out, anchor)
            if anchor < 0:
                anchor = taken
            out[taken] = g
            left[pick] -= 1
            inside[k] = pick
            for e in range(ends[pick], ends[pick + 1]):
                crowd[around[e]] -= 1
                met[around[e]] += 1
            for q in range(k + 1):
                v = inside[q]
                if met[v] - 1 >= t and not full[q]:
                    full[q] = True
                    for e in range(ends[v], ends[v + 1]):
                        closed[around[e]] = True
    return _leftover(crowds, rows, out, groups, t)


@kernel
def _nearest(queue: Any, start: Any, stop: Any, out: Any, anchor: Any) -> Any:
    """The position, among those of one value that are still to be dealt, that is nearest to an anchor."""
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
def _leftover(crowds: Any, rows: Any, out: Any, groups: Any, t: Any) -> Any:
    """Add rows that were not dealt to groups in which nobody gets a neighbour too many; return how many remain."""
    n, remaining = len(rows), 0
    if groups == 0:
        return n
    degree = _degrees(crowds, rows, out, groups)
    for i in range(n):
        if out[i] >= 0:
            continue
        v = crowds.value[0, rows[i]]
        bad = np.zeros(groups, np.bool_)
        met = np.zeros(groups, np.int64)
        nearest = np.full(groups, n, np.int64)
        for q in range(n):
            g = out[q]
            if g < 0:
                continue
            nearest[g] = min(nearest[g], abs(q - i))
            w = crowds.value[0, rows[q]]
            if near(crowds, 0, w, v) and degree[q] >= t:
                bad[g] = True
            met[g] += near(crowds, 0, v, w)
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
                degree[q] += near(crowds, 0, crowds.value[0, rows[q]], v)
    return remaining


@kernel
def _degrees(crowds: Any, rows: Any, out: Any, groups: Any) -> Any:
    """How many neighbours each row has in its group. Cost: rows times the size of their groups."""
    n = len(rows)
    degree = np.zeros(n, np.int64)
    order = np.argsort(out)
    at = 0
    while at < n:
        end = at
        while end < n and out[order[end]] == out[order[at]]:
            end += 1
        if out[order[at]] >= 0:
            for i in range(at, end):
                for q in range(at, end):
                    if i != q and near(crowds, 0, crowds.value[0, rows[order[i]]], crowds.value[0, rows[order[q]]]):
                        degree[order[i]] += 1
        at = end
    return degree


@kernel
def crowding(crowds: Any, rows: Any, others: Any, out: Any) -> None:
    """For each of some rows how many of the others are in its neighbourhood.

    Cost: the distinct values of both, multiplied.
    """
    codes, theirs = np.empty(len(rows), np.int64), np.empty(len(others), np.int64)
    for i in range(len(rows)):
        codes[i] = crowds.value[0, rows[i]]
    for i in range(len(others)):
        theirs[i] = crowds.value[0, others[i]]
    values, their_values = np.unique(codes), np.unique(theirs)
    counts = np.zeros(len(their_values), np.int64)
    for v in np.searchsorted(their_values, theirs):
        counts[v] += 1
    met = np.zeros(len(values), np.int64)
    for v in range(len(values)):
        for w in range(len(their_values)):
            if near(crowds, 0, values[v], their_values[w]):
                met[v] += counts[w]
    at = np.searchsorted(values, codes)
    for i in range(len(rows)):
        out[i] = met[at[i]]
