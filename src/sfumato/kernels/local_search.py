"""Local search over groups: rows swap and move between groups while loss + price · excess falls.

The loss of a group is the cost of its cells (the sum of their shares) times its size. Its excess is what it lacks to
satisfy the principles, see `group_excess`. The search keeps, for each group and row, what it needs to evaluate a change
without looking at the whole group, and bounds that rule out most changes before they are evaluated.
"""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np

from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import inlined, kernel
from sfumato.kernels.group_excess import allowed_neighbours, histogram_excess, within_reach
from sfumato.kernels.group_extent import ends_of
from sfumato.kernels.row_order import draw, uniform

PARTNERS = 24
"""The largest number of members of a group that are tried as partners of a swap; of a larger group a random stretch."""

NONE = -1
"""No row: as partner, a move instead of a swap."""

NO_CHANGE = -2
"""As partner: no change was found."""


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
    counts: Any
    """Scratch of `histogram_excess`, all zeros between calls."""
    values: Any
    """Scratch: the values of a changed group."""
    seen: Any
    """Scratch: the value of `clock` at which a place last occurred; counts distinct places without clearing."""
    clock: Any
    """`clock[0]` only grows."""


# ------------------------------------------------------------------------------ the value of a group after a change


@inlined
def _cell_cost(shares: Any, st: Any, g: Any, out: Any, into: Any) -> Any:
    """Return the cost of a group's cells if row `out` left and row `into` joined.

    Cost: the attributes, times the size for attributes published as sets.
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
        if shares.kind[j] != SET or low == high or high == shares.size[j]:
            total += share(shares, j, low, high, 0)
            continue
        # a set: count its distinct places
        st.clock[0] += 1
        now, distinct = st.clock[0], 0
        if into != NONE:
            st.seen[st.place[into, j]] = now
            distinct = 1
        for i in range(st.first[g], st.first[g] + st.size[g]):
            row = st.member[i]
            if row != out and st.seen[st.place[row, j]] != now:
                st.seen[st.place[row, j]] = now
                distinct += 1
        total += share(shares, j, low, high, distinct)
    return total


@kernel
def _excess(limits: Any, conditions: Any, st: Any, g: Any, out: Any, into: Any, bound: Any) -> Any:
    """Return a group's excess if row `out` left and row `into` joined.

    Stops as soon as the excess is above the bound; the result is then any number above it. Cost: the size times the limits
    and conditions.
    """
    start, stop = st.first[g], st.first[g] + st.size[g]
    size = st.size[g] - (out != NONE) + (into != NONE)
    total = 0.0
    for c in range(len(limits.windowed)):
        t, weight = allowed_neighbours(limits, c, size), limits.weight[c]
        own = 0  # the neighbours of the row that joins
        gone = limits.value[c, out] if out != NONE else 0
        come = limits.value[c, into] if into != NONE else 0
        for i in range(start, stop):
            row = st.member[i]
            if row == out:
                continue
            v = limits.value[c, row]
            degree = st.degree[c, row]
            if out != NONE and within_reach(limits, c, v, gone):
                degree -= 1
            if into != NONE:
                degree += within_reach(limits, c, v, come)
                own += within_reach(limits, c, come, v)
            if degree > t:
                total += weight * (degree - t)
                if total > bound:
                    return total
        if into != NONE and own > t:
            total += weight * (own - t)
    for h in range(len(conditions.kind)):
        k = 0
        for i in range(start, stop):
            if st.member[i] != out:
                st.values[k] = conditions.value[h, st.member[i]]
                k += 1
        if into != NONE:
            st.values[k] = conditions.value[h, into]
            k += 1
        total += histogram_excess(conditions, h, st.values, k, st.counts)
        if total > bound:
            return total
    return total


# ------------------------------------------------------------------------------ keeping the arrays up to date


@kernel
def _refresh(shares: Any, limits: Any, conditions: Any, st: Any, g: Any, excess: Any) -> None:
    """Recompute the arrays of a group from its members, degrees and excess. Cost: size times attributes."""
    start, stop, d = st.first[g], st.first[g] + st.size[g], st.place.shape[1]
    for j in range(d):
        low, low_next, high, high_next = ends_of(st.place, st.member, start, stop, j)
        st.low[g, j], st.low_next[g, j], st.high[g, j], st.high_next[g, j] = low, low_next, high, high_next
    st.excess[g] = excess
    cost = _cell_cost(shares, st, g, NONE, NONE)
    st.loss[g] = cost * st.size[g]
    top_gain, top_relief = 0.0, 0.0
    shaped = 0.0
    if excess > 0 and len(conditions.kind) > 0:
        shaped = excess  # the excess of a histogram may disappear with any row
    for i in range(start, stop):
        row = st.member[i]
        gain, relief = 0.0, shaped
        if st.size[g] > 1:
            gain = cost - _cell_cost(shares, st, g, row, NONE)
            if gain < 1e-12:  # rounding
                gain = 0.0
        if excess > 0 and shaped == 0.0:
            # what the row itself has too many, and one for each crowded row whose neighbour it is
            for c in range(len(limits.windowed)):
                t = allowed_neighbours(limits, c, st.size[g])
                relief += limits.weight[c] * max(0, st.degree[c, row] - t)
                v = limits.value[c, row]
                for q in range(start, stop):
                    other = st.member[q]
                    if other != row and st.degree[c, other] > t and within_reach(limits, c, limits.value[c, other], v):
                        relief += limits.weight[c]
        st.gain[row], st.relief[row] = gain, relief
        top_gain, top_relief = max(top_gain, gain), max(top_relief, relief)
    st.best_gain[g], st.best_relief[g] = top_gain * st.size[g], top_relief


@kernel
def refresh_group(shares: Any, limits: Any, conditions: Any, st: Any, g: Any) -> None:
    """Compute everything about a group from its members alone. Cost: the square of its size."""
    start, stop = st.first[g], st.first[g] + st.size[g]
    for c in range(len(limits.windowed)):
        for i in range(start, stop):
            row, degree = st.member[i], 0
            for q in range(start, stop):
                if q != i and within_reach(limits, c, limits.value[c, row], limits.value[c, st.member[q]]):
                    degree += 1
            st.degree[c, row] = degree
    excess = _excess(limits, conditions, st, g, NONE, NONE, 1e300)
    _refresh(shares, limits, conditions, st, g, excess)


@kernel
def refresh_all(shares: Any, limits: Any, conditions: Any, st: Any) -> None:
    """Compute everything about every group that has rows."""
    for g in range(len(st.size)):
        if st.size[g] > 0:
            refresh_group(shares, limits, conditions, st, g)


@kernel
def _update_degrees(limits: Any, st: Any, g: Any, row: Any, change: Any) -> None:
    """Update the degrees of a group's members because a row joined (+1) or leaves (-1); recount that of the row itself."""
    for c in range(len(limits.windowed)):
        v, own = limits.value[c, row], 0
        for i in range(st.first[g], st.first[g] + st.size[g]):
            other = st.member[i]
            if other == row:
                continue
            w = limits.value[c, other]
            if within_reach(limits, c, w, v):
                st.degree[c, other] += change
            own += within_reach(limits, c, v, w)
        st.degree[c, row] = own


