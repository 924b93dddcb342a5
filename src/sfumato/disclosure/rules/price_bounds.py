"""Lower bounds on the worst total by prices (Lagrangian relaxation), and closing the gap to them.

If each dictionary has a share, and each cell of a set of attributes a price, every record takes its cheapest choice on
its own. The sum of what they pay, plus the prices of the demanded cells, is at most the worst total of any selection that
meets the demand. This bound is concave in shares and prices. Each point where it is known gives a cutting plane; the next
point is the highest below all planes, within a box around the best so far.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.rules.selections import Columns, Demand, Floats, Integers, Selection

ROUNDS = 400
"""The most points that are tried."""
PLANES = 150
"""The most planes that are kept, the closest to the best point."""
CLOSE = 1e-10
"""The bound is the highest if the planes allow no more than this share above it."""
WIDE = 0.1
"""The size of the box, in units of a record's loss, that must have been searched before that is concluded."""
GOLDEN = 0.6180339887498949
"""Multiples of it, modulo 1, are spread evenly, however many are taken."""


class Market(Protocol):
    """Distinct records that choose at given prices."""

    @property
    def copies(self) -> Integers:
        """The number of records that are like each."""

    def select(self, shares: Floats, prices: Floats) -> tuple[Integers, Floats]:
        """The choice of each, as a mask over all attributes, and its loss in each dictionary."""


class Prices(NamedTuple):
    """The best shares and prices found, their bound, and selections that nearly meet the demand at them."""

    shares: Floats
    of_sets: Floats
    bound: float
    masks: Integers
    """For several selections the choice of each distinct record, by selection and record."""
    parts: Floats
    """The proportions in which these selections together come closest to the demand."""


def best_prices(market: Market, demand: Demand, dictionaries: int) -> Prices:
    """Raise the bound as far as possible within a number of rounds."""
    return _Ascent(market, demand, dictionaries).run()


def bound_at(columns: Columns, demand: Demand, prices: Prices) -> float:
    """The bound that prices give over given columns."""
    masks, losses = columns.select(prices.shares, demand.prices(prices.of_sets))
    cost = prices.shares @ losses - demand.used(masks) @ prices.of_sets
    return float(cost @ columns.copies + prices.of_sets @ demand.cells)


def mix_selections(prices: Prices, of_record: Integers) -> Integers:
    """What each record discloses if the selections are mixed in their proportions, spread evenly over the records."""
    ends = np.cumsum(prices.parts)
    spots = (np.arange(len(of_record)) * GOLDEN) % 1.0 * ends[-1]
    part = np.minimum(np.searchsorted(ends, spots, side="right"), len(ends) - 1)
    return np.asarray(prices.masks[part, of_record])


class _Point(NamedTuple):
    shares: Floats
    of_sets: Floats
    promised: float
    parts: Floats
    """The dual weights of the planes at this point."""


