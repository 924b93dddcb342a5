"""What the local search keeps about each group and row, so that a change is evaluated without looking at the whole group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato.kernels.array_records import by_reference
from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import borrowing_kernel, inlined, subroutine
from sfumato.kernels.group_excess import (
    DISTINCT,
    GAIN,
    RATIO,
    allowed_neighbours,
    counts_excess,
    histogram_excess,
    swapped_excess,
)
from sfumato.kernels.group_extent import ends_of
from sfumato.kernels.neighbour_degrees import count_neighbours, meet_crowded, neighbour_excess, update_degrees

NONE = np.int64(-1)
"""No row: as partner, a move instead of a swap."""

_OF_A_CHANGE = 8
"""The work that a change is, for each member of its groups, in members that are looked at for an excess."""


@by_reference
class SearchArrays(NamedTuple):
    """A partition of the rows, with what the search knows of each group and row.

    Invariant: between calls every array describes the current partition. `first[g]`, `size[g]` and `member` hold the rows
    of group g as `member[first[g]:first[g] + size[g]]`, in no particular order.
    """

    place: Any
    """`place[row, j]` is the row's place in the domain of attribute j."""
    group: Any
    """The group of each row."""
    first: Any
    room: Any
    """The capacity of a group in `member`."""
    size: Any
    member: Any
    low: Any
    """`low[g, j]` is the lowest place of the group, `low_next[g, j]` the second lowest (equal places count twice)."""
    low_next: Any
    high: Any
    """The highest and the second highest place."""
    high_next: Any
    place_first: Any
    """Where the counts of the places of attribute j in group g begin in `place_counts`; -1 where the places are not counted:
    attributes that are not published as sets, and groups that are small compared with the domain."""
    place_counts: Any
    distinct: Any
    """`distinct[g, j]` is the number of distinct places, where they are counted."""
    value_first: Any
    """Where the histogram of group g under condition h begins in `value_counts`; -1 where there is none: groups that are
    small compared with the number of values."""
    value_counts: Any
    different: Any
    """`different[h, g]` is the number of distinct values, where there is a histogram."""
    missing: Any
    """`missing[h, g]` is the excess of group g under condition h alone, where there is a histogram."""
    loss: Any
    """The loss of each group: the cost of its cells times its size."""
    excess: Any
    """The excess of each group."""
    degree: Any
    """`degree[c, row]` is the number of neighbours of the row in its group under limit c."""
    gain: Any
    """By how much the cost of a group's cells falls when the row leaves; at least 0."""
    best_gain: Any
    """For each group the largest gain of its rows, times its size."""
    relief: Any
    """An upper bound on how much of its group's excess disappears when the row leaves."""
    best_relief: Any
    """For each group the largest relief of its rows."""
    scratch: Any
    """Scratch of `histogram_excess`; its first row is all zeros between calls."""
    values: Any
    """Scratch: the values of a changed group."""
    tally: Any
    """Scratch: the number of rows with a place; all zeros between calls."""
    seen: Any
    """Scratch: the value of `clock` at which a place last occurred; counts distinct places without clearing."""
    clock: Any
    """`clock[0]` only grows."""
    work: Any
    """`work[0]` counts the members of groups that were looked at for an excess or after a change."""
    along: Any
    """Scratch: one entry for each position in the order of a limit's values, and one more."""
    known_at: Any
    """Scratch: the value of `clock` at which the excesses below were computed for a combination of values."""
    known: Any
    """Scratch: `known[0, v]` and `known[1, v]` are the excesses of both groups after a swap with a row of combination v."""


# ------------------------------------------------------------------------------ the value of a group after a change


@inlined
def _distinct_places(st: Any, g: Any, j: Any, out: Any, into: Any) -> Any:
    """Return the distinct places of attribute j if row `out` left and row `into` joined.

    Cost: constant where the places are counted, else the size of the group.
    """
    at = st.place_first[g, j]
    if at >= 0:
        distinct = st.distinct[g, j]
        if min(out, into) == NONE or st.place[out, j] != st.place[into, j]:
            if out != NONE and st.place_counts[at + st.place[out, j]] == 1:
                distinct -= 1
            if into != NONE and st.place_counts[at + st.place[into, j]] == 0:
                distinct += 1
    else:
        st.clock[0] += 1
        st.work[0] += st.size[g]
        now, distinct = st.clock[0], 0
        if into != NONE:
            st.seen[st.place[into, j]] = now
            distinct = 1
        for i in range(st.first[g], st.first[g] + st.size[g]):
            row = st.member[i]
            if row != out and st.seen[st.place[row, j]] != now:
                st.seen[st.place[row, j]] = now
                distinct += 1
    return distinct


