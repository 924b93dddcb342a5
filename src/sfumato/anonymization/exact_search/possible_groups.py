"""All sets of rows of a small table: which of them may be groups, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.task_parts import TaskPart
from sfumato.kernels.cell_shares import shares_of
from sfumato.kernels.mondrian_cuts import covers
from sfumato.registry import PRINCIPLES

MOST_ROWS = 12
"""Tables of up to this many rows are decided by all of their sets of rows: 4,095."""


@dataclass(frozen=True, eq=False)
class PossibleGroups:
    """The sets of rows that satisfy every principle, as the bits of their rows, and their costs.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> task = Task(sf.Table(pa.table({"age": [20, 30, 60]}), sf.Schema(["age"])), (sf.KAnonymity(2),))
    >>> groups = PossibleGroups.of(task)
    >>> [f"{mask:03b}" for mask in groups.masks], groups.costs.tolist()
    (['011', '101', '110', '111'], [0.5, 2.0, 1.5, 3.0])
    """

    rows: int
    masks: NDArray[np.int64]
    """For each possible group its rows: bit i is row i. Ascending."""
    costs: NDArray[np.float64]
    """For each group its number of rows, times the loss of its cells as methods minimise it, summed over the columns."""

    @classmethod
    def of(cls, task: Task, priced: bool = True) -> PossibleGroups:
        """Measure every set of rows of a task, exactly; without `priced` every cost is 0."""
        rows = task.table.rows
        masks = np.arange(1, 1 << rows)
        members = [np.flatnonzero(mask >> np.arange(rows) & 1) for mask in masks.tolist()]
        masks = masks[allowed_groups(task, members)]
        sets = [members[mask - 1] for mask in masks.tolist()]
        return cls(rows, masks, group_costs(task, sets) if priced else np.zeros(len(masks)))


def allowed_groups(task: Task, members: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Return for each set of rows whether every principle holds in it, as a group of the whole table."""
    if not members:
        return np.zeros(0, bool)
    alone = all(type(principle) is _builtin(principle.name) and not principle.relative for principle in task.principles)
    if alone and task.table.units is None:
        # nothing but a group's own rows decides about it: all are measured as groups of one table, in which rows recur
        order, of_row = np.concatenate(members), np.repeat(np.arange(len(members)), [len(rows) for rows in members])
        return Task.satisfied(TaskPart.of(task, order), of_row)
    return np.array([_holds_in(task, rows) for rows in members])


def _builtin(name: str) -> object:
    return PRINCIPLES[name] if name in PRINCIPLES.entries else None


def _holds_in(task: Task, rows: NDArray[np.int64]) -> bool:
    """Return whether every principle holds in one group, with all other rows of the table in another."""
    of_row = np.ones(task.table.rows, np.int64)
    of_row[rows] = 0
    return bool(task.satisfied(of_row)[0])


def group_costs(task: Task, members: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Return for each set of rows its number of rows, times the loss of its cells, weighted, over the columns."""
    places, shares = task.search_space.places, task.search_space.shares
    sizes = np.array([len(rows) for rows in members], np.int64)
    low, high, distinct = (np.empty((len(members), places.shape[1]), np.int64) for _ in range(3))
    cost = np.empty(low.shape)
    if len(members):
        order, offsets = np.concatenate(members), np.concatenate([[0], np.cumsum(sizes)])
        covers(order, offsets, places, shares.kind, shares.size, low, high, distinct)
        shares_of(shares, low, high, distinct, cost)
    return np.asarray(cost.sum(axis=1) * sizes)
