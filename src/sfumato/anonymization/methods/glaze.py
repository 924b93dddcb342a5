"""Glaze, the default method: order, cut, exchange, repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import FINDING, Grouping, Method, Task
from sfumato.anonymization.methods.mondrian import Mondrian
from sfumato.anonymization.methods.part_search import search_part
from sfumato.anonymization.methods.partitioned_search import PART_ROWS, part_rows, search_in_parts
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.errors import ParameterError
from sfumato.kernels.cell_shares import shares_of
from sfumato.kernels.mondrian_cuts import covers
from sfumato.storage import stored

_WHOLE = 2
"""Tables of up to this many times the rows of a part are searched as a whole."""

_COMPARED = 10_000
"""Tables of up to this many rows are always grouped by Mondrian too."""


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
       stops falling; rows also rotate over three groups, and swap to lie closer together, and groups are dissolved whose
       rows cost less elsewhere. If the cut leaves more than one unit of excess per row, pack the table first, the most
       crowded values first.
    4. Repair. If excess is left, pack the rows of a bad group and of the groups around it again, in growing circles. If the
       bound of Wang & Liu (2010) guarantees success, exchange from an equitable start as XColor does. Finally merge bad
       groups with their neighbours. Then exchange again. If groups with up to 12 rows together still fail, try all
       groupings of these rows and of the groups nearest to them.

    The result is never worse than any state on the way. It is compared with that of Mondrian, and the better one is kept,
    for tables of up to 10,000 rows, under conditions on histograms, and if a group fails.

    A table of more than twice `part_rows` rows is searched in parts, on all cores (see `partitioned_search`). The groups do
    not depend on the number of cores.

    Supports every principle but (n,t)-closeness, and several at once. Deterministic for a seed. A group may still fail at
    the end; the caller checks every group exactly and refuses the release. The name is the painter's term for the thin,
    transparent layers of which sfumato consists. Cost: about linear in rows times quasi-identifiers times `effort`, also for
    large groups: the number of passes is bounded, and so is, for each row, the work of a pass, a cut and a repair.

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
    part_rows: ClassVar[int] = PART_ROWS
    """The least number of rows of a part, about; larger tables than twice that are searched in parts."""

    def __post_init__(self) -> None:
        if isinstance(self.effort, bool) or not isinstance(self.effort, int) or self.effort < 1:
            raise ParameterError(
                f"invalid effort {self.effort!r} for the method {self.name}: it must be a whole number of at least 1",
                remedy="Write a whole number such as 1.",
                key="effort",
                value=self.effort,
            )

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Order, cut, exchange, repair; of several starts keep the best, or the groups of Mondrian if they are better."""
        problem = SearchProblem.of(task)
        if problem.rows < 2 * problem.constraints.least:
            return Grouping(np.zeros(problem.rows, np.int64), ("the table is too small for two groups",))
        task.progress(FINDING, 0.0)
        # Mondrian first: its cuts are a start where some groups must be large, and a cluster has the time to start meanwhile
        mondrian = stored(Mondrian().group(task).of_row) if problem.constraints.conditions else None
        if problem.rows > _WHOLE * self.part_rows:
            found = search_in_parts(problem, seed, self.effort, part_rows(problem.rows, self.part_rows))
        else:
            found = search_part(problem, seed, self.effort, mondrian)
        if mondrian is None:
            # only under conditions on histograms, in small tables, and where a group fails, may Mondrian be better
            if problem.rows > _COMPARED and task.satisfied(found).all():
                return Grouping(found)
            mondrian = Mondrian().group(task).of_row
        # an exact check of both, because the search reckons with floats
        from sfumato.anonymization.exact_search.leftovers import settled_leftovers  # it imports methods

        best = min((found, mondrian), key=lambda of_row: _rank(task, of_row))
        return Grouping(settled_leftovers(task, best))


def _rank(task: Task, of_row: NDArray[np.int64]) -> tuple[int, float]:
    """Return a key by which groups compare, less being better: the rows of groups that fail, exactly; then the loss."""
    sizes, (places, shares) = np.bincount(of_row), (task.search_space.places, task.search_space.shares)
    low, high, distinct = (np.empty((len(sizes), places.shape[1]), np.int64) for _ in range(3))
    cost = np.empty(low.shape)
    order, offsets = np.argsort(of_row, kind="stable"), np.concatenate([[0], np.cumsum(sizes)])
    covers(order, offsets, places, shares.kind, shares.size, low, high, distinct)
    shares_of(shares, low, high, distinct, cost)
    return int(sizes[~task.satisfied(of_row)].sum()), float(cost.sum(axis=1) @ sizes)