@inlined
def cell_cost(shares: Any, st: Any, g: Any, out: Any, into: Any, most: Any) -> Any:
    """Return the cost of a group's cells if row `out` left and row `into` joined.

    Stops as soon as the cost is above `most`; the result is then any number above it. Cost: the attributes, and the size for
    attributes published as sets whose places are not counted.
    """
    total = 0.0
    for j in range(st.place.shape[1]):
        # the extent after the change; a row that leaves from an end exposes the next place
        low, high = st.low[g, j], st.high[g, j]
        if out != NONE:
            p = st.place[out, j]
            if p == low:
                low = st.low_next[g, j]
            if p == high:
                high = st.high_next[g, j]
        if into != NONE:
            p = st.place[into, j]
            low, high = min(low, p), max(high, p)
        if low != high:
            distinct = 0
            if shares.kind[j] == SET and high != shares.size[j]:
                distinct = _distinct_places(st, g, j, out, into)
            total += share(shares, j, low, high, distinct)
            if total > most:
                break
    return total


@inlined
def excess_after(limits: Any, conditions: Any, st: Any, g: Any, out: Any, into: Any, bound: Any) -> Any:
    """Return a group's excess if row `out` left and row `into` joined.

    Stops as soon as the excess is above the bound; the result is then any number above it. Cost: the size times the limits,
    and for each condition the number of values or the size, whichever is kept.
    """
    total = 0.0
    if min(out, into) != NONE and _same_values(limits, conditions, out, into):
        total = st.excess[g]
    else:
        st.work[0] += st.size[g]
        size = st.size[g] - (out != NONE) + (into != NONE)
        if len(limits.windowed) > 0:
            total = neighbour_excess(limits, st.member, st.degree, st.first[g], st.size[g], size, out, into, bound)
        for h in range(len(conditions.kind)):
            if total <= bound:
                total += _condition_excess(conditions, st, h, g, out, into, size)
    return total


@inlined
def _same_values(limits: Any, conditions: Any, one: Any, other: Any) -> Any:
    """Return whether two rows have the same values under all limits and conditions: exchanging them changes no excess."""
    same = True
    for c in range(len(limits.windowed)):
        same = same and limits.value[c, one] == limits.value[c, other]
    for h in range(len(conditions.kind)):
        same = same and conditions.value[h, one] == conditions.value[h, other]
    return same


@inlined
def _condition_excess(conditions: Any, st: Any, h: Any, g: Any, out: Any, into: Any, size: Any) -> Any:
    """Return by how much a group misses condition h if row `out` left and row `into` joined; `size` is its size then."""
    gone = conditions.value[h, out] if out != NONE else -1
    come = conditions.value[h, into] if into != NONE else -1
    at = st.value_first[h, g]
    if at < 0:
        found = _member_excess(conditions, h, st.member, st.first[g], st.size[g], out, come, st.values, st.scratch)
    elif conditions.kind[h] == DISTINCT:
        different = st.different[h, g]
        if gone != come:
            if gone >= 0 and st.value_counts[at + gone] == 1:
                different -= 1
            if come >= 0 and st.value_counts[at + come] == 0:
                different += 1
        lacking = max(0.0, conditions.first[h] - different)
        found = lacking + 0.5 if lacking > 0 else 0.0  # as `entries_excess`
    elif conditions.kind[h] in (GAIN, RATIO) and min(gone, come) >= 0:
        found = st.missing[h, g]
        if gone != come:
            found = swapped_excess(conditions, h, st.value_counts, at, size, found, gone, come)
    else:
        found = counts_excess(conditions, h, st.value_counts, at, size, gone, come, st.scratch)
    return found


@subroutine
def _member_excess(
    conditions: Any, h: Any, member: Any, start: Any, size: Any, out: Any, come: Any, values: Any, scratch: Any
) -> Any:
    """Return the same for a group without a histogram, from its members; `come` is the value that joins, or negative."""
    k = 0
    for i in range(start, start + size):
        if member[i] != out:
            values[k] = conditions.value[h, member[i]]
            k += 1
    if come >= 0:
        values[k] = come
        k += 1
    return histogram_excess(conditions, h, values, k, scratch)


