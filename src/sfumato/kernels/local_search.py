"""Local search over groups: rows change places between groups while loss plus price times excess falls."""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np

from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import inlined, kernel
from sfumato.kernels.group_excess import allowed_of, near, shape_excess
from sfumato.kernels.group_extent import ends_of
from sfumato.kernels.row_order import draw, uniform

LOOKED_AT = 24
"""So many members of a group are looked at as partners of a swap; of a larger group a random stretch."""

NONE = -1
"""No row."""


class State(NamedTuple):
    """A partition of the rows, with what search needs to know of each group and row, kept up to date."""

    place: Any
    group: Any
    first: Any
    """Where a group's rows begin in `member`."""
    room: Any
    """How many rows a group may hold there."""
    size: Any
    member: Any
    low: Any
    """For each group and attribute the lowest place, and the lowest that is left when one row of it goes."""
    low_next: Any
    high: Any
    high_next: Any
    loss: Any
    """Each group's loss: the cost of its cells times its size."""
    excess: Any
    degree: Any
    """For each limit on neighbours and row how many neighbours the row has in its group."""
    gain: Any
    """By how much the cost of a group's cells falls when the row leaves."""
    best: Any
    """The largest gain of a group's rows, times its size."""
    relief: Any
    """A bound on how much of its group's excess goes when the row leaves."""
    freed: Any
    """The largest relief of a group's rows."""
    counts: Any
    """Scratch, all zeros."""
    values: Any
    """Scratch."""
    seen: Any
    """Scratch: when a place of a set-valued cell was last seen."""
    clock: Any


@inlined
def _cells(shares: Any, st: Any, g: Any, out: Any, into: Any) -> Any:
    """The cost of a group's cells if row `out` left and row `into` came. Cost: attributes, times the size for sets."""
    total = 0.0
    for j in range(st.place.shape[1]):
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
def _excess(crowds: Any, shapes: Any, st: Any, g: Any, out: Any, into: Any, limit: Any) -> Any:
    """A group's excess if row `out` left and row `into` came; as soon as it is above the limit any number above it."""
    start, stop = st.first[g], st.first[g] + st.size[g]
    size = st.size[g] - (out != NONE) + (into != NONE)
    total = 0.0
    for c in range(len(crowds.windowed)):
        t, weight = allowed_of(crowds, c, size), crowds.weight[c]
        own = 0
        gone = crowds.value[c, out] if out != NONE else 0
        come = crowds.value[c, into] if into != NONE else 0
        for i in range(start, stop):
            row = st.member[i]
            if row == out:
                continue
            v = crowds.value[c, row]
            degree = st.degree[c, row]
            if out != NONE and near(crowds, c, v, gone):
                degree -= 1
            if into != NONE:
                degree += near(crowds, c, v, come)
                own += near(crowds, c, come, v)
            if degree > t:
                total += weight * (degree - t)
                if total > limit:
                    return total
        if into != NONE and own > t:
            total += weight * (own - t)
    for h in range(len(shapes.kind)):
        k = 0
        for i in range(start, stop):
            if st.member[i] != out:
                st.values[k] = shapes.value[h, st.member[i]]
                k += 1
        if into != NONE:
            st.values[k] = shapes.value[h, into]
            k += 1
        total += shape_excess(shapes, h, st.values, k, st.counts)
        if total > limit:
            return total
    return total


@kernel
def _settle(shares: Any, crowds: Any, shapes: Any, st: Any, g: Any, excess: Any) -> None:
    """Bring what is known of a group up to date, its degrees and members being right. Cost: size times attributes."""
    start, stop, d = st.first[g], st.first[g] + st.size[g], st.place.shape[1]
    for j in range(d):
        low, low_next, high, high_next = ends_of(st.place, st.member, start, stop, j)
        st.low[g, j], st.low_next[g, j], st.high[g, j], st.high_next[g, j] = low, low_next, high, high_next
    st.excess[g] = excess
    cost = _cells(shares, st, g, NONE, NONE)
    st.loss[g] = cost * st.size[g]
    top_gain, top_relief = 0.0, 0.0
    shaped = 0.0
    if excess > 0 and len(shapes.kind) > 0:
        shaped = excess  # what a histogram misses may go with any row
    for i in range(start, stop):
        row = st.member[i]
        gain, relief = 0.0, shaped
        if st.size[g] > 1:
            gain = cost - _cells(shares, st, g, row, NONE)
            if gain < 1e-12:
                gain = 0.0
        if excess > 0 and shaped == 0.0:
            for c in range(len(crowds.windowed)):
                t = allowed_of(crowds, c, st.size[g])
                relief += crowds.weight[c] * max(0, st.degree[c, row] - t)
                v = crowds.value[c, row]
                for q in range(start, stop):
                    other = st.member[q]
                    if other != row and st.degree[c, other] > t and near(crowds, c, crowds.value[c, other], v):
                        relief += crowds.weight[c]
        st.gain[row], st.relief[row] = gain, relief
        top_gain, top_relief = max(top_gain, gain), max(top_relief, relief)
    st.best[g], st.freed[g] = top_gain * st.size[g], top_relief


