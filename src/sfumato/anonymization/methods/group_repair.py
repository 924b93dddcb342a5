"""Repair the groups in which exchanges left excess: search the whole table, pack again, colour, merge."""

from __future__ import annotations

import numpy as np

from sfumato.anonymization.methods.packing import repack_around
from sfumato.anonymization.methods.search_state import SearchState
from sfumato.anonymization.methods.xcolor import exchange, guarantee, initialize
from sfumato.kernels.group_packing import crowding

_FEW = 200
"""This many rows with excess are few in a table of any size."""

_IDLE_ROUNDS = 3
"""Merging ends after this many rounds without fewer bad rows: with limits on neighbours, larger groups may not help."""

_ROUNDS = 50
"""Merging ends after this many rounds: each merges every group with excess, so that few are left to the last ones."""

_LOOKS = 1_000
"""The number of times that a row may look at a group for a partner while groups are coloured, for each row."""

_LEAST_LOOKS = 10_000_000
"""The same for a table of any size."""

_LARGEST_GROUP = 2_000
"""Groups of more rows are not merged further for the sake of a limit on neighbours, which are counted pair by pair."""


def repair(state: SearchState, effort: int) -> None:
    """Try every way, from the cheapest to the surest, until no group has excess.

    If merging leaves more rows in groups with excess than before, its result is discarded.
    """
    search_everywhere(state)
    if state.excess > 0 and state.can_be_packed:
        if state.bad_rows <= state.rows // 10:
            repack_around(state)
        colour_if_guaranteed(state)
    before, bad = state.labels.copy(), state.bad_rows
    least, idle, others = bad, 0, 1
    for _ in range(_ROUNDS):
        if state.excess <= 0 or len(state.arrays.size) <= 1 or idle >= _IDLE_ROUNDS:
            break
        if state.constraints.neighbour_limits and state.arrays.size.max() > _LARGEST_GROUP:
            break
        merge_groups(state, others)
        # under conditions on histograms a bad group may need many rows: it grows faster and faster
        others = 1 if state.constraints.neighbour_limits else 2 * others
        if state.bad_rows < state.rows // 10:
            state.exchange_bad_rows(4 * effort, window=200)
        idle = 0 if state.bad_rows < least or not state.constraints.neighbour_limits else idle + 1
        least = min(least, state.bad_rows)
    if state.bad_rows > bad:
        state.regroup(before)


def search_everywhere(state: SearchState) -> None:
    """Search the whole table for partners of the last few rows with excess, with heat, so that the excess can move."""
    bad = state.bad_rows
    if not 0 < bad <= max(_FEW, state.rows // 100):
        return
    for _ in range(8):
        state.new_order()
        state.exchange_pass(int(min(state.rows, 200_000 // bad + 1)), state.rows, 2.0, state.prohibitive, focus=True)
        if state.excess <= 0:
            return


def colour_if_guaranteed(state: SearchState) -> None:
    """Start again from equitable groups and exchange as XColor does, if its bound guarantees that no excess is left."""
    limit = state.constraints.neighbour_limits[0]
    if state.excess <= 0 or not limit.symmetric:
        return
    everyone, near = np.arange(state.rows), np.empty(state.rows, np.int64)
    crowding(state.neighbour_limits, everyone, everyone, near)  # counts each row itself
    start = initialize(near - 1, state.packed_size)
    if near.max() - 1 < guarantee(np.bincount(start), limit.allowed):
        looks = max(_LEAST_LOOKS, _LOOKS * state.rows)
        result = exchange(start, limit.values, limit.near, limit.allowed, state.place, state.shares, looks=looks)
        state.regroup(result.of_row)


def merge_groups(state: SearchState, others: int = 1) -> None:
    """Merge every group with excess into a neighbour along a good order: one without excess first, then the cheaper.

    With `others` above 1, up to that many groups on either side join too.
    """
    line, _ = state.group_order()
    count = len(line)
    into = np.arange(count)
    used = np.zeros(count, bool)  # the groups that have been merged in this round
    for i, group in enumerate(line):
        if state.arrays.excess[group] <= 0 or used[group]:
            continue
        beside = [line[j] for j in (i - 1, i + 1) if 0 <= j < count]
        if not beside:
            continue
        free = [other for other in beside if not used[other]] or beside
        other = min(free, key=lambda g: (state.arrays.excess[g] > 0, state.cost_of_union(int(group), int(g))))
        into[group] = into[other]
        used[group] = used[other] = True
        # further groups, outwards along the order
        for step in range(2, others + 1):
            for j in (i - step, i + step):
                if 0 <= j < count and not used[line[j]]:
                    into[line[j]] = into[group]
                    used[line[j]] = True
    _, labels = np.unique(into[state.labels], return_inverse=True)
    state.regroup(labels)