@subroutine
def called_cell_cost(shares: Any, st: Any, g: Any, out: Any, into: Any, most: Any) -> Any:
    """Return the same as `cell_cost`: slower to call, and compiled once, for kernels that seldom need it."""
    return cell_cost(shares, st, g, out, into, most)


@subroutine
def called_excess_after(limits: Any, conditions: Any, st: Any, g: Any, out: Any, into: Any, bound: Any) -> Any:
    """Return the same as `excess_after`: slower to call, and compiled once, for kernels that seldom need it."""
    return excess_after(limits, conditions, st, g, out, into, bound)


# ------------------------------------------------------------------------------ keeping the arrays up to date


@inlined
def _refresh_extent(shares: Any, st: Any, g: Any, j: Any) -> Any:
    """Recompute the extent of a group in attribute j, and add to the gain of each row what it saves there by leaving.

    Returns the share of the group's cell.
    """
    start, stop = st.first[g], st.first[g] + st.size[g]
    low, low_next, high, high_next = ends_of(st.place, st.member, start, stop, j)
    st.low[g, j], st.low_next[g, j], st.high[g, j], st.high_next[g, j] = low, low_next, high, high_next
    full = 0.0
    if low != high and shares.kind[j] == SET:
        distinct = 0
        for i in range(start, stop):
            p = st.place[st.member[i], j]
            st.tally[p] += 1
            distinct += st.tally[p] == 1
        full = share(shares, j, low, high, distinct)
        for i in range(start, stop):
            p = st.place[st.member[i], j]
            if st.tally[p] == 1:  # no other row has this place
                left, right = low_next if p == low else low, high_next if p == high else high
                st.gain[st.member[i]] += full - share(shares, j, left, right, distinct - 1)
        for i in range(start, stop):
            st.tally[st.place[st.member[i], j]] = 0
    elif low != high:
        full = share(shares, j, low, high, 0)
        if low != low_next or high != high_next:
            without_low = full - share(shares, j, low_next, high, 0)
            without_high = full - share(shares, j, low, high_next, 0)
            for i in range(start, stop):
                p = st.place[st.member[i], j]
                if p == low:
                    st.gain[st.member[i]] += without_low
                elif p == high:
                    st.gain[st.member[i]] += without_high
    return full


@inlined
def _refresh_relief(limits: Any, conditions: Any, st: Any, g: Any) -> None:
    """Recompute the relief of the rows of a group. Cost: see `meet_crowded`."""
    start, stop = st.first[g], st.first[g] + st.size[g]
    # the excess of a histogram may disappear with any row
    shaped = st.excess[g] if len(conditions.kind) > 0 else 0.0
    for i in range(start, stop):
        st.relief[st.member[i]] = shaped
    if st.excess[g] > 0 and shaped == 0.0:
        # what the row itself has too many, and one for each crowded row whose neighbour it is
        for c in range(len(limits.windowed)):
            t = allowed_neighbours(limits, c, st.size[g])
            for i in range(start, stop):
                st.relief[st.member[i]] += limits.weight[c] * max(0, st.degree[c, st.member[i]] - t)
            st.work[0] += meet_crowded(limits, st.member, st.degree, start, stop, c, t, st.along, st.relief)


@subroutine
def refresh(shares: Any, limits: Any, conditions: Any, st: Any, g: Any, excess: Any) -> None:
    """Recompute the arrays of a group from its members, degrees and excess. Cost: size times attributes."""
    start, stop = st.first[g], st.first[g] + st.size[g]
    for i in range(start, stop):
        st.gain[st.member[i]] = 0.0
    cost = 0.0
    for j in range(st.place.shape[1]):
        cost += _refresh_extent(shares, st, g, j)
    for h in range(len(conditions.kind)):
        if st.value_first[h, g] >= 0:
            st.missing[h, g] = _condition_excess(conditions, st, h, g, NONE, NONE, st.size[g])
    st.excess[g] = excess
    st.loss[g] = cost * st.size[g]
    st.work[0] += _OF_A_CHANGE * st.size[g]
    _refresh_relief(limits, conditions, st, g)
    top_gain, top_relief = 0.0, 0.0
    for i in range(start, stop):
        row = st.member[i]
        if st.gain[row] < 1e-12:  # rounding
            st.gain[row] = 0.0
        top_gain, top_relief = max(top_gain, st.gain[row]), max(top_relief, st.relief[row])
    st.best_gain[g], st.best_relief[g] = top_gain * st.size[g], top_relief


