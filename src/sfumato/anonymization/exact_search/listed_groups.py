"""Groups of a table of up to 60 rows that cost little more than their rows are charged, as a search lists them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.exact_search.possible_groups import allowed_groups, group_costs
from sfumato.anonymization.loss_bounds.crowds import least_size, limits_neighbours
from sfumato.anonymization.methods.method import Task
from sfumato.distances.neighbour_graph import NeighbourGraph, NeighbourWindows
from sfumato.kernels.group_listing import GROUPS, STEPS, list_groups
from sfumato.principles import NeighbourLimit

MOST_ROWS = 60
"""Tables of more rows are not searched: a set of rows is one integer of 64 bits."""

ROUNDING = 1e-9
"""Costs that differ by less are equal: they are sums of few floats."""


@dataclass(frozen=True, eq=False)
class Listing:
    """Groups that satisfy every principle, as the bits of their rows, and their costs."""

    masks: NDArray[np.int64]
    costs: NDArray[np.float64]
    complete: bool
    """Whether there are no others that cost as little more than their charges."""


class GroupSearch:
    """Lists the possible groups of one task, for any charges of its rows; steps are used up by all searches together."""

    def __init__(self, task: Task, steps: int) -> None:
        """Lay out the rows, and what limits on neighbours allow."""
        self.task, self.rows, self.steps = task, task.table.rows, steps
        self.least = min(least_size(task.principles), self.rows)
        space = task.search_space
        self.places, self.shares = np.ascontiguousarray(space.places), space.shares
        ranks = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in self.places.T]
        self.bit = np.ascontiguousarray(1 << np.column_stack(ranks).astype(np.int64))
        self.near, self.allowed = _limits(task)

    def members(self, masks: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the rows of each set of rows."""
        return [np.flatnonzero(mask >> self._numbers & 1) for mask in masks.tolist()]

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        return np.arange(self.rows)

    def listed(self, charge: NDArray[np.float64], most: float, room: int) -> Listing:
        """List the groups that cost at most `most` more than their rows are charged; `room`: how many at most."""
        rows, attributes = self.places.shape
        found, state = np.empty(room, np.int64), np.zeros(2, np.int64)
        low, high, seen = (np.zeros((rows + 2, attributes), np.int64) for _ in range(3))
        complete = list_groups(
            self.shares, self.places, self.bit, charge, most + ROUNDING, self.least, self.near, self.allowed, low, high,
            seen, np.zeros(rows + 2), np.zeros((rows + 2, rows)), np.zeros((rows + 2, 3), np.int64), np.zeros(rows), found,
            state, self.steps,
        )  # fmt: skip
        self.steps -= int(state[STEPS])
        listing = self.measured(found[: state[GROUPS]])
        return Listing(listing.masks, listing.costs, bool(complete))

    def measured(self, masks: NDArray[np.int64]) -> Listing:
        """Return those of some sets of rows that satisfy every principle, exactly, with their costs."""
        members = self.members(masks)
        fine = allowed_groups(self.task, members)
        members = [rows for rows, good in zip(members, fine.tolist(), strict=True) if good]
        return Listing(masks[fine], group_costs(self.task, members), True)


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
