"""The partition into possible groups that costs least: by dynamic programming over sets of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.exact_search.possible_groups import PossibleGroups
from sfumato.data.groups import renumber


def best_partition(groups: PossibleGroups) -> NDArray[np.int64] | None:
    """Return the group of each row in the partition that costs least; None if no partition consists of possible groups.

    The best partition of a set of rows is a group with its first row, and the best partition of the others. Cost: 3ⁿ for n
    rows.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [20, 50, 21, 52]}), sf.Schema(["age"]))
    >>> groups = PossibleGroups.of(sf.anonymization.Task(table, (sf.KAnonymity(2),)))
    >>> best_partition(groups).tolist()
    [0, 1, 0, 1]
    """
    full = (1 << groups.rows) - 1
    first = (groups.masks & -groups.masks).astype(np.int64)
    starting = {bit: np.flatnonzero(first == bit) for bit in np.unique(first).tolist()}
    # least[done]: the least cost of groups of exactly the rows `done`; every such set holds the first rows of the table
    least, last = np.full(full + 1, np.inf), np.full(full + 1, -1, np.int64)
    least[0] = 0.0
    for done in range(full):
        missing = ~done & full
        if not np.isfinite(least[done]) or missing & -missing not in starting:
            continue
        chosen = starting[missing & -missing]
        chosen = chosen[groups.masks[chosen] & done == 0]
        reached, cost = groups.masks[chosen] | done, least[done] + groups.costs[chosen]
        better = cost < least[reached]
        least[reached[better]], last[reached[better]] = cost[better], chosen[better]
    if not np.isfinite(least[full]):
        return None
    of_row, left, number = np.empty(groups.rows, np.int64), full, 0
    while left:
        mask = int(groups.masks[last[left]])
        of_row[np.flatnonzero(mask >> np.arange(groups.rows) & 1)] = number
        left, number = left ^ mask, number + 1
    return renumber(of_row)
