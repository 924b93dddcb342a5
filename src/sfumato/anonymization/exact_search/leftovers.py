"""Try all groupings of the few rows that a search left in groups that fail, together with the groups nearest to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.exact_search.best_partition import best_partition
from sfumato.anonymization.exact_search.possible_groups import MOST_ROWS, PossibleGroups, group_costs
from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.task_parts import TaskPart
from sfumato.data.groups import renumber


def settled_leftovers(task: Task, of_row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the groups with those that fail replaced, if all groupings of up to 12 rows around them contain one without.

    The rows of all groups that fail are grouped anew, alone at first, then with more and more other groups: those that cost
    least as one group with them. Groups are returned as they are if the failing ones have more rows, or if none is found.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [20, 21, 40, 41], "pay": [1, 1, 2, 2]}), sf.Schema(["age"], ["pay"]))
    >>> task = Task(table, (sf.DistinctLDiversity(2),))
    >>> settled_leftovers(task, np.array([0, 0, 1, 1])).tolist()
    [0, 1, 0, 1]
    """
    fails = ~task.satisfied(of_row)
    core = np.flatnonzero(fails[of_row])
    if not len(core) or len(core) > MOST_ROWS:
        return of_row
    sizes = np.bincount(of_row)
    others = np.flatnonzero(~fails & (sizes <= MOST_ROWS - len(core)))
    by_group = np.split(np.argsort(of_row, kind="stable"), np.cumsum(sizes)[:-1])
    joined = [np.concatenate([core, by_group[group]]) for group in others.tolist()]
    nearest = others[np.argsort(group_costs(task, joined), kind="stable")].tolist()
    while len(core) <= MOST_ROWS:
        found = best_partition(PossibleGroups.of(TaskPart.of(task, core)))
        if found is not None:
            settled = of_row.copy()
            settled[core] = int(of_row.max()) + 1 + found
            return renumber(settled)
        if not nearest:
            break
        core = np.concatenate([core, by_group[nearest.pop(0)]])
    return of_row
