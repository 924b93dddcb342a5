"""The partition of up to 60 rows into possible groups that costs least: linear programs over groups that a search lists.

A *column* is a possible group. The linear program chooses shares of columns so that each row is covered once, at the least
cost; its dual values are charges of rows. Groups that cost less than their charges are added until there are none. Then no
partition costs less than the linear program. If a partition is known that costs `gap` more, every better one consists of
groups that cost at most `gap` more than their charges: they are listed, and an integer program over them has the best one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csc_array, hstack

from sfumato.anonymization.exact_search.listed_groups import ROUNDING, GroupSearch, Listing
from sfumato.anonymization.loss_bounds.charges import distinct_rows, sound_charges
from sfumato.anonymization.loss_bounds.crowds import Crowds
from sfumato.anonymization.methods.method import Task
from sfumato.data.groups import renumber

STEPS = 100_000_000
"""The steps of all searches together: about a quarter of a minute."""

_ADDED, _LISTED = 500, 8_000
"""How many columns one search adds at most, and how many the integer program may have."""

_WAY, _FURTHER = 0.5, 0.9
"""How far charges are moved at a time towards the dual values of the linear program; and if they were sound there."""

_NEAR = 1e-4
"""Charges are not raised further if the linear program costs this much more."""

_PENALTY = 3
"""A row that no group covers costs this many times what any partition costs."""

_INFEASIBLE = 2
"""The status of an integer program without a solution."""

_NODES = 20_000
"""How many nodes the integer program may examine."""

_ROUNDS = 500
"""How many linear programs are solved at most."""

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
    of steps, columns and nodes, so the result is the same on every machine.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [20, 50, 21, 52]}), sf.Schema(["age"]))
    >>> found = cheapest_partition(Task(table, (sf.KAnonymity(2),)))
    >>> found.of_row.tolist(), found.proof, round(found.cost, 4), round(found.bound, 4)
    ([0, 1, 0, 1], 'best', 0.1875, 0.1875)
    """
    return _Program(task, steps).solved(known)


class _Program:
    """The columns that were found so far, and the linear and integer programs over them."""

    def __init__(self, task: Task, steps: int) -> None:
        self.search = GroupSearch(task, steps)
        self.rows = task.table.rows
        self.columns = Listing(np.zeros(0, np.int64), np.zeros(0), True)
        self.most = self.rows * float(task.search_space.shares.weight.sum())
        """No partition costs more."""

    def solved(self, known: NDArray[np.int64] | None) -> CheapestPartition:
        """Solve the linear program, then integer programs over all groups that a better partition can consist of."""
        best, cost = known, np.inf
        if known is not None:
            count = int(known.max()) + 1
            self.columns = self.search.measured(np.array([_bits(known == group) for group in range(count)], np.int64))
            cost = float(self.columns.costs.sum())
        charge = self._charges()
        bound = float(charge.sum())
        if bound > self.most * (1 + ROUNDING):
            return CheapestPartition(None, np.inf, np.inf, "none")
        if np.isfinite(cost):
            self.columns = self._within(charge, cost - bound)
        margin = 0.0  # the groups that cost at most this much more than their charges are columns
        while True:
            found, settled = self._integer_program()
            if found is not None and found[1] < cost:
                best, cost = found
            tolerance = ROUNDING * self.rows * max(1.0, bound)
            if settled and cost - bound <= max(margin, tolerance):
                return CheapestPartition(best, cost, cost, "best")
            if settled and margin > self.most:
                return CheapestPartition(None, np.inf, np.inf, "none")
            margin = cost - bound if np.isfinite(cost) else max(4 * margin, bound / 100, tolerance)
            listing = self.search.listed(charge, margin, _LISTED) if settled else None
            if listing is None or not listing.complete:
                return CheapestPartition(best, cost, min(bound, cost), "open")
            self.columns = listing

    def _charges(self) -> NDArray[np.float64]:
        """Return sound charges of the rows, as large as the limits allow.

        Groups are searched between charges that are known to be sound and the dual values of the linear program: either
        these charges are sound too, and larger; or there are groups that cost less, which become columns.
        """
        charge, way = self._first_charges(), _WAY
        for _ in range(_ROUNDS):
            goal = self._linear_program()
            if goal.sum() - charge.sum() <= _NEAR * float(charge.sum()) + ROUNDING * self.rows:
                break
            between = charge + (goal - charge) * way
            listing = self.search.listed(between, -ROUNDING * self.rows, _ADDED)
            if len(listing.masks):
                masks = np.concatenate([self.columns.masks, listing.masks])
                costs = np.concatenate([self.columns.costs, listing.costs])
                masks, first = np.unique(masks, return_index=True)
                self.columns, way = Listing(masks, costs[first], True), _WAY
            elif listing.complete:
                # lowered by more than the groups that are not listed can cost less than their charges
                charge, way = between - ROUNDING, _FURTHER
            else:
                break
            if charge.sum() > self.most * (1 + ROUNDING):
                break
        return charge

    def _first_charges(self) -> NDArray[np.float64]:
        """Return sound charges from the bound on the loss; none if methods minimise another loss."""
        task = self.search.task
        if task.table.schema.weights or task.table.schema.preserve:
            return np.zeros(self.rows)
        distinct = distinct_rows(task.domains, Crowds.of(task), self.search.least)
        return sound_charges(distinct)[distinct.of_row] * (1 - ROUNDING)

    def _within(self, charge: NDArray[np.float64], margin: float) -> Listing:
        """Return the columns that cost at most `margin` more than their charges: better partitions consist of them."""
        near = self.columns.costs - self._cover().T @ charge <= margin + ROUNDING * self.rows
        return Listing(self.columns.masks[near], self.columns.costs[near], True)

    def _cover(self) -> csc_array:
        """Return for each row and column whether the group has the row."""
        bits = self.columns.masks[None, :] >> np.arange(self.rows)[:, None] & 1
        return csc_array(bits.astype(float))

    def _linear_program(self) -> NDArray[np.float64]:
        """Return the dual values of the rows. Rows may be left uncovered, at more than any partition costs."""
        alone = csc_array(np.eye(self.rows))
        costs = np.concatenate([self.columns.costs, np.full(self.rows, _PENALTY * self.most + 1)])
        result = linprog(costs, A_eq=hstack([self._cover(), alone]), b_eq=np.ones(self.rows), method="highs")
        return np.asarray(result.eqlin.marginals, float)

    def _integer_program(self) -> tuple[tuple[NDArray[np.int64], float] | None, bool]:
        """Return the cheapest partition of the columns with its cost, None if there is none; and whether that is settled."""
        if not len(self.columns.masks):
            return None, True
        cover = LinearConstraint(self._cover(), 1, 1)
        options = {"node_limit": _NODES, "mip_rel_gap": 0.0}
        integer = np.ones(len(self.columns.masks))
        result = milp(self.columns.costs, integrality=integer, bounds=Bounds(0, 1), constraints=cover, options=options)
        if result.x is None:
            return None, result.status == _INFEASIBLE
        chosen = np.flatnonzero(result.x > 0.5)
        of_row = np.empty(self.rows, np.int64)
        for number, rows in enumerate(self.search.members(self.columns.masks[chosen])):
            of_row[rows] = number
        return (renumber(of_row), float(self.columns.costs[chosen].sum())), result.status == 0


def _bits(member: NDArray[np.bool_]) -> int:
    return int(np.sum(1 << np.flatnonzero(member)))
