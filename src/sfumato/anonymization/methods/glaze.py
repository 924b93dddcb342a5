"""Glaze, the default method: order, cut, exchange, repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.anonymization.methods.group_repair import repair
from sfumato.anonymization.methods.method import Grouping, Method, Task
from sfumato.anonymization.methods.packing import pack_table
from sfumato.anonymization.methods.search_constraints import SearchConstraints
from sfumato.anonymization.methods.search_state import SearchState
from sfumato.data.groups import renumber
from sfumato.errors import ParameterError

_SMALL = 400
"""Tables of up to this many rows are searched from several starts, and the best result is kept."""

_STARTS = 12

_PRICES = (0.3, 3.0, 0.0)
"""The price of excess at which each start cuts, in turn."""


@dataclass(frozen=True)
class Glaze(Method):
    """Group similar rows at the least loss, then remove violations of the principles step by step.

    The method measures two things. The *loss* of a group is the loss of its cells, summed over its rows. The *excess* of a
    group is what it lacks to satisfy the principles: neighbours too many, or values too few. It works in four phases:

    1. Order. Put the rows in an order in which similar rows are adjacent: split the rows recursively where that saves most,
       the costliest attribute first.
    2. Cut. Cut the order into groups by dynamic programming, so that loss + price · excess is least, at a low price.
    3. Exchange. Swap and move rows between groups that are near in other, random orders, at a slowly rising price and a
       falling heat (simulated annealing), until no group has excess. Then continue at a prohibitive price, until the loss
       stops falling. If the cut leaves more than one unit of excess per row, pack the table first, the most crowded values
       first.
    4. Repair. If excess is left, pack the rows of a bad group and of the groups around it again, in growing circles. If the
       bound of Wang & Liu (2010) guarantees success, exchange from an equitable start as XColor does. Finally merge bad
       groups with their neighbours. Then exchange again.

    Supports every principle but (n,t)-closeness, and several at once. Deterministic for a seed. A group may still fail at
    the end; the caller checks every group exactly and refuses the release. The name is the painter's term for the thin,
    transparent layers of which sfumato consists. Cost: about linear in rows times quasi-identifiers times `effort`.

    >>> import pyarrow as pa
    >>> from sfumato.principles import KAnonymity
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> task = Task(Table(pa.table({"age": [30, 61, 31, 60]}), Schema(["age"])), (KAnonymity(2),))
    >>> Glaze().group(task).of_row.tolist()
    [0, 1, 0, 1]
    """

    effort: int = 1
    """How long to search for less loss: twice as much takes about twice as long."""

    name: ClassVar[str] = "glaze"

    def __post_init__(self) -> None:
        if isinstance(self.effort, bool) or not isinstance(self.effort, int) or self.effort < 1:
            raise ParameterError(
                f"invalid effort {self.effort!r} for the method {self.name}: it must be a whole number of at least 1",
                remedy="Write a whole number such as 1.",
                key="effort",
                value=self.effort,
            )

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Order, cut, exchange, repair; of several starts keep the best."""
        rows = task.table.rows
        constraints = task.search_constraints
        if rows < 2 * constraints.least:
            return Grouping(np.zeros(rows, np.int64), ("the table is too small for two groups",))
        starts = _STARTS if rows <= _SMALL else 1
        best: SearchState | None = None
        for start in range(starts):
            state = self._search(task, constraints, seed, start)
            if best is None or state.rank < best.rank:
                best = state
        assert best is not None
        return Grouping(renumber(best.labels))

    def _search(self, task: Task, constraints: SearchConstraints, seed: int, start: int) -> SearchState:
        """Run the four phases once. The first starts use the best order, the others random ones."""
        state = SearchState(task, constraints, seed * _STARTS + start)
        state.cut(price=_PRICES[start % 3], shuffled=start >= 3)
        # where the cut left little excess, exchanges remove it at little loss; where it left much, start from packed groups
        state.span = (0.1, 0.5)
        if state.can_be_packed and state.excess > state.rows:
            pack_table(state)
            state.exchange_crowded(self.effort)
        elif constraints.neighbour_limits or constraints.conditions:
            state.exchange(self.effort)
        # the price is prohibitive from here on: loss falls, excess does not return
        state.span = (0.5, 1.0)
        state.lower_loss(self.effort)
        if state.excess > 0:
            task.progress("repairing groups")
            repair(state, self.effort)
            state.lower_loss(self.effort)
        return state
