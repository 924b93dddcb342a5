"""Who of a dictionary is consistent with a record.

Attributes are numbered from 0. `values[i, j]` is what record i has of attribute j, and `held[v, j]` what individual v has
of it: numbers unique over all attributes, or -1 where it is missing. A value a of a record is consistent with the values
`near[near_starts[a]:near_starts[a + 1]]` of the dictionary, which ascend. The individuals who have its value h are
`who[who_starts[h]:who_starts[h + 1]]`; those without a value of attribute j, `absent[absent_starts[j]:…]`, are consistent
with anything. These seven arrays come as the tuple `known`: held, near_starts, near, who_starts, who, absent_starts, absent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel


@kernel
def is_near(near_starts: Any, near: Any, value: int, other: int) -> bool:
    """Whether a record's value is consistent with a dictionary's value. Cost: logarithmic in the values it is near."""
    low, high = near_starts[value], near_starts[value + 1]
    while low < high:
        middle = (low + high) // 2
        if near[middle] < other:
            low = middle + 1
        else:
            high = middle
    return bool(low < near_starts[value + 1] and near[low] == other)


@kernel
def fits(known: Any, row: Any, shown: Any, v: int, but: int) -> bool:
    """Whether an individual is consistent with a record in every attribute that is shown, one left out."""
    held, near_starts, near = known[0], known[1], known[2]
    for j in range(len(row)):
        if j != but and shown[j] and row[j] >= 0 and held[v, j] >= 0 and not is_near(near_starts, near, row[j], held[v, j]):
            return False
    return True


@kernel
def consistent_with(known: Any, row: Any, shown: Any, out: Any) -> int:
    """Fill `out` with the individuals who are consistent with a record as it is shown, and return how many there are.

    Only those are looked at who fit in the attribute in which fewest do. Cost: their number times the attributes.
    """
    held, near_starts, near, who_starts, who, absent_starts, absent = known
    fewest, best = held.shape[0] + 1, -1
    for j in range(len(row)):
        if shown[j] and row[j] >= 0:
            total = absent_starts[j + 1] - absent_starts[j]
            for at in range(near_starts[row[j]], near_starts[row[j] + 1]):
                total += who_starts[near[at] + 1] - who_starts[near[at]]
            if total < fewest:
                fewest, best = total, j
    count = 0
    if best < 0:  # nothing is shown: anyone
        for v in range(held.shape[0]):
            out[v] = v
        return int(held.shape[0])
    for at in range(absent_starts[best], absent_starts[best + 1]):
        if fits(known, row, shown, absent[at], best):
            out[count] = absent[at]
            count += 1
    for at in range(near_starts[row[best]], near_starts[row[best] + 1]):
        for place in range(who_starts[near[at]], who_starts[near[at] + 1]):
            if fits(known, row, shown, who[place], best):
                out[count] = who[place]
                count += 1
    return count


@kernel
def consistent_counts(known: Any, values: Any, shown: Any, weights: Any, out: Any, counts: Any, sums: Any) -> None:
    """For every record: how many individuals are consistent, and their weight.

    `weights` is empty if all weigh the same. Cost: per record that of `consistent_with`.
    """
    for i in range(values.shape[0]):
        count = consistent_with(known, values[i], shown[i], out)
        counts[i] = count
        total = 0.0
        if len(weights):
            for at in range(count):
                total += weights[out[at]]
        sums[i] = total if len(weights) else count


@kernel
def consistent_own(known: Any, values: Any, shown: Any, own: Any, among: Any) -> None:
    """For every record whether its own individual, if it has one, is consistent. Cost: the attributes per record."""
    for i in range(values.shape[0]):
        among[i] = own[i] >= 0 and fits(known, values[i], shown[i], own[i], -1)


@kernel
def consistent_lists(known: Any, values: Any, shown: Any, starts: Any, out: Any, lists: Any) -> None:
    """Fill `lists[starts[i]:starts[i + 1]]` with the individuals who are consistent with record i, ascending.

    Cost: per record that of `consistent_with`, and a sort.
    """
    for i in range(values.shape[0]):
        count = consistent_with(known, values[i], shown[i], out)
        lists[starts[i] : starts[i + 1]] = np.sort(out[:count])
