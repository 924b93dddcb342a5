"""Groups of a table of up to 60 rows that cost little more than their rows are charged, as a search lists them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.exact_search.possible_groups import allowed_groups, group_costs
from sfumato.anonymization.exact_search.row_cuts import RowCuts
from sfumato.anonymization.loss_bounds.crowds import Crowds, least_size, limits_neighbours
from sfumato.anonymization.methods.method import Task
from sfumato.distances.neighbour_graph import NeighbourGraph, NeighbourWindows
from sfumato.kernels.group_listing import GROUPS, STEPS, GroupPath, GroupPrices, ListedRows, list_groups
from sfumato.principles import DistinctLDiversity, HistogramCondition, KAnonymity, NeighbourLimit

MOST_ROWS = 60
"""Tables of more rows are not searched: a set of rows is one integer of 64 bits."""


@dataclass(frozen=True, eq=False)
class Listing:
    """Groups that satisfy every principle, as the bits of their rows, and their costs."""

    masks: NDArray[np.int64]
    costs: NDArray[np.float64]
    complete: bool
    """Whether there are no others that the search was for."""

    @classmethod
    def empty(cls) -> Listing:
        """Return no groups."""
        return cls(np.zeros(0, np.int64), np.zeros(0), True)

    def taken(self, chosen: NDArray[np.bool_]) -> Listing:
        """Return some of the groups."""
        return Listing(self.masks[chosen], self.costs[chosen], self.complete)

    def and_others(self, other: Listing) -> Listing:
        """Return these groups and others, each once, ascending."""
        masks, first = np.unique(np.concatenate([self.masks, other.masks]), return_index=True)
        return Listing(masks, np.concatenate([self.costs, other.costs])[first], self.complete and other.complete)

    def losses(self) -> NDArray[np.float64]:
        """Return the loss of each group's cells, which each of its rows pays."""
        return self.costs / np.maximum(np.bitwise_count(self.masks), 1)


@dataclass(frozen=True, eq=False)
class Prices:
    """What groups are compared with: the charges of rows, and the penalties of cuts."""

    charge: NDArray[np.float64]
    cuts: RowCuts
    penalty: NDArray[np.float64]

    @property
    def total(self) -> float:
        """What no partition costs less than, if no group costs less than its prices."""
        return math.fsum(self.charge.tolist()) - math.fsum((self.penalty * self.cuts.most).tolist())

    def between(self, goal: Prices, way: float) -> Prices:
        """Return prices of the same cuts on the way from these to a goal."""
        charge = self.charge + (goal.charge - self.charge) * way
        penalty = np.maximum(self.penalty + (goal.penalty - self.penalty) * way, 0.0)
        return Prices(charge, self.cuts, penalty)

    def of_used_cuts(self) -> Prices:
        """Return the prices without cuts that have no penalty."""
        used = self.penalty > 0
        return Prices(self.charge, self.cuts.taken(used), self.penalty[used])

    def lowered(self, amount: float) -> Prices:
        """Return prices with each charge lowered."""
        return Prices(self.charge - amount, self.cuts, self.penalty)


@dataclass(frozen=True, eq=False)
class LossRange:
    """Within what the loss of the group of each row must be."""

    floor: NDArray[np.float64]
    roof: NDArray[np.float64]

    @classmethod
    def any(cls, rows: int) -> LossRange:
        """Return ranges of all losses."""
        return cls(np.zeros(rows), np.full(rows, np.inf))

    def halves(self, row: int, at: float) -> tuple[LossRange, LossRange]:
        """Return the ranges with that of one row divided in two."""
        floor, roof = self.floor.copy(), self.roof.copy()
        floor[row] = roof[row] = at
        return LossRange(self.floor, roof), LossRange(floor, self.roof)


