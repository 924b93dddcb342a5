"""A selection improved, and the gap to its bound closed, over the few columns that can still be part of a better one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.rules.prices import Prices
from sfumato.disclosure.rules.record_choices import Columns, Demand, Integers, Selection

LIKELIEST = {250: 2_000, 1_000: 500, 4_000: 100, 20_000: 20}
"""How many columns are searched, the likeliest first: of few a good selection is soon found, and then fewer are left.

With each the nodes of the search tree that may be looked at. They are counted, and not the time, so that the same input
gives the same rule on every machine."""
_LAST_RESORT = 300.0
"""Seconds after which a program that would not end is given up all the same."""
ROUNDING = 1e-12


def closed(columns: Columns, demand: Demand, prices: Prices, taken: Integers, beyond: float) -> Selection:
    """Improve a selection that meets the demand, until nothing is better or as much as may be has been searched.

    A column that is dearer, at the prices, than the cheapest of its record by more than the gap between the selection and
    the bound is in no better selection. There are no columns
    but those told that are dearer by `beyond` or less.
    """
    cost = prices.shares @ columns.losses - demand.used(columns.choices) @ prices.of_sets
    extra = cost - cost[columns.cheapest(prices.shares, demand.prices(prices.of_sets))][columns.group]
    best = Selection(taken, float(columns.totals(taken).max(initial=0.0)), prices.bound)
    records = len(columns.copies)
    for count, nodes in LIKELIEST.items():
        gap = best.worst - best.bound
        if gap <= ROUNDING * abs(best.worst):
            break
        near = (extra <= gap) | (best.taken > 0)
        whole = int(near.sum()) <= count + records
        if not whole:
            near &= (extra <= np.partition(extra[near], count + records)[count + records]) | (best.taken > 0)
        better = _search(columns, demand, prices, best, near, nodes)
        best = Selection(better.taken, better.worst, better.bound if whole and gap < beyond else best.bound)
        if whole:
            break
    return Selection(best.taken, best.worst, min(best.worst, best.bound))


def _search(
    columns: Columns, demand: Demand, prices: Prices, best: Selection, near: NDArray[np.bool_], nodes: int
) -> Selection:
    """Search among the columns told, with an integer program; its bound holds if these are all that matter.

    The program is written in units of the gap, and each column as what it costs at the prices above the cheapest of its
    record, so that the solver's tolerances are small beside what it is asked to find.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array, hstack, vstack

    paid = columns.losses - demand.used(columns.choices) @ prices.of_sets
    several = np.bincount(columns.group[near], minlength=len(columns.copies)) > 1
    free = np.flatnonzero(near & several[columns.group])
    fixed = np.where(several[columns.group], 0, best.taken)
    groups, row = np.unique(columns.group[free], return_inverse=True)
    usual = paid[:, columns.cheapest(prices.shares, demand.prices(prices.of_sets))]
    base = prices.of_sets @ demand.cells + usual[:, groups] @ columns.copies[groups] + paid @ fixed

    gap = best.worst - best.bound
    one_each = coo_array((np.ones(len(free)), (row, np.arange(len(free)))), shape=(len(groups), len(free)))
    met = coo_array(demand.used(columns.choices[free]).T)
    above = coo_array((paid[:, free] - usual[:, columns.group[free]]) / gap)
    sums = np.r_[columns.copies[groups].astype(np.float64), demand.cells - columns.used(fixed, demand)]
    worst = coo_array(np.r_[np.zeros(len(sums)), np.full(len(paid), -1.0)][:, None])
    done = milp(
        np.r_[np.zeros(len(free)), 1.0],
        integrality=np.r_[np.ones(len(free)), 0.0],
        bounds=Bounds(0, np.r_[columns.copies[columns.group[free]], np.inf]),
        constraints=LinearConstraint(
            hstack([vstack([one_each, met, above]), worst]),
            np.r_[sums, np.full(len(paid), -np.inf)],
            np.r_[sums, (best.bound - base) / gap],
        ),
        options={"node_limit": nodes, "time_limit": _LAST_RESORT, "mip_rel_gap": 0},
    )
    dual = getattr(done, "mip_dual_bound", None)
    bound = best.bound + gap * min(1.0, max(0.0, float(dual) if dual is not None else 0.0))
    taken = fixed.copy()
    if done.x is not None:
        taken[free] = np.rint(done.x[:-1]).astype(np.int64)
    # the solver is trusted for nothing but the bound: whether its answer meets the demand, and what it loses, is found here
    fits = np.array_equal(np.bincount(columns.group, taken, len(columns.copies)), columns.copies)
    if not fits or not np.array_equal(columns.used(taken, demand), demand.cells):
        return Selection(best.taken, best.worst, bound)
    found = float(columns.totals(taken).max(initial=0.0))
    return Selection(taken, found, bound) if found < best.worst else Selection(best.taken, best.worst, bound)
