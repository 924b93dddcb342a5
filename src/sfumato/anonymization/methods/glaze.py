"""Glaze, the default method: order, cut, exchange, repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.group_repair import repair
from sfumato.anonymization.methods.method import FINDING, Grouping, Method, Task
from sfumato.anonymization.methods.mondrian import Mondrian
from sfumato.anonymization.methods.packing import pack_table
from sfumato.anonymization.methods.search_constraints import SearchConstraints
from sfumato.anonymization.methods.search_state import SearchState
from sfumato.data.groups import renumber
from sfumato.errors import ParameterError
from sfumato.kernels.cell_shares import shares_of
from sfumato.kernels.mondrian_cuts import covers

_SMALL = 400
"""Tables of up to this many rows are searched from several starts, and the best result is kept."""

_STARTS = 12

_PRICES = (0.3, 3.0, 0.0)
"""The price of excess at which each start cuts, in turn."""

_HIGH_PRICE = 20.0
"""The price of excess of a cut where only large groups can satisfy the principles."""

_LARGEST_CUT = 512
"""The largest group of such a cut; its cost grows with it."""

_SLACKS = (0.2, 0.05, 0.1)
"""The excess per row with which each start cuts the table where shares are bounded, in turn."""


@dataclass(frozen=True)
class Glaze(Method):
    """Group similar rows at the least loss, then remove violations of the principles step by step.

    The method measures two things. The *loss* of a group is the loss of its cells, summed over its rows. The *excess* of a
    group is what it lacks to satisfy the principles: neighbours too many, or values too few. It works in four phases:

    1. Order. Put the rows in an order in which similar rows are adjacent: split the rows recursively where that saves most,
       the costliest attribute first.
    2. Cut. Cut the order into groups by dynamic programming, so that loss + price · excess is least, at a low price.
       If the principles bound the share of each value (β-likeness, δ-disclosure), cut the table itself instead of an
       order, where that saves most: groups with rare values then stay large, and the others become small.
    3. Exchange. Swap and move rows between groups that are near in other, random orders, at a slowly rising price and a
       falling heat (simulated annealing), until no group has excess. Then continue at a prohibitive price, until the loss
       stops falling. If the cut leaves more than one unit of excess per row, pack the table first, the most crowded values
       first.
    4. Repair. If excess is left, pack the rows of a bad group and of the groups around it again, in growing circles. If the
       bound of Wang & Liu (2010) guarantees success, exchange from an equitable start as XColor does. Finally merge bad
       groups with their neighbours. Then exchange again.

    The result is never worse than that of Mondrian, whose groups are one of the starts, nor than any state on the way.

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
        """Order, cut, exchange, repair; of several starts, and of the groups of Mondrian, keep the best."""
        rows = task.table.rows
        constraints = task.search_constraints
        if rows < 2 * constraints.least:
            return Grouping(np.zeros(rows, np.int64), ("the table is too small for two groups",))
        task.progress(FINDING, 0.0)
        mondrian = Mondrian().group(task).of_row
        starts = _STARTS if rows <= _SMALL else 1
        best: SearchState | None = None
        for start in range(starts):
            state = self._search(task, constraints, seed, start, mondrian)
            if best is None or state.rank < best.rank:
                best = state
        assert best is not None
        # an exact check of both, because the search reckons with floats
        found = min((renumber(best.labels), mondrian), key=lambda of_row: _rank(task, of_row))
        return Grouping(found)

    def _search(
        self, task: Task, constraints: SearchConstraints, seed: int, start: int, mondrian: NDArray[np.int64]
    ) -> SearchState:
        """Run the four phases once. The first starts use the best order, the others random ones."""
        state = SearchState(task, constraints, seed * _STARTS + start)
        state.span = (0.1, 0.5)
        if state.needs_large_groups and start == 0:
            cut_further(state, mondrian, self.effort)
        if state.can_be_cut_again and constraints.bounds_shares:
            state.cut_again(np.zeros(state.rows, np.int64), _SLACKS[start % 3])
            state.exchange_shares(self.effort)
        else:
            self._exchange(state, start)
        # the price is prohibitive from here on: loss falls, excess does not return
        state.span = (0.5, 1.0)
        state.lower_loss(self.effort)
        state.remember()
        if state.excess > 0:
            task.progress("repairing groups")
            repair(state, self.effort)
            state.remember()
            state.lower_loss(self.effort)
        state.return_to_best()
        return state

    def _exchange(self, state: SearchState, start: int) -> None:
        """Cut an order into groups, and exchange rows until little excess is left."""
        if state.has_rare_values:
            # they do not suffice for as many groups as usual: larger ones, which must have them from the start
            state.most = min(_LARGEST_CUT, 2 * state.rows // state.constraints.most_groups(state.rows) + 1)
            state.cut(_HIGH_PRICE, shuffled=start >= 3)
            return
        state.cut(price=_PRICES[start % 3], shuffled=start >= 3)
        # where the cut left little excess, exchanges remove it at little loss; where it left much, start from packed groups
        if state.can_be_packed and state.excess > state.rows:
            pack_table(state)
            state.exchange_crowded(self.effort)
        elif state.constraints.neighbour_limits or state.constraints.conditions:
            state.exchange(self.effort)


def cut_further(state: SearchState, mondrian: NDArray[np.int64], effort: int) -> None:
    """Remember two simple results: the best allowed cuts of the table, and those of Mondrian's groups.

    Both satisfy the principles wherever the table as one group does.
    """
    for labels in (np.zeros(state.rows, np.int64), mondrian):
        state.cut_again(labels)
        state.remember()
    state.return_to_best()
    for _ in range(2 * effort):
        state.lower_loss(effort, passes=4)
        state.cut_again(state.labels.copy())
        state.remember()


def _rank(task: Task, of_row: NDArray[np.int64]) -> tuple[int, float]:
    """Return a key by which groups compare, less being better: the rows of groups that fail, exactly; then the loss."""
    sizes, (places, shares) = np.bincount(of_row), (task.search_space.places, task.search_space.shares)
    low, high, distinct = (np.empty((len(sizes), places.shape[1]), np.int64) for _ in range(3))
    cost = np.empty(low.shape)
    order, offsets = np.argsort(of_row, kind="stable"), np.concatenate([[0], np.cumsum(sizes)])
    covers(order, offsets, places, shares.kind, shares.size, low, high, distinct)
    shares_of(shares, low, high, distinct, cost)
    return int(sizes[~task.satisfied(of_row)].sum()), float(cost.sum(axis=1) @ sizes)
