"""Exact, the method for small tables: the groups that lose least of all groupings, or a proof that there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.glaze import Glaze
from sfumato.anonymization.methods.method import FINDING, Grouping, Method, Task
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.principles import Principle

ALL_SETS, MOST_ROWS = 12, 60
"""Up to how many rows all sets of rows are examined, and up to how many groups are searched by linear programs."""


@dataclass(frozen=True)
class Exact(Method):
    """Find the groups that lose least of all groupings of a small table, and prove it.

    Up to 12 rows, every set of rows is measured, and the best partition is found by dynamic programming. Up to 60 rows, the
    groups of glaze are the start. Linear programs with cuts bound what any partition costs, groups that could be part of a
    better one are listed, and an integer program over them has the best one; cases are distinguished by the loss of rows as
    long as these groups are too many. If the limits of that search are reached, the best groups that were found are
    returned, and the private notes say so, with the loss that no grouping falls below. Larger tables are grouped by glaze.

    Supports every principle but δ-presence, and several at once. If no grouping satisfies them, the table is one group,
    which the caller refuses, and the private notes say that it was proven. Verdicts on groups are exact; losses are compared
    as floats, so the best groups are the best up to rounding for 12 rows, and to within 10⁻⁶ of the loss of a row beyond.
    Deterministic: limits are numbers of steps, not times. Cost: 3ⁿ for n ≤ 12 rows; seconds to some minutes for 60.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [30, 61, 31, 60, 62]}), sf.Schema(["age"]))
    >>> grouping = Exact().group(Task(table, (sf.KAnonymity(2),)))
    >>> grouping.of_row.tolist(), grouping.private
    ([0, 1, 0, 1, 1], ('no grouping loses less: it was proven',))
    """

    name: ClassVar[str] = "exact"

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Examine all sets of rows, or search by linear programs, or group by glaze."""
        self.refuse_unsupported(task.table, task.principles)
        rows = task.table.rows
        if rows > MOST_ROWS:
            note = f"the table has more than {MOST_ROWS} rows, so its groups are those of glaze"
            return Grouping(Glaze().group(task, seed).of_row, (note,))
        task.progress(FINDING, 0.0)
        if rows <= ALL_SETS:
            return self._of_all_sets(task)
        return self._of_linear_programs(task, seed)

    def refuse_unsupported(self, table: Table, principles: Sequence[Principle]) -> None:
        """Raise an error for a principle whose verdict on a set of rows depends on how the others are grouped."""
        del table
        for principle in principles:
            if principle.compares_groups:
                raise ParameterError(
                    f"the method exact does not support {principle.title}: whether a group satisfies it depends on the "
                    "other groups",
                    remedy='Use the method "lattice" or "mondrian".',
                    key="method.name",
                    value=principle.name,
                )

    def _of_all_sets(self, task: Task) -> Grouping:
        from sfumato.anonymization.exact_search import PossibleGroups, best_partition

        found = best_partition(PossibleGroups.of(task))
        return _grouping(found, task.table.rows, "best" if found is not None else "none")

    def _of_linear_programs(self, task: Task, seed: int) -> Grouping:
        from sfumato.anonymization.exact_search.cheapest_partition import cheapest_partition

        searched: tuple[Principle, ...] = tuple(p for p in task.principles if not p.searchable)
        start = None if searched else Glaze().group(task, seed).of_row
        known = start if start is not None and task.satisfied(start).all() else None
        result = cheapest_partition(task, known)
        found = result.of_row if result.of_row is not None or result.proof == "none" else start
        return _grouping(found, task.table.rows, result.proof, result.cost, result.bound)


def _grouping(found: NDArray[np.int64] | None, rows: int, proof: str, cost: float = 0.0, bound: float = 0.0) -> Grouping:
    """Return the groups that were found, or one group, with a private note on what was proven."""
    known = f"no grouping costs less than {bound:.6g}" + ("" if found is None else f", and this one costs {cost:.6g}")
    notes = {
        "best": "no grouping loses less: it was proven",
        "none": "no grouping satisfies the requirements: it was proven",
        "open": f"the limits of the search were reached: {known}",
    }
    return Grouping(np.zeros(rows, np.int64) if found is None else found, private=(notes[proof],))