class GroupSearch:
    """Lists the possible groups of one task, for any prices; steps are used up by all searches together."""

    def __init__(self, task: Task, steps: int) -> None:
        """Lay out the rows, and what limits on neighbours allow."""
        self.task, self.rows, self.steps = task, task.table.rows, steps
        space, least = task.search_space, min(least_size(task.principles), self.rows)
        ranks = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in self.task.places.T]
        near, allowed = _limits(task)
        crowd, crowds = _crowds(task)
        self.expressed = task.table.units is None and all(
            type(principle) in (KAnonymity, DistinctLDiversity) or limits_neighbours(principle)
            for principle in task.principles
        )
        """Whether the search knows all that the principles demand."""
        # a larger group could be two, whose cells lose no more
        divisible = task.table.units is None and all(type(principle) is KAnonymity for principle in task.principles)
        most = max(2 * least - 1, 1) if divisible else self.rows
        self.least, self.shares = least, space.shares
        bit = np.ascontiguousarray(1 << np.column_stack(ranks).astype(np.int64))
        self.listed_rows = ListedRows(
            np.ascontiguousarray(space.places), bit, near, allowed, crowd, crowds, least, min(most, self.rows)
        )

    def members(self, masks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each set of rows and row whether the set has it."""
        return (masks[:, None] >> np.arange(self.rows) & 1).astype(bool)

    def listed(self, prices: Prices, within: LossRange, most: float, room: int, steps: int) -> Listing:
        """List the groups that cost at most `most` more than their prices; `room`: how many at most."""
        masks, complete = self._run(prices, within, most, 0, room, steps)
        listing = self.measured(masks)
        return Listing(listing.masks, listing.costs, complete)

    def cheap(self, prices: Prices, within: LossRange, least: float, quota: int, steps: int) -> Listing:
        """List groups that cost less than their prices by at least `least`: up to about `quota` that begin with each row.

        The listing is complete if it is empty and there are none.
        """
        room = (quota + self.rows) * self.rows
        masks, complete = self._run(prices, within, -least, quota, room, steps)
        listing = self.measured(masks)
        if len(masks) and not len(listing.masks):
            # groups in which a principle fails that the search does not know may have taken the place of others
            return self.listed(prices, within, -least, room, steps)
        return Listing(listing.masks, listing.costs, complete and not len(masks))

    def _run(
        self, prices: Prices, within: LossRange, most: float, quota: int, room: int, steps: int
    ) -> tuple[NDArray[np.int64], bool]:
        """Search with at most some steps; `quota` 0 lists every group."""
        found, state = np.empty(room, np.int64), np.zeros(2, np.int64)
        order, cuts = np.argsort(-prices.charge, kind="stable"), prices.cuts
        priced = GroupPrices(prices.charge, order, within.roof, within.floor, cuts.rows, cuts.part, prices.penalty)
        path = scratch(self.rows, self.listed_rows.places.shape[1])
        allowed = min(steps, self.steps)
        complete = list_groups(
            self.shares, self.listed_rows, priced, path, float(most), quota > 0, quota, found, state, allowed
        )
        self.steps -= int(state[STEPS])
        return found[: state[GROUPS]], bool(complete)

    def measured(self, masks: NDArray[np.int64]) -> Listing:
        """Return those of some sets of rows that satisfy every principle, exactly, with their costs."""
        members = [np.flatnonzero(group) for group in self.members(masks)]
        fine = allowed_groups(self.task, members)
        members = [rows for rows, good in zip(members, fine.tolist(), strict=True) if good]
        return Listing(masks[fine], group_costs(self.task, members), True)


def scratch(rows: int, attributes: int) -> GroupPath:
    """Return what a search writes down for each depth."""
    deep = rows + 2
    low, high, seen = (np.zeros((deep, attributes), np.int64) for _ in range(3))
    available, inside, farther, rank = (np.zeros((deep, rows), np.int64) for _ in range(4))
    return GroupPath(
        low, high, seen, np.zeros((deep, rows)), available, inside, farther, rank, np.zeros((deep, 7), np.int64),
        np.zeros((deep, 5)), np.zeros((deep, 2), np.int64), np.zeros(deep), np.zeros(deep),
    )  # fmt: skip


def _limits(task: Task) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each limit the neighbours of each row as bits, and how many a group of each size allows, then the most."""
    rows, near, allowed = task.table.rows, [], []
    if task.table.units is None:
        for principle, names in task.requirements:
            for limit in task.search_conditions(principle, names) if limits_neighbours(principle) else ():
                if isinstance(limit, NeighbourLimit):
                    assert isinstance(limit.neighbours, NeighbourGraph | NeighbourWindows), "rows are counted, not units"
                    pairs = limit.neighbours.near(limit.values, limit.values)
                    np.fill_diagonal(pairs, False)
                    near.append(pairs @ (1 << np.arange(rows)))
                    by_size = [limit.allowed(size) for size in range(1, rows + 1)]
                    allowed.append([0, *by_size, max(by_size)])
    return (
        np.array(near, np.int64).reshape(-1, rows),
        np.array(allowed, np.int64).reshape(-1, rows + 2),
    )


def _crowds(task: Task) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return divisions of the rows into crowds, and of how many crowds of each the rows of every group are at least.

    Crowds are rows with near secrets, of which a group has a share at most, or rows with the same secret. The division of
    which a group needs most crowds comes first.
    """
    near = Crowds.of(task)
    divisions = [(math.ceil(1 / near.share), near.of_row)]
    if task.table.units is None:
        for principle, names in task.requirements:
            if type(principle) is DistinctLDiversity:
                condition = task.search_conditions(principle, names)[0]
                assert isinstance(condition, HistogramCondition)
                divisions.append((principle.l, condition.values))
    divisions.sort(key=lambda division: -division[0])
    crowds = [np.unique(of_row, return_inverse=True)[1].reshape(-1) for _, of_row in divisions]
    return np.array(crowds, np.int64), np.array([count for count, _ in divisions], np.int64)