@kernel
def settle_group(shares: Any, crowds: Any, shapes: Any, st: Any, g: Any) -> None:
    """Work out all that is known of a group from its members alone. Cost: the square of its size."""
    start, stop = st.first[g], st.first[g] + st.size[g]
    for c in range(len(crowds.windowed)):
        for i in range(start, stop):
            row, degree = st.member[i], 0
            for q in range(start, stop):
                if q != i and near(crowds, c, crowds.value[c, row], crowds.value[c, st.member[q]]):
                    degree += 1
            st.degree[c, row] = degree
    excess = _excess(crowds, shapes, st, g, NONE, NONE, 1e300)
    _settle(shares, crowds, shapes, st, g, excess)


@kernel
def settle_all(shares: Any, crowds: Any, shapes: Any, st: Any) -> None:
    """Work out all that is known of every group."""
    for g in range(len(st.size)):
        if st.size[g] > 0:
            settle_group(shares, crowds, shapes, st, g)


@kernel
def _degrees(crowds: Any, st: Any, g: Any, row: Any, change: Any) -> None:
    """Tell the other members of a group that a row came (+1) or went (-1); the row's own degree is counted anew."""
    for c in range(len(crowds.windowed)):
        v, own = crowds.value[c, row], 0
        for i in range(st.first[g], st.first[g] + st.size[g]):
            other = st.member[i]
            if other == row:
                continue
            w = crowds.value[c, other]
            if near(crowds, c, w, v):
                st.degree[c, other] += change
            own += near(crowds, c, v, w)
        st.degree[c, row] = own


@kernel
def _take(st: Any, g: Any, row: Any) -> None:
    """Take a row out of a group's list."""
    last = st.first[g] + st.size[g] - 1
    for i in range(st.first[g], last + 1):
        if st.member[i] == row:
            st.member[i] = st.member[last]
            break
    st.size[g] -= 1


@kernel
def _put(st: Any, g: Any, row: Any) -> None:
    """Put a row into a group's list."""
    st.member[st.first[g] + st.size[g]] = row
    st.size[g] += 1
    st.group[row] = g


@kernel
def blend(
    shares: Any, crowds: Any, shapes: Any, st: Any, order: Any, tries: Any, window: Any, heat: Any, price: Any,
    least: Any, focus: Any, random: Any,
) -> Any:  # fmt: skip
    """Let rows change groups: one pass along an order, each row looking at the groups of rows that stand near it.

    A row swaps with the best partner of the other group, or just moves there if its group stays at `least` rows or more.
    It does so if loss + price · excess falls, or rises by less than a random amount in proportion to `heat`. `focus`
    looks only at rows of groups with excess. Returns how many changes were made. Cost: rows times tries times a swap's
    cost, of which bounds on what a swap can gain spare most.
    """
    n, changes = len(order), 0
    for position in range(n):
        a = order[position]
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
            limit = -heat * log(uniform(random) + 1e-300) if heat > 0 else -1e-9
            size_here, size_there = st.size[here], st.size[there]
            before = st.loss[here] + st.loss[there]
            burden = st.excess[here] + st.excess[there]
            joined = _cells(shares, st, there, NONE, a)
            hope = price * (st.relief[a] + st.freed[there])
            best, partner = limit, np.int64(-2)
            excess_here, excess_there = 0.0, 0.0
            if joined * size_there - st.loss[there] - st.gain[a] * size_here - st.best[there] < limit + hope:
                looked = min(size_there, LOOKED_AT)
                skip = np.int64(draw(random) >> np.uint64(33)) % size_there if looked < size_there else 0
                for i in range(looked):
                    c = st.member[st.first[there] + (i + skip) % size_there]
                    new_there = _cells(shares, st, there, c, a) * size_there
                    if new_there - before >= best + hope:
                        continue
                    new_here = _cells(shares, st, here, a, c) * size_here
                    change = new_here + new_there - before
                    if change >= best + hope:
                        continue
                    one = _excess(crowds, shapes, st, here, a, c, (best - change) / price + burden)
                    change += price * (one - burden)
                    if change >= best:
                        continue
                    other = _excess(crowds, shapes, st, there, c, a, (best - change) / price)
                    change += price * other
                    if change < best:
                        best, partner = change, c
                        excess_here, excess_there = one, other
            if size_here > least and size_there < st.room[there]:
                new_there = joined * (size_there + 1)
                new_here = (st.loss[here] / size_here - st.gain[a]) * (size_here - 1)
                change = new_here + new_there - before
                if change < best + price * burden:
                    one = _excess(crowds, shapes, st, here, a, NONE, 1e300)
                    other = _excess(crowds, shapes, st, there, NONE, a, 1e300)
                    change += price * (one + other - burden)
                    if change < best:
                        best, partner = change, np.int64(NONE)
                        excess_here, excess_there = one, other
            if partner == -2 or abs(best) < 1e-9:
                continue
            changes += 1
            _degrees(crowds, st, here, a, -1)
            _take(st, here, a)
            if partner != NONE:
                _degrees(crowds, st, there, partner, -1)
                _take(st, there, partner)
                _put(st, here, partner)
                _degrees(crowds, st, here, partner, 1)
            _put(st, there, a)
            _degrees(crowds, st, there, a, 1)
            _settle(shares, crowds, shapes, st, here, excess_here)
            _settle(shares, crowds, shapes, st, there, excess_there)
    return changes