@inlined
def _count(conditions: Any, st: Any, g: Any, row: Any, change: Any) -> None:
    """Count the places and values of a row that joins a group (+1) or leaves it (-1), where the group is counted."""
    for j in range(st.place.shape[1]):
        if st.place_first[g, j] >= 0:
            at = st.place_first[g, j] + st.place[row, j]
            st.place_counts[at] += change
            # a place occurs for the first time, or no longer
            if st.place_counts[at] == (1 if change > 0 else 0):
                st.distinct[g, j] += change
    for h in range(len(conditions.kind)):
        if st.value_first[h, g] >= 0:
            at = st.value_first[h, g] + conditions.value[h, row]
            st.value_counts[at] += change
            if st.value_counts[at] == (1 if change > 0 else 0):
                st.different[h, g] += change


@subroutine
def _refresh_group(shares: Any, limits: Any, conditions: Any, st: Any, g: Any) -> None:
    """Compute everything about a group from its members alone, with counts of zero. Cost: see `count_neighbours`."""
    start, stop = st.first[g], st.first[g] + st.size[g]
    for c in range(len(limits.windowed)):
        count_neighbours(limits, st.member, st.degree, start, stop, c, st.along)
    for i in range(start, stop):
        _count(conditions, st, g, st.member[i], 1)
    excess = excess_after(limits, conditions, st, g, NONE, NONE, 1e300)
    refresh(shares, limits, conditions, st, g, excess)


@borrowing_kernel
def refresh_all(shares: Any, limits: Any, conditions: Any, st: Any) -> None:
    """Compute everything about every group that has rows; all counts are zero before."""
    for g in range(len(st.size)):
        if st.size[g] > 0:
            _refresh_group(shares, limits, conditions, st, g)


@inlined
def leave(limits: Any, conditions: Any, st: Any, g: Any, row: Any) -> None:
    """Remove a row from a group's list: the last member takes its slot."""
    if len(limits.windowed) > 0:
        update_degrees(limits, st.member, st.degree, st.first[g], st.size[g], row, -1)
    last = st.first[g] + st.size[g] - 1
    at = st.first[g]
    while st.member[at] != row:
        at += 1
    st.member[at] = st.member[last]
    st.size[g] -= 1
    _count(conditions, st, g, row, -1)


@inlined
def join(limits: Any, conditions: Any, st: Any, g: Any, row: Any) -> None:
    """Append a row to a group's list; the group has room."""
    st.member[st.first[g] + st.size[g]] = row
    st.size[g] += 1
    st.group[row] = g
    _count(conditions, st, g, row, 1)
    if len(limits.windowed) > 0:
        update_degrees(limits, st.member, st.degree, st.first[g], st.size[g], row, 1)


@subroutine
def apply_change(
    shares: Any, limits: Any, conditions: Any, st: Any, a: Any, there: Any, partner: Any, excess_here: Any, excess_there: Any
) -> None:
    """Move row `a` to group `there`, and the partner, if any, to the group of `a`; both groups then have these excesses."""
    here = st.group[a]
    leave(limits, conditions, st, here, a)
    if partner != NONE:
        leave(limits, conditions, st, there, partner)
        join(limits, conditions, st, here, partner)
    join(limits, conditions, st, there, a)
    refresh(shares, limits, conditions, st, here, excess_here)
    refresh(shares, limits, conditions, st, there, excess_there)


@subroutine
def replace_members(
    shares: Any, limits: Any, conditions: Any, st: Any, one: Any, other: Any, rows: Any, cut: Any, count: Any
) -> None:
    """Let `rows[:cut]` be the members of a group and `rows[cut:count]` those of another; both have room for them.

    The rows are those of both groups, in any order.
    """
    for i in range(count):
        _count(conditions, st, st.group[rows[i]], rows[i], -1)
    st.size[one], st.size[other] = cut, count - cut
    for i in range(count):
        g, at = (one, i) if i < cut else (other, i - cut)
        st.group[rows[i]] = g
        st.member[st.first[g] + at] = rows[i]
    _refresh_group(shares, limits, conditions, st, one)
    _refresh_group(shares, limits, conditions, st, other)
