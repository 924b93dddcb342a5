"""Rotate rows over three groups: a row moves to a group that covers it, and a row of a third group takes its place.

A swap needs two groups that both gain, and a move needs a group that can spare a row. A rotation lets a group of the least
size pass on a row that does not fit, because a larger group gives it another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import borrowing_kernel, inlined
from sfumato.kernels.local_search import PARTNERS
from sfumato.kernels.row_order import draw
from sfumato.kernels.search_arrays import NONE, apply_change, called_cell_cost, called_excess_after


@inlined
def _best_substitute(
    shares: Any, limits: Any, conditions: Any, st: Any, a: Any, g: Any, skip: Any, price: Any, most: Any
) -> Any:  # fmt: skip
    """Return the change in cost if a row of group g takes the place of row `a`, that row, and the excesses of both groups.

    The first is the group of `a`. The row is NONE if no change is below `most`. Of a large group a stretch of members is
    tried, from member `skip` on.
    """
    here, size = st.group[a], st.size[g]
    burden = st.excess[here] + st.excess[g]
    best, substitute, excess_here, excess_source = most, np.int64(NONE), 0.0, 0.0
    for i in range(min(size, PARTNERS)):
        c = st.member[st.first[g] + (i + skip) % size]
        left = (st.loss[g] / size - st.gain[c]) * (size - 1) - st.loss[g]
        bound = best + price * burden - left + st.loss[here]
        change = called_cell_cost(shares, st, here, a, c, bound / st.size[here]) * st.size[here] + left - st.loss[here]
        if change >= best + price * burden:
            continue
        one = called_excess_after(limits, conditions, st, here, a, c, 1e300)
        other = called_excess_after(limits, conditions, st, g, c, NONE, 1e300)
        change += price * (one + other - burden)
        if change < best:
            best, substitute, excess_here, excess_source = change, c, one, other
    return best, substitute, excess_here, excess_source


@borrowing_kernel
def rotate_rows(
    shares: Any, limits: Any, conditions: Any, st: Any, order: Any, tries: Any, window: Any, price: Any, least: Any,
    budget: Any, random: Any,
) -> Any:  # fmt: skip
    """Make one pass along an order of rows; return the number of rotations.

    Each row whose departure lowers the loss of its group looks at `tries` groups of random rows at most `window` positions
    away: for the cheapest one to move to, and for the row that replaces it best. If both together lower loss + price ·
    excess, both are made. A group that gives a row keeps at least `least` rows. `random` is the state of the random numbers.
    The pass ends early when it has looked at `budget` members of groups. Cost: rows times tries times the cost of a swap.
    """
    n, changes = len(order), 0
    end = st.work[0] + budget
    for position in range(n):
        a = order[position]
        here = st.group[a]
        if st.gain[a] <= 0 or st.work[0] > end:
            continue
        # the row joins `target`, and `substitute` leaves its own group for this one
        joining, target, excess_target = 1e300, np.int64(NONE), 0.0
        replacing, substitute, excess_here, excess_source = 1e300, np.int64(NONE), 0.0, 0.0
        saving = st.gain[a] * st.size[here]  # what its departure saves here: it may not cost more elsewhere
        for _ in range(tries):
            at = position + np.int64(draw(random) >> np.uint64(33)) % (2 * window + 1) - window
            if at < 0 or at >= n:
                continue
            g = st.group[order[at]]
            if g == here:
                continue
            size = st.size[g]
            if size < st.room[g]:
                most = min(joining, saving) + price * st.excess[g]
                change = called_cell_cost(shares, st, g, NONE, a, (most + st.loss[g]) / (size + 1)) * (size + 1) - st.loss[g]
                if change < most:
                    found = called_excess_after(limits, conditions, st, g, NONE, a, 1e300)
                    change += price * (found - st.excess[g])
                    if change < min(joining, saving):
                        joining, target, excess_target = change, g, found
            if size <= least:
                continue
            skip = np.int64(draw(random) >> np.uint64(33)) % size if size > PARTNERS else 0
            change, c, one, other = _best_substitute(shares, limits, conditions, st, a, g, skip, price, min(replacing, 0.0))
            if c != NONE:
                replacing, substitute, excess_here, excess_source = change, c, one, other
        if min(target, substitute) == NONE or st.group[substitute] == target or joining + replacing >= -1e-9:
            continue
        # the group is one row short in between, and its excess is known only after both moves
        apply_change(shares, limits, conditions, st, a, target, NONE, 0.0, excess_target)
        apply_change(shares, limits, conditions, st, substitute, here, NONE, excess_source, excess_here)
        changes += 1
    return changes
