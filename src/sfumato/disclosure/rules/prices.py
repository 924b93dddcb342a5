"""Prices at which records that are bound together may choose each on its own, and the bound that they give.

If each dictionary has a share, and each cell of a set of attributes a price, then every record takes its cheapest column,
and what they pay together, with the price of what is wanted added, is no more than the worst total of any selection that
meets the demand (Lagrange). It is concave in shares and prices, and cut by a plane wherever it is known; the next point is
the highest under all planes, not far from the best so far.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from sfumato.disclosure.rules.columns import Columns, Demand, Floats, Integers
from sfumato.kernels.columns import cheapest

ROUNDS = 400
"""How many points are tried at most."""
CLOSE = 1e-10
"""Where the planes promise no more than this share above the best, it is the highest."""

GOLDEN = 0.6180339887498949
"""Multiples of it spread evenly over the unit interval, however many are taken."""


class Prices(NamedTuple):
    """The best shares and prices found, the bound they give, and selections that nearly meet the demand at them."""

    shares: Floats
    of_sets: Floats
    bound: float
    columns: Integers
    """For several selections the column of each distinct record, by selection and record."""
    parts: Floats
    """In which proportions these selections together meet the demand."""


def best_prices(columns: Columns, demand: Demand, start: tuple[Floats, Floats] | None, until: float) -> Prices:
    """Raise the bound as far as it goes, or until a moment of `time.monotonic`."""
    return _Ascent(columns, demand, start).run(until)


def cheapest_columns(columns: Columns, demand: Demand, prices: Prices) -> Integers:
    """The column that each distinct record takes at the prices."""
    return _cheapest(columns, demand, prices.shares, prices.of_sets)


def bound_at(columns: Columns, demand: Demand, prices: Prices) -> float:
    """The bound that the prices give over other columns."""
    which = cheapest_columns(columns, demand, prices)
    cost = prices.shares @ columns.losses[:, which] - demand.used(columns.choices[which]) @ prices.of_sets
    return float(cost @ columns.copies + prices.of_sets @ demand.cells)


def _cheapest(columns: Columns, demand: Demand, shares: Floats, of_sets: Floats) -> Integers:
    which = np.zeros(len(columns.copies), np.int64)
    cheapest(columns.starts, columns.choices, columns.losses, shares, demand.prices(of_sets), which)
    return which


def mixed(prices: Prices, of_record: Integers) -> Integers:
    """The column of each record if they take part in the selections of the prices, in their proportions, spread evenly."""
    ends = np.cumsum(prices.parts)
    spots = (np.arange(len(of_record)) * GOLDEN) % 1.0 * ends[-1]
    part = np.minimum(np.searchsorted(ends, spots, side="right"), len(ends) - 1)
    return np.asarray(prices.columns[part, of_record])


class _Ascent:
    """The points tried, in units in which a record loses about 1."""

    def __init__(self, columns: Columns, demand: Demand, start: tuple[Floats, Floats] | None) -> None:
        self.columns, self.demand = columns, demand
        self.records = float(max(columns.copies.sum(), 1))
        count = len(columns.losses)
        self.shares: Floats = start[0] if start else np.full(count, 1 / count)
        self.prices: Floats = start[1] if start else np.zeros(len(demand))
        self.totals: list[Floats] = []
        self.lacks: list[Floats] = []
        self.which: list[Integers] = []
        self.best = self._try(self.shares, self.prices)
        typical = np.abs(columns.losses[columns.losses < columns.high]).mean() if columns.losses.size else 1.0
        self.unit = max(abs(self.best) / self.records, float(typical) * 1e-3) or 1.0

    def _try(self, shares: Floats, of_sets: Floats) -> float:
        c, copies = self.columns, self.columns.copies.astype(np.float64)
        which = _cheapest(c, self.demand, shares, of_sets)
        self.which.append(which)
        self.totals.append(c.losses[:, which] @ copies)
        self.lacks.append(self.demand.cells - copies @ self.demand.used(c.choices[which]))
        return float(shares @ self.totals[-1] + of_sets @ self.lacks[-1])

    def run(self, until: float) -> Prices:
        box, parts = 1.0, np.ones(1)
        if len(self.shares) == 1 and not len(self.demand):
            return Prices(self.shares, self.prices, self.best, np.array(self.which), parts)
        for _ in range(ROUNDS):
            found = self._highest(box)
            if found is None:
                break
            shares, of_sets, promised, parts = found
            if promised - self.best <= CLOSE * max(abs(self.best), self.unit) or time.monotonic() > until:
                break
            value = self._try(shares, of_sets)
            parts = np.append(parts, 0.0)
            if value > self.best:
                good = value - self.best > 0.5 * (promised - self.best)
                self.shares, self.prices, self.best = shares, of_sets, value
                box *= 2.0 if good else 1.0
            else:
                box *= 0.5
        return Prices(self.shares, self.prices, self.best, np.array(self.which), parts)

    def _highest(self, box: float) -> tuple[Floats, Floats, float, Floats] | None:
        """The highest point under all planes within a box around the best, and how the planes hold it there."""
        from scipy.optimize import linprog

        dictionaries, sets = len(self.shares), len(self.prices)
        unit = self.unit * self.records
        totals, lacks = np.array(self.totals) / unit, np.array(self.lacks) / self.records
        center = self.prices / self.unit
        bounds: list[Any] = [(None, None)] + [(0, 1)] * dictionaries
        bounds += [(at - box, at + box) for at in center.tolist()]
        done = linprog(
            np.r_[-1.0, np.zeros(dictionaries + sets)],
            A_ub=np.column_stack([np.ones(len(totals)), -totals, -lacks]),
            b_ub=np.zeros(len(totals)),
            A_eq=np.r_[0.0, np.ones(dictionaries), np.zeros(sets)][None],
            b_eq=[1.0],
            bounds=bounds,
            method="highs-ds",
        )
        if done.status != 0:
            return None
        shares = np.clip(done.x[1 : 1 + dictionaries], 0.0, None)
        parts = np.clip(-done.ineqlin.marginals, 0.0, None)
        return (
            shares / shares.sum(),
            done.x[1 + dictionaries :] * self.unit,
            -done.fun * unit,
            parts / max(parts.sum(), 1e-300),
        )
