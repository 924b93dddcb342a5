"""The partition of up to 60 rows into possible groups that costs least: linear programs over groups that a search lists.

A *column* is a possible group. The linear program chooses shares of columns so that each row is covered once, at the least
cost; its dual values are charges of rows. Groups that cost less than their charges are added until there are none. Then no
partition costs less than the linear program. Cuts, which every partition satisfies, raise that bound; their dual values are
penalties of the groups that use them up.

If a partition is known that costs `gap` more than the bound, every better one consists of groups that cost at most `gap`
more than their prices. If they are few, an integer program over them has the best one. Otherwise there are two cases: the
group of some row has a loss of at most some number, or of at least that number. Each is solved in the same way, the one with
the lower bound first.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csc_array, hstack

from sfumato.anonymization.exact_search.listed_groups import GroupSearch, Listing, LossRange, Prices
from sfumato.anonymization.exact_search.row_cuts import RowCuts
from sfumato.anonymization.methods.method import Task
from sfumato.data.groups import renumber

STEPS = 3_000_000_000
"""The steps of all searches together: about half a minute."""

_SEARCH = 20_000_000
"""The steps of one search. Cuts that make a search longer are not used."""

_PROGRAMS = 2_000
"""How many linear programs are solved at most: about half a minute."""

_QUOTA = 20
"""How many columns that begin with the same row one search adds at most, or a few more."""

_LISTED, _LISTED_LAST = 3_000, 8_000
"""How many columns an integer program may have; and where there are no further cases to distinguish."""

_ROUNDS, _CUTS = 12, 20
"""How often cuts are added, and how many at a time."""

_RISE = 0.0015
"""No more cuts are added once the bound rises by less than this share of itself."""

_LONG = 15_000_000
"""No more cuts are added either if the searches with the present ones took so many steps."""

_TRIED, _TRIED_NODES = 1_200, 400
"""How many columns an integer program for a better partition has, without a proof; and how many nodes it examines."""

_FIRST, _AGAIN = 300, 200
"""How many known columns a linear program starts with, and how many are added at a time."""

_EVERY = 8
"""In each case whose number is a multiple of this, a better partition is looked for."""

_WAY, _FURTHER = 0.5, 0.9
"""How far prices are moved at a time towards the dual values of the linear program; and if they were sound there."""

_NEAR, _NEAR_MARGIN = 3e-4, 0.05
"""Prices are not raised further if the linear program costs so little more: a share of them, or of what a proof lacks."""

_PENALTY = 3
"""A row that no group covers costs this many times what any partition costs."""

_EQUAL = 1e-6
"""Partitions whose costs differ by less are equally good: programs are solved in floats."""

_BELOW = 1e-7
"""Groups that cost less than their prices by less than this are not looked for; prices are lowered by it instead."""

_INFEASIBLE = 2
"""The status of an integer program without a solution."""

_NODES = 20_000
"""How many nodes an integer program may examine."""

Proof = Literal["best", "none", "open"]
"""The partition is the best; there is none; or neither was proven within the limits."""


@dataclass(frozen=True, eq=False)
class CheapestPartition:
    """What is known about the partition that costs least."""

    of_row: NDArray[np.int64] | None
    """The group of each row in the best partition that was found; None if none was."""
    cost: float
    """What it costs; infinite if none was found."""
    bound: float
    """No partition costs less; infinite if there is none."""
    proof: Proof


def cheapest_partition(task: Task, known: NDArray[np.int64] | None = None, steps: int = STEPS) -> CheapestPartition:
    """Return the partition of a task's rows that costs least, or what is known about it within the limits.

    `known`: groups of a partition, all possible, from which the search starts; None if there is none. The limits are numbers
    of steps, programs, columns and nodes, so the result is the same on every machine.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [20, 50, 21, 52]}), sf.Schema(["age"]))
    >>> found = cheapest_partition(Task(table, (sf.KAnonymity(2),)))
    >>> found.of_row.tolist(), found.proof, round(found.cost, 4), round(found.bound, 4)
    ([0, 1, 0, 1], 'best', 0.1875, 0.1875)
    """
    return _Cases(task, steps).solved(known)


@dataclass(frozen=True, eq=False)
class _Relaxation:
    """The solution of a linear program over the columns of one case, and sound prices."""

    prices: Prices
    columns: Listing
    weight: NDArray[np.float64]
    """How much of each column the linear program chooses."""
    converged: bool
    """Whether no further columns would lower its cost, as far as matters."""


class _Cases:
    """The columns that were found so far, the best partition of them, and the cases that may contain a better one."""

    def __init__(self, task: Task, steps: int) -> None:
        self.search = GroupSearch(task, steps)
        self.rows = task.table.rows
        self.columns = Listing.empty()
        self.best: NDArray[np.int64] | None = None
        self.most = self.rows * float(task.search_space.shares.weight.sum())
        """No partition costs more."""
        self.cost = np.inf
        self.programs, self.cases = _PROGRAMS, 0

    @property
    def below(self) -> float:
        """What a better partition must cost less than; more than any partition if none is known."""
        return min(self.cost - _EQUAL, self.most * (1 + _EQUAL) + _EQUAL)

    def solved(self, known: NDArray[np.int64] | None) -> CheapestPartition:
        """Solve the case of all partitions, then cases within cases."""
        if known is not None:
            groups = range(int(known.max()) + 1)
            self.columns = self.search.measured(np.array([_bits(known == group) for group in groups], np.int64))
            self.best, self.cost = known, float(self.columns.costs.sum())
        everything = LossRange.any(self.rows)
        start = self._with_cuts(everything)
        cases, number, unsettled = [(start.total, 0, start, everything)], 0, np.inf
        while cases and cases[0][0] < self.below:
            bound, _, prices, within = heapq.heappop(cases)
            halves = self._halves(prices, within)
            if halves is None:
                unsettled = min(unsettled, bound)
            for prices, half in halves or ():
                number += 1
                heapq.heappush(cases, (prices.total, number, prices, half))
        bound = min(unsettled, self.below + _EQUAL)
        if unsettled < self.below:
            return CheapestPartition(self.best, self.cost, max(0.0, bound), "open")
        if self.best is None:
            return CheapestPartition(None, np.inf, np.inf, "none")
        return CheapestPartition(self.best, self.cost, self.cost, "best")

    def _halves(self, prices: Prices, within: LossRange) -> list[tuple[Prices, LossRange]] | None:
        """Solve a case, or return the two that it consists of; None if the limits do not allow that."""
        if self.programs <= 0 or self.search.steps <= 0:
            return None
        solution = self._relaxed(prices, within)
        self.cases += 1
        if solution.converged and self.cases % _EVERY == 0:
            self._try(solution, within)
        prices, margin = solution.prices, self.below - solution.prices.total
        if margin <= 0:
            return []
        if self._settled(prices, within, margin, _LISTED):
            return []
        if not solution.converged and not self.search.expressed:
            return None
        division = self._division(solution)
        if division is None:
            return [] if self._settled(prices, within, margin, _LISTED_LAST) else None
        return [(prices, half) for half in within.halves(*division)]

    def _settled(self, prices: Prices, within: LossRange, margin: float, room: int) -> bool:
        """Return whether an integer program over all groups of better partitions, which are few, was solved."""
        listing = self.search.listed(prices, within, margin, room, _SEARCH)
        return listing.complete and self._integer_program(listing, _NODES)

    def _division(self, solution: _Relaxation) -> tuple[int, float] | None:
        """Return the row whose groups in a fractional solution differ most in their loss, and a loss to divide them at."""
        used = solution.columns.taken(solution.weight > _EQUAL)
        weight, loss = solution.weight[solution.weight > _EQUAL], used.losses()
        has = self.search.members(used.masks) * weight[:, None]
        mean = loss @ has / np.maximum(has.sum(axis=0), _EQUAL)
        spread = (np.abs(loss[:, None] - mean) * has).sum(axis=0)
        row = int(np.argmax(spread))
        if spread[row] <= _EQUAL:
            return None
        losses = np.unique(loss[has[:, row] > 0])
        above = int(np.clip(np.searchsorted(losses, mean[row]), 1, len(losses) - 1))
        return row, float(losses[above - 1] + losses[above]) / 2

    def _with_cuts(self, within: LossRange) -> Prices:
        """Return prices of the case of all partitions, with cuts that raise them."""
        prices, last = Prices(np.zeros(self.rows), RowCuts.none(), np.zeros(0)), 0.0
        for turn in range(_ROUNDS):
            before = self.search.steps
            solution = self._relaxed(prices, within)
            if not solution.converged:
                # without the new cuts, which have no penalty yet; or with prices as far as the limits allow
                return prices.of_used_cuts() if turn else solution.prices
            prices = solution.prices
            self._try(solution, within)
            margin = self.below - prices.total
            rise, last = prices.total - last, prices.total
            long = before - self.search.steps > _LONG
            if margin <= 0 or long or (turn > 1 and rise < _RISE * last):
                break
            if self.search.listed(prices, within, margin, _LISTED, _SEARCH).complete:
                break
            used = solution.weight > _EQUAL
            old = prices.of_used_cuts()
            more = old.cuts.with_violated(
                solution.columns.masks[used], solution.weight[used], self.rows, max(self.search.least, 3), _CUTS
            )
            added = len(more.rows) - len(old.cuts.rows)
            if not added:
                break
            prices = Prices(old.charge, more, np.append(old.penalty, np.zeros(added)))
        return prices

    def _relaxed(self, prices: Prices, within: LossRange) -> _Relaxation:
        """Solve the linear program of a case, and raise sound prices as far as the limits allow.

        Groups are searched between prices that are known to be sound and the dual values of the linear program: either
        these are sound too, and larger; or there are groups that cost less, which become columns.
        """
        known, way, converged = self._useful(self.columns, prices, within), _WAY, False
        columns = known.taken(_smallest(self._excess(known, prices), _FIRST))
        solved, weight = columns, np.zeros(len(columns.masks))
        while self.programs > 0:
            self.programs -= 1
            goal, weight = self._linear_program(columns, prices.cuts)
            solved = columns
            margin, near = self.below - prices.total, _NEAR * abs(prices.total) + _EQUAL
            if margin <= 0 or goal.total - prices.total <= max(near, _NEAR_MARGIN * margin):
                converged = True
                break
            between = prices.between(goal, way)
            excess = self._excess(known, between)
            fresh = known.taken(_smallest(excess, _AGAIN) & (excess < -_BELOW) & ~np.isin(known.masks, columns.masks))
            if not len(fresh.masks):
                listing = self.search.cheap(between, within, _BELOW, _QUOTA, _SEARCH)
                fresh = listing.taken(~np.isin(listing.masks, columns.masks))
                if not len(fresh.masks) and not listing.complete:
                    break
            if len(fresh.masks):
                columns, way = columns.and_others(fresh), _WAY
            else:
                # a group of at least so many rows costs no less than its prices then
                prices, way = between.lowered(_BELOW / self.search.least), _FURTHER
        self.columns = self.columns.and_others(columns)
        if np.all(np.minimum(weight, 1 - weight) < _EQUAL):
            self._compare(solved.taken(weight > 0.5))
        return _Relaxation(prices, solved, weight, converged)

    def _useful(self, columns: Listing, prices: Prices, within: LossRange) -> Listing:
        """Return the columns of a case of which better partitions can consist."""
        excess = self._excess(columns, prices)
        loss, has = columns.losses()[:, None], self.search.members(columns.masks)
        outside = (has & ((loss > within.roof + _BELOW) | (loss < within.floor - _BELOW))).any(axis=1)
        return columns.taken((excess <= self.below - prices.total + _EQUAL) & ~outside)

    def _excess(self, columns: Listing, prices: Prices) -> NDArray[np.float64]:
        """Return what each column costs more than its prices."""
        penalties = prices.penalty @ prices.cuts.terms(columns.masks)
        return np.asarray(columns.costs - self.search.members(columns.masks) @ prices.charge + penalties)

    def _cover(self, columns: Listing) -> csc_array:
        """Return for each row and column whether the group has the row."""
        return csc_array(self.search.members(columns.masks).T.astype(float))

    def _linear_program(self, columns: Listing, cuts: RowCuts) -> tuple[Prices, NDArray[np.float64]]:
        """Return the dual values, and how much of each column is chosen. Uncovered rows cost more than any partition."""
        count, alone = len(columns.masks), csc_array(np.eye(self.rows))
        costs = np.concatenate([columns.costs, np.full(self.rows, _PENALTY * self.most + 1)])
        limits = {}
        if len(cuts.rows):
            terms = csc_array(cuts.terms(columns.masks).astype(float))
            limits = {"A_ub": hstack([terms, csc_array((len(cuts.rows), self.rows))]), "b_ub": cuts.most.astype(float)}
        cover = hstack([self._cover(columns), alone])
        result = linprog(costs, A_eq=cover, b_eq=np.ones(self.rows), method="highs", options={"presolve": False}, **limits)
        penalty = np.maximum(-result.ineqlin.marginals, 0.0) if limits else np.zeros(0)
        return Prices(np.asarray(result.eqlin.marginals, float), cuts, penalty), np.asarray(result.x[:count], float)

    def _try(self, solution: _Relaxation, within: LossRange) -> None:
        """Look for a better partition of the columns that cost least more than their prices."""
        columns = self._useful(self.columns, solution.prices, within)
        self._integer_program(columns.taken(_smallest(self._excess(columns, solution.prices), _TRIED)), _TRIED_NODES)

    def _integer_program(self, columns: Listing, nodes: int) -> bool:
        """Keep the cheapest partition of some columns if it is better; return whether there is none that is cheaper."""
        if not len(columns.masks):
            return True
        cover = LinearConstraint(self._cover(columns), 1, 1)
        # without presolve: it takes longer than it saves here, and prints lines to the standard output
        options = {"node_limit": nodes, "mip_rel_gap": 0.0, "presolve": False}
        integer = np.ones(len(columns.masks))
        result = milp(columns.costs, integrality=integer, bounds=Bounds(0, 1), constraints=cover, options=options)
        if result.x is None:
            return bool(result.status == _INFEASIBLE)
        self._compare(columns.taken(result.x > 0.5))
        return bool(result.status == 0)

    def _compare(self, columns: Listing) -> None:
        """Keep a partition if it covers every row once, and costs less than the best one."""
        has, cost = self.search.members(columns.masks), float(columns.costs.sum())
        if np.all(has.sum(axis=0) == 1) and cost < self.cost:
            self.best, self.cost = renumber(has.argmax(axis=0)), cost


def _smallest(values: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Return which are the smallest of some values, up to a count."""
    return np.isin(np.arange(len(values)), np.argsort(values, kind="stable")[:count])


def _bits(member: NDArray[np.bool_]) -> int:
    return int(np.sum(1 << np.flatnonzero(member)))
