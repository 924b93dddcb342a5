"""Mend what blending left: deal rows anew around bad groups, exchange where that is promised to end well, merge."""

from __future__ import annotations

import numpy as np

from sfumato.anonymization.methods.neighbour_arrays import NeighbourArrays
from sfumato.anonymization.methods.packing import deal_around
from sfumato.anonymization.methods.search_state import DEAR, SearchState
from sfumato.anonymization.methods.xcolor import exchange, guarantee, initialize
from sfumato.kernels.group_packing import crowding

_FEW = 200
"""So many bad rows are few in any table."""

_IDLE = 3
"""Merging ends after so many rounds that left no fewer rows bad: for limits on neighbours larger groups may not help."""

_CROWD = 2_000
"""Neighbours are counted pair by pair: groups of more rows are not merged further for their sake."""


def mend(canvas: SearchState, effort: int) -> None:
    """Try everything, from the cheapest to the surest, until no group has excess."""
    shake(canvas)
    if canvas.excess > 0 and canvas.can_be_dealt:
        if canvas.bad_rows <= canvas.rows // 10:
            deal_around(canvas)
        exchange_if_promised(canvas)
    before, bad = canvas.labels.copy(), canvas.bad_rows
    least, idle = bad, 0
    while canvas.excess > 0 and len(canvas.state.size) > 1 and idle < _IDLE:
        if canvas.limits.crowds and canvas.state.size.max() > _CROWD:
            break
        merge(canvas)
        if canvas.bad_rows < canvas.rows // 10:
            canvas.focus(4 * effort, window=200)
        idle = 0 if canvas.bad_rows < least or not canvas.limits.crowds else idle + 1
        least = min(least, canvas.bad_rows)
    if canvas.bad_rows > bad:
        canvas.regroup(before)  # as little as possible is to fail


def shake(canvas: SearchState) -> None:
    """Look for partners of the last bad rows in the whole table, with heat, so that what cannot be mended here moves on."""
    bad = canvas.bad_rows
    if not 0 < bad <= max(_FEW, canvas.rows // 100):
        return
    for _ in range(8):
        canvas.new_order()
        canvas.turn(int(min(canvas.rows, 200_000 // bad + 1)), canvas.rows, 2.0, DEAR, focus=True)
        if canvas.excess <= 0:
            return


def exchange_if_promised(canvas: SearchState) -> None:
    """Start from equitable groups and exchange, as XColor does, if its bound says that this ends without excess."""
    if canvas.excess <= 0 or all(principle.as_dissimilarity() is None for principle in canvas.task.principles):
        return
    everyone, near = np.arange(canvas.rows), np.empty(canvas.rows, np.int64)
    crowding(canvas.crowds, everyone, everyone, near)
    start, crowd = initialize(near - 1, canvas.dealt_size), canvas.limits.crowds[0]
    if near.max() - 1 < guarantee(np.bincount(start), crowd.allowed):
        near_values = NeighbourArrays.of(crowd.neighbours)
        found = exchange(start, crowd.values, near_values, crowd.allowed, canvas.place, canvas.shares)
        canvas.regroup(found.of_row)


def merge(canvas: SearchState) -> None:
    """Merge every bad group with the one beside it along a good order that costs least."""
    line, _ = canvas.in_line()
    count = len(line)
    into = np.arange(count)
    used = np.zeros(count, bool)
    for i, group in enumerate(line):
        if canvas.state.excess[group] <= 0 or used[group]:
            continue
        beside = [line[j] for j in (i - 1, i + 1) if 0 <= j < count]
        if not beside:
            continue
        free = [other for other in beside if not used[other]] or beside
        other = min(free, key=lambda g: (canvas.state.excess[g] > 0, canvas.joined_cost(int(group), int(g))))
        into[group] = into[other]
        used[group] = used[other] = True
    _, labels = np.unique(into[canvas.labels], return_inverse=True)
    canvas.regroup(labels)
