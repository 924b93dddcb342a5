"""Swap rows between groups so that the rows of a group lie closer together, where that raises neither loss nor excess.

The loss of a group depends on its outermost rows only. If several rows are at an end, no single swap lowers the loss, and a
search by loss alone does not see that fewer of them would be better. The spread of a group, the sum of the squared distances
of its rows from their mean, shows it: swaps that lower the spread at the same loss thin out the ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import borrowing_kernel, inlined
from sfumato.kernels.local_search import PARTNERS
from sfumato.kernels.row_order import draw
from sfumato.kernels.search_arrays import NONE, apply_change, cell_cost, excess_after


@inlined
def _closest_partner(
    shares: Any, limits: Any, conditions: Any, st: Any, a: Any, there: Any, skip: Any, price: Any, sums: Any, scale: Any
) -> Any:  # fmt: skip
    """Return the row of group `there` with which a swap of row `a` lowers the spread most, and the excesses of both groups.

    The row is NONE if no swap lowers the spread without raising loss + price · excess. Of a large group a stretch of members
    is tried, from member `skip` on.
    """
    here = st.group[a]
    size_here, size_there = st.size[here], st.size[there]
    most = st.loss[here] + st.loss[there] + price * (st.excess[here] + st.excess[there]) + 1e-9
    best, partner, excess_here, excess_there = -1e-9, np.int64(NONE), 0.0, 0.0
    for i in range(min(size_there, PARTNERS)):
        c = st.member[st.first[there] + (i + skip) % size_there]
        # the squares of both groups together stay the same, so only the sums matter
        spread = 0.0
        for j in range(len(scale)):
            step = (st.place[c, j] - st.place[a, j]) * scale[j]
            spread -= step * (2 * sums[here, j] + step) / size_here
            spread += step * (2 * sums[there, j] - step) / size_there
        if spread >= best:
            continue
        there_after = cell_cost(shares, st, there, c, a, most / size_there) * size_there
        if there_after > most:
            continue
        here_after = cell_cost(shares, st, here, a, c, (most - there_after) / size_here) * size_here
        left = most - there_after - here_after
        if left < 0:
            continue
        one = excess_after(limits, conditions, st, here, a, c, left / price)
        if price * one > left:
            continue
        other = excess_after(limits, conditions, st, there, c, a, max(0.0, left / price - one))  # rounding
        if price * (one + other) <= left:
            best, partner, excess_here, excess_there = spread, c, one, other
    return partner, excess_here, excess_there


@borrowing_kernel
def swap_by_spread(
    shares: Any, limits: Any, conditions: Any, st: Any, order: Any, tries: Any, window: Any, price: Any, sums: Any,
    scale: Any, budget: Any, random: Any,
) -> Any:  # fmt: skip
    """Make one pass along an order of rows; return the number of swaps.

    Each row of a group with a loss tries, `tries` times, the group of a random row at most `window` positions away. It
    swaps with the partner that lowers the spread of both groups most, if loss + price · excess does not rise. `sums` is
    scratch, with a row for each group; `scale[j]` is the weight of a step in attribute j. The pass ends early when it has
    looked at `budget` members of groups. `random` is the state of the random numbers. Cost: rows times tries times the cost
    of a swap, most of which the spread rules out.
    """
    n, d, changes = len(order), st.place.shape[1], 0
    end = st.work[0] + budget
    sums[:, :] = 0.0
    for row in range(len(st.group)):
        for j in range(d):
            sums[st.group[row], j] += st.place[row, j] * scale[j]
    for position in range(n):
        a = order[position]
        for _ in range(tries):
            here = st.group[a]
            if st.loss[here] <= 0 or st.work[0] > end:
                break
            at = position + np.int64(draw(random) >> np.uint64(33)) % (2 * window + 1) - window
            if at < 0 or at >= n:
                continue
            there = st.group[order[at]]
            if here == there:
                continue
            skip = np.int64(draw(random) >> np.uint64(33)) % st.size[there] if st.size[there] > PARTNERS else 0
            partner, excess_here, excess_there = _closest_partner(
                shares, limits, conditions, st, a, there, skip, price, sums, scale
            )
            if partner == NONE:
                continue
            for j in range(d):
                step = (st.place[partner, j] - st.place[a, j]) * scale[j]
                sums[here, j] += step
                sums[there, j] -= step
            apply_change(shares, limits, conditions, st, a, there, partner, excess_here, excess_there)
            changes += 1
    return changes
