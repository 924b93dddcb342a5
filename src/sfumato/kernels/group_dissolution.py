"""Dissolve groups: all rows of a group join other groups, where that lowers loss + price · excess.

A group of the least size cannot give rows away one by one, and a little above it each row that leaves may make it fail. Only
all rows together can leave it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import borrowing_kernel, inlined
from sfumato.kernels.row_order import draw
from sfumato.kernels.search_arrays import NONE, called_cell_cost, called_excess_after, join, leave, refresh


@inlined
def _cheapest_group(
    shares: Any, limits: Any, conditions: Any, st: Any, a: Any, order: Any, position: Any, tries: Any, window: Any,
    price: Any, most: Any, random: Any,
) -> Any:  # fmt: skip
    """Return what it costs row `a` to join the cheapest of some groups near a position of the order, that group, its excess.

    The group is NONE if none costs less than `most`.
    """
    best, target, excess = most, np.int64(NONE), 0.0
    for _ in range(tries):
        at = position + np.int64(draw(random) >> np.uint64(33)) % (2 * window + 1) - window
        if at < 0 or at >= len(order):
            continue
        g = st.group[order[at]]
        size = st.size[g]
        if g == st.group[a] or size >= st.room[g]:
            continue
        bound = best + price * st.excess[g] + st.loss[g]
        change = called_cell_cost(shares, st, g, NONE, a, bound / (size + 1)) * (size + 1) - st.loss[g]
        if change >= best + price * st.excess[g]:
            continue
        found = called_excess_after(limits, conditions, st, g, NONE, a, (best - change) / price + st.excess[g])
        change += price * (found - st.excess[g])
        if change < best:
            best, target, excess = change, g, found
            if best <= 0.0:
                break
    return best, target, excess


@borrowing_kernel
def dissolve_groups(
    shares: Any, limits: Any, conditions: Any, st: Any, order: Any, tries: Any, window: Any, price: Any, budget: Any,
    moved: Any, excesses: Any, random: Any,
) -> Any:  # fmt: skip
    """Dissolve every group whose rows cost less elsewhere; return the number of groups that are left without rows.

    `order` has one row of each group. Each row of a group with a loss tries `tries` random groups at most `window` positions
    away. As soon as the rows cost as much elsewhere as in the group, all return. `moved` and `excesses` are scratch: groups
    of more rows than they have room for are left as they are. `random` is the state of the random numbers. The pass ends
    early when it has looked at `budget` members of groups. Cost: rows times tries times the cost of a move, most of which
    the bounds avoid.
    """
    dissolved = 0
    end = st.work[0] + budget
    for position in range(len(order)):
        g = st.group[order[position]]
        saved = st.loss[g] + price * st.excess[g] - 1e-9
        if saved <= 0 or st.size[g] > len(moved) or st.work[0] > end:
            continue
        before, count = st.excess[g], 0
        for i in range(st.size[g]):
            moved[i] = st.member[st.first[g] + i]
        whole = st.size[g]
        while count < whole:
            a = moved[count]
            change, target, excess = _cheapest_group(
                shares, limits, conditions, st, a, order, position, tries, window, price, saved, random
            )
            if target == NONE:
                break
            excesses[count] = st.excess[target]
            leave(limits, conditions, st, g, a)
            join(limits, conditions, st, target, a)
            refresh(shares, limits, conditions, st, target, excess)
            saved -= change
            count += 1
        if count == whole:
            st.loss[g] = st.excess[g] = st.best_gain[g] = st.best_relief[g] = 0.0
            dissolved += 1
        elif count > 0:
            while count > 0:  # the last one first, so that each group has the excess again that it had before
                count -= 1
                a = moved[count]
                target = st.group[a]
                leave(limits, conditions, st, target, a)
                join(limits, conditions, st, g, a)
                refresh(shares, limits, conditions, st, target, excesses[count])
            refresh(shares, limits, conditions, st, g, before)
    return dissolved