@kernel
def _remove(st: Any, g: Any, row: Any) -> None:
    """Remove a row from a group's list: the last member takes its slot."""
    last = st.first[g] + st.size[g] - 1
    for i in range(st.first[g], last + 1):
        if st.member[i] == row:
            st.member[i] = st.member[last]
            break
    st.size[g] -= 1


@kernel
def _append(st: Any, g: Any, row: Any) -> None:
    """Append a row to a group's list; the group has room."""
    st.member[st.first[g] + st.size[g]] = row
    st.size[g] += 1
    st.group[row] = g


@kernel
def _apply(
    shares: Any, limits: Any, conditions: Any, st: Any, a: Any, there: Any, partner: Any, excess_here: Any, excess_there: Any
) -> None:
    """Move row `a` to group `there`, and the partner, if any, to the group of `a`; both groups then have these excesses."""
    here = st.group[a]
    _update_degrees(limits, st, here, a, -1)
    _remove(st, here, a)
    if partner != NONE:
        _update_degrees(limits, st, there, partner, -1)
        _remove(st, there, partner)
        _append(st, here, partner)
        _update_degrees(limits, st, here, partner, 1)
    _append(st, there, a)
    _update_degrees(limits, st, there, a, 1)
    _refresh(shares, limits, conditions, st, here, excess_here)
    _refresh(shares, limits, conditions, st, there, excess_there)


# ------------------------------------------------------------------------------ one pass of the search