class _Ascent:
    """The points tried, in units in which a record loses about 1."""

    def __init__(self, market: Market, demand: Demand, dictionaries: int) -> None:
        self.market, self.demand = market, demand
        self.records = float(max(market.copies.sum(), 1))
        self.shares, self.of_sets = np.full(dictionaries, 1 / dictionaries), np.zeros(len(demand))
        self.planes: list[tuple[Floats, Floats, Integers]] = []
        self.best = self._try(self.shares, self.of_sets)
        dear = self._try(self.shares, np.full(len(demand), 1e300))  # everything disclosed: no selection loses more
        self.unit = max(abs(self.best), 1e-3 * float(self.planes[-1][0].max()) if dear else 0.0) / self.records or 1.0

    def _try(self, shares: Floats, of_sets: Floats) -> float:
        """Store the plane at a point (totals, lacking cells, choices), and return its height there."""
        copies = self.market.copies.astype(np.float64)
        masks, losses = self.market.select(shares, self.demand.prices(of_sets))
        totals, lacking = losses @ copies, self.demand.cells - copies @ self.demand.used(masks)
        self.planes.append((totals, lacking, masks))
        return float(shares @ totals + of_sets @ lacking)

    def run(self) -> Prices:
        """Raise the bound until the planes allow no more, or the rounds are used up."""
        # the box around the best point limits the next step: doubled after a step that reaches at least half of what the
        # planes allow, halved after a step that does not raise the bound
        box = 1.0
        for _ in range(ROUNDS if len(self.shares) > 1 or len(self.demand) else 0):
            point = self._highest(box)
            if point.promised - self.best <= CLOSE * max(abs(self.best), self.unit):
                if box >= WIDE:
                    break
                box = WIDE  # nothing is higher nearby: look farther once
                continue
            value = self._try(point.shares, point.of_sets)
            if value > self.best:
                box *= 2.0 if value - self.best > 0.5 * (point.promised - self.best) else 1.0
                self.shares, self.of_sets, self.best = point.shares, point.of_sets, value
            else:
                box *= 0.5
            self._drop_plane()
        # the dual weights of the planes in a box of the size of the prices say how to mix the selections
        parts = self._highest(float(np.abs(self.of_sets).max(initial=0.0)) / self.unit / 2).parts
        return Prices(self.shares, self.of_sets, self.best, np.array([masks for _, _, masks in self.planes]), parts)

    def _drop_plane(self) -> None:
        """Drop the plane that is highest above the best point."""
        if len(self.planes) > PLANES:
            heights = [self.shares @ totals + self.of_sets @ lacking for totals, lacking, _ in self.planes]
            del self.planes[int(np.argmax(heights))]

    def _highest(self, box: float) -> _Point:
        """The highest point below all planes within a box around the best, by a linear program."""
        from scipy.optimize import linprog

        # variables of the linear program: the height, the shares (a distribution), the prices within the box
        dictionaries, sets = len(self.shares), len(self.of_sets)
        unit = self.unit * self.records
        totals = np.array([totals for totals, _, _ in self.planes]) / unit
        lacking = np.array([lacking for _, lacking, _ in self.planes]) / self.records
        center = self.of_sets / self.unit
        low, high = np.r_[-np.inf, np.zeros(dictionaries), center - box], np.r_[np.inf, np.ones(dictionaries), center + box]
        done = linprog(
            np.r_[-1.0, np.zeros(dictionaries + sets)],
            A_ub=np.column_stack([np.ones(len(totals)), -totals, -lacking]),
            b_ub=np.zeros(len(totals)),
            A_eq=np.r_[0.0, np.ones(dictionaries), np.zeros(sets)][None],
            b_eq=[1.0],
            bounds=np.column_stack([low, high]),
            method="highs-ds",
        )
        if done.status != 0:  # the solver failed numerically: keep the best so far
            return _Point(self.shares, self.of_sets, self.best, np.r_[np.zeros(len(totals) - 1), 1.0])
        shares = np.clip(done.x[1 : 1 + dictionaries], 0.0, None)
        parts = np.clip(-done.ineqlin.marginals, 0.0, None)
        return _Point(shares / shares.sum(), done.x[1 + dictionaries :] * self.unit, -done.fun * unit, parts / parts.sum())


LIKELIEST = {250: 2_000, 1_000: 500, 4_000: 100, 20_000: 20}
"""The number of columns that are searched, the likeliest first, and the nodes of the search tree for each.

A good selection is soon found among few columns, and then fewer columns can be part of a better one. Nodes are counted,
not seconds, so that the same input gives the same rule on every machine.
"""
_LAST_RESORT = 300.0
"""Seconds after which an integer program that does not end is stopped."""
ROUNDING = 1e-12


def close_gap(columns: Columns, demand: Demand, prices: Prices, taken: Integers, beyond: float) -> Selection:
    """Improve a selection that meets the demand until nothing is better or the search limits are reached.

    A column whose cost, at the prices, exceeds that of its record's cheapest column by more than the gap between the
    selection and the bound is in no better selection. `beyond`: every column that exceeds the cheapest by at most this is
    among `columns`.
    """
    cost = prices.shares @ columns.losses - demand.used(columns.choices) @ prices.of_sets
    extra = cost - cost[columns.cheapest(prices.shares, demand.prices(prices.of_sets))][columns.group]
    best = Selection(taken, float(columns.totals(taken).max(initial=0.0)), prices.bound)
    records = len(columns.copies)
    # few columns first: a better selection shrinks the gap, and with it the columns that can still matter
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
    """Search among the flagged columns with an integer program; its bound holds if these are all that matter.

    The program is written in units of the gap, and each column as its cost above the cheapest of its record, so that the
    solver's tolerances are small relative to the differences that matter.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array, hstack, vstack

    # records with one flagged column are fixed to what they take now; the others are free
    paid = columns.losses - demand.used(columns.choices) @ prices.of_sets
    several = np.bincount(columns.group[near], minlength=len(columns.copies)) > 1
    free = np.flatnonzero(near & several[columns.group])
    fixed = np.where(several[columns.group], 0, best.taken)
    groups, row = np.unique(columns.group[free], return_inverse=True)
    usual = paid[:, columns.cheapest(prices.shares, demand.prices(prices.of_sets))]
    base = prices.of_sets @ demand.cells + usual[:, groups] @ columns.copies[groups] + paid @ fixed

    gap = best.worst - best.bound
    # rows of the program: one column per record and copy, the demand, and the worst total above every dictionary's total
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
    # the solver is trusted only for the bound: whether its answer meets the demand, and its losses, are computed here
    fits = np.array_equal(np.bincount(columns.group, taken, len(columns.copies)), columns.copies)
    if not fits or not np.array_equal(columns.used(taken, demand), demand.cells):
        return Selection(best.taken, best.worst, bound)
    worst_total = float(columns.totals(taken).max(initial=0.0))
    return Selection(taken, worst_total, bound) if worst_total < best.worst else Selection(best.taken, best.worst, bound)
