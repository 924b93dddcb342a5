"""Local search over groups: rows swap and move between groups while loss + price · excess falls.

The loss of a group is the cost of its cells (the sum of their shares) times its size. Its excess is what it lacks to
satisfy the principles, see `group_excess`. Bounds rule out most changes before they are evaluated.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from sfumato.kernels.compile import borrowing_kernel, inlined, kernel
from sfumato.kernels.row_order import draw, uniform
from sfumato.kernels.search_arrays import NONE, apply_change, cell_cost, excess_after

PARTNERS = 24
"""The largest number of members of a group that are tried as partners of a swap; of a larger group a random stretch."""

_MEMBERS = 64 * PARTNERS
"""About the largest number of members that are looked at to find the neighbours of all partners of a swap."""

NO_CHANGE = -2
"""As partner: no change was found."""


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
    # partners with the same values change the excess equally, and limits on neighbours are the costly exception
    alike = len(limits.windowed) == 0 and len(conditions.kind) > 0
    st.clock[0] += 1
    now = st.clock[0]
    # of a large group a stretch of members that begins at random
    tried = min(size_there, PARTNERS)
    if len(limits.windowed) > 0:  # the neighbours of each partner are counted
        tried = max(1, min(tried, _MEMBERS // size_there))
    skip = np.int64(draw(random) >> np.uint64(33)) % size_there if tried < size_there else 0
    for i in range(tried):
        c = st.member[st.first[there] + (i + skip) % size_there]
        # each step is more expensive than the last, and rejects what cannot be better
        most = best + hope  # the change in loss must be below
        if alike:
            v = conditions.combination[c]
            if st.known_at[v] != now:
                st.known_at[v] = now
                st.known[0, v] = excess_after(limits, conditions, st, here, a, c, 1e300)
                st.known[1, v] = excess_after(limits, conditions, st, there, c, a, 1e300)
            most = best - price * (st.known[0, v] + st.known[1, v] - burden)
        if -(st.gain[a] * size_here + st.gain[c] * size_there) >= most:
            continue
        new_there = cell_cost(shares, st, there, c, a, (most + before) / size_there) * size_there
        if new_there - before >= most:
            continue
        new_here = cell_cost(shares, st, here, a, c, (most + before - new_there) / size_here) * size_here
        change = new_here + new_there - before
        if change >= most:
            continue
        if alike:
            one, other = st.known[0, v], st.known[1, v]
            change += price * (one + other - burden)
        else:
            one = excess_after(limits, conditions, st, here, a, c, (best - change) / price + burden)
            change += price * (one - burden)
            if change >= best:
                continue
            other = excess_after(limits, conditions, st, there, c, a, (best - change) / price)
            change += price * other
        if change < best:
            best, partner = change, c
            excess_here, excess_there = one, other
    return best, partner, excess_here, excess_there


@kernel
def open_rows(
    first: Any, size: Any, member: Any, loss: Any, gain: Any, relief: Any, moves: Any, least: Any, random: Any
) -> Any:  # fmt: skip
    """Return the rows that `exchange_rows` may change, and one random row of each group; group by group.

    The arrays are those of `SearchArrays`: each by itself, because a kernel of the whole tuple takes longer to compile.
    """
    rows, count = np.empty(len(gain), np.int64), 0
    for g in range(len(size)):
        all_open = moves and size[g] > least and loss[g] > 0
        pick = np.int64(draw(random) >> np.uint64(33)) % size[g]
        for i in range(size[g]):
            row = member[first[g] + i]
            if i == pick or all_open or gain[row] > 0 or relief[row] > 0:
                rows[count] = row
                count += 1
    return rows[:count].copy()


@borrowing_kernel
def exchange_rows(
    shares: Any, limits: Any, conditions: Any, st: Any, order: Any, tries: Any, window: Any, heat: Any, price: Any,
    least: Any, focus: Any, moves: Any, neutral: Any, budget: Any, random: Any,
) -> Any:  # fmt: skip
    """Make one pass along an order of rows; return the number of changes.

    Each row tries, `tries` times, the group of a random row at most `window` positions away. It swaps with the best
    partner of that group, or moves there if its own group keeps at least `least` rows and the other has room. A change is
    made if loss + price · excess falls, or rises by less than a random amount with mean `heat` (simulated annealing); if it
    stays the same, only with `neutral`. With `focus`, only rows of groups with excess are moved. The pass ends early when it
    has looked at `budget` members of groups, so that its cost is bounded also where groups are large. `random` is the state
    of the random numbers. Cost: rows times tries times the cost of a swap, most of which the bounds avoid.
    """
    # Not split: the bounds of a swap and of a move share what is computed for the row and its groups.
    n, changes = len(order), 0
    end = st.work[0] + budget
    for position in range(n):
        a = order[position]
        if focus and st.excess[st.group[a]] <= 0:
            continue
        for _ in range(tries):
            here = st.group[a]
            # a row whose departure gains nothing, in loss or in excess, stays
            if st.gain[a] <= 0 and st.relief[a] <= 0 and not (moves and st.size[here] > least and st.loss[here] > 0):
                break
            if st.work[0] > end:
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
            hope = price * (st.relief[a] + st.best_relief[there])
            burden = st.excess[here] + st.excess[there]
            before = st.loss[here] + st.loss[there]
            movable = size_here > least and size_there < st.room[there]
            left = (st.loss[here] / size_here - st.gain[a]) * (size_here - 1)  # the loss of its group without the row
            # no swap can do better than the joint cost less the largest gains on both sides and all relief
            most = (bound + hope + st.loss[there] + st.gain[a] * size_here + st.best_gain[there]) / size_there
            most_moved = (bound + price * burden + before - left) / (size_there + 1) if movable else 0.0
            joined = cell_cost(shares, st, there, NONE, a, max(most, most_moved))
            best, partner = bound, np.int64(NO_CHANGE)
            excess_here, excess_there = 0.0, 0.0
            if joined < most:
                best, partner, excess_here, excess_there = _best_swap(
                    shares, limits, conditions, st, a, there, price, bound, hope, random
                )
            change = left + joined * (size_there + 1) - before
            if movable and change < best + price * burden:
                one = excess_after(limits, conditions, st, here, a, NONE, 1e300)
                other = excess_after(limits, conditions, st, there, NONE, a, 1e300)
                change += price * (one + other - burden)
                if change < best:
                    best, partner = change, np.int64(NONE)
                    excess_here, excess_there = one, other
            if partner == NO_CHANGE or (abs(best) < 1e-9 and not neutral):
                continue
            changes += 1
            apply_change(shares, limits, conditions, st, a, there, partner, excess_here, excess_there)
    return changes