@inlined
def _best_swap(
    shares: Any, limits: Any, conditions: Any, st: Any, a: Any, there: Any, price: Any, bound: Any, hope: Any, random: Any
) -> Any:
    """Return the best partner of row `a` in another group, with the change in cost and the excesses of both groups.

    Only a change below `bound` counts; without one the partner is NO_CHANGE. A change in cost is a change in loss plus
    price times a change in excess, and the latter is at least -`hope`: so a change in loss of at least bound + hope is
    enough to reject a partner, before its excess is computed.
    """
    here = st.group[a]
    size_here, size_there = st.size[here], st.size[there]
    before = st.loss[here] + st.loss[there]
    burden = st.excess[here] + st.excess[there]
    best, partner = bound, np.int64(NO_CHANGE)
    excess_here, excess_there = 0.0, 0.0
    # of a large group a stretch of members that begins at random
    tried = min(size_there, PARTNERS)
    skip = np.int64(draw(random) >> np.uint64(33)) % size_there if tried < size_there else 0
    for i in range(tried):
        c = st.member[st.first[there] + (i + skip) % size_there]
        # each step is more expensive than the last, and rejects what cannot be better
        new_there = _cell_cost(shares, st, there, c, a) * size_there
        if new_there - before >= best + hope:
            continue
        new_here = _cell_cost(shares, st, here, a, c) * size_here
        change = new_here + new_there - before
        if change >= best + hope:
            continue
        one = _excess(limits, conditions, st, here, a, c, (best - change) / price + burden)
        change += price * (one - burden)
        if change >= best:
            continue
        other = _excess(limits, conditions, st, there, c, a, (best - change) / price)
        change += price * other
        if change < best:
            best, partner = change, c
            excess_here, excess_there = one, other
    return best, partner, excess_here, excess_there


@kernel
def exchange_rows(
    shares: Any, limits: Any, conditions: Any, st: Any, order: Any, tries: Any, window: Any, heat: Any, price: Any,
    least: Any, focus: Any, random: Any,
) -> Any:  # fmt: skip
    """Make one pass along an order of the rows; return the number of changes.

    Each row tries, `tries` times, the group of a random row at most `window` positions away. It swaps with the best
    partner of that group, or moves there if its own group keeps at least `least` rows and the other has room. A change is
    made if loss + price · excess falls, or rises by less than a random amount with mean `heat` (simulated annealing). With
    `focus`, only rows of groups with excess are moved. `random` is the state of the random numbers. Cost: rows times tries
    times the cost of a swap, most of which the bounds avoid.
    """
    n, changes = len(order), 0
    for position in range(n):
        a = order[position]
        # a row whose departure gains nothing, in loss or in excess, stays
        if (focus and st.excess[st.group[a]] <= 0) or (st.gain[a] <= 0 and st.relief[a] <= 0):
            continue
        for _ in range(tries):
            here = st.group[a]
            if st.gain[a] <= 0 and st.relief[a] <= 0:
                break
            at = position + np.int64(draw(random) >> np.uint64(33)) % (2 * window + 1) - window
            if at < 0 or at >= n:
                continue
            there = st.group[order[at]]
            if here == there:
                continue
            # a change must be below this; without heat it must be an improvement
            bound = -heat * log(uniform(random) + 1e-300) if heat > 0 else -1e-9
            size_here, size_there = st.size[here], st.size[there]
            joined = _cell_cost(shares, st, there, NONE, a)
            hope = price * (st.relief[a] + st.best_relief[there])
            best, partner = bound, np.int64(NO_CHANGE)
            excess_here, excess_there = 0.0, 0.0
            # no swap can do better than the joint cost less the largest gains on both sides and all relief
            if joined * size_there - st.loss[there] - st.gain[a] * size_here - st.best_gain[there] < bound + hope:
                best, partner, excess_here, excess_there = _best_swap(
                    shares, limits, conditions, st, a, there, price, bound, hope, random
                )
            if size_here > least and size_there < st.room[there]:
                burden = st.excess[here] + st.excess[there]
                new_there = joined * (size_there + 1)
                new_here = (st.loss[here] / size_here - st.gain[a]) * (size_here - 1)
                change = new_here + new_there - (st.loss[here] + st.loss[there])
                if change < best + price * burden:
                    one = _excess(limits, conditions, st, here, a, NONE, 1e300)
                    other = _excess(limits, conditions, st, there, NONE, a, 1e300)
                    change += price * (one + other - burden)
                    if change < best:
                        best, partner = change, np.int64(NONE)
                        excess_here, excess_there = one, other
            if partner == NO_CHANGE or abs(best) < 1e-9:
                continue
            changes += 1
            _apply(shares, limits, conditions, st, a, there, partner, excess_here, excess_there)
    return changes
