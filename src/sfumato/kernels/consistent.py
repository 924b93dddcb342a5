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
def fits(known: Any, row: Any, v: int, but: int) -> bool:
    """Whether an individual is consistent with what is shown of a record, one attribute left out of account."""
    held, near_starts, near = known[0], known[1], known[2]
    for j in range(len(row)):
        if j != but and row[j] >= 0 and held[v, j] >= 0 and not is_near(near_starts, near, row[j], held[v, j]):
            return False
    return True


@kernel
def consistent_with(known: Any, row: Any, out: Any) -> int:
    """Fill `out` with the individuals who are consistent with what is shown of a record, and return how many there are.

    Only those are looked at who fit in the attribute in which fewest do. Cost: their number times the attributes.
    """
    held, near_starts, near, who_starts, who, absent_starts, absent = known
    fewest, best = held.shape[0] + 1, -1
    for j in range(len(row)):
        if row[j] >= 0:
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
        if fits(known, row, absent[at], best):
            out[count] = absent[at]
            count += 1
    for at in range(near_starts[row[best]], near_starts[row[best] + 1]):
        for place in range(who_starts[near[at]], who_starts[near[at] + 1]):
            if fits(known, row, who[place], best):
                out[count] = who[place]
                count += 1
    return count


@kernel
def consistent_counts(known: Any, rows: Any, weights: Any, out: Any, counts: Any, sums: Any) -> None:
    """For every row of values, -1 where none is shown: how many individuals are consistent with it, and their weight.

    `weights` is empty if all weigh the same. Cost: per row that of `consistent_with`.
    """
    for i in range(rows.shape[0]):
        count = consistent_with(known, rows[i], out)
        counts[i] = count
        total = 0.0
        if len(weights):
            for at in range(count):
                total += weights[out[at]]
        sums[i] = total if len(weights) else count


@kernel
def own_among(known: Any, rows: Any, own: Any, among: Any) -> None:
    """For every row of values whether its own individual is consistent with it. Cost: the cells."""
    for i in range(rows.shape[0]):
        among[i] = own[i] >= 0 and fits(known, rows[i], own[i], -1)


@kernel
def consistent_lists(known: Any, rows: Any, starts: Any, out: Any, lists: Any) -> None:
    """Fill `lists[starts[i]:starts[i + 1]]` with the individuals who are consistent with row i, ascending.

    Cost: per row that of `consistent_with`, and a sort.
    """
    for i in range(rows.shape[0]):
        count = consistent_with(known, rows[i], out)
        lists[starts[i] : starts[i + 1]] = np.sort(out[:count])


@kernel
def _misfit(known: Any, row: Any, v: int, but: int, other: int) -> int:
    """The one attribute in which an individual is not consistent with a row, two left out of account; -1 if there is none.

    -2 if there are several.
    """
    held, near_starts, near = known[0], known[1], known[2]
    found = -1
    for j in range(len(row)):
        if j not in (but, other) and row[j] >= 0 and held[v, j] >= 0 and not is_near(near_starts, near, row[j], held[v, j]):
            if found >= 0:
                return -2
            found = j
    return found


@kernel
def _fitting(known: Any, value: int, j: int) -> int:
    """How many individuals are consistent with one value."""
    _, near_starts, near, who_starts, _, absent_starts, _ = known
    total = absent_starts[j + 1] - absent_starts[j]
    for at in range(near_starts[value], near_starts[value + 1]):
        total += who_starts[near[at] + 1] - who_starts[near[at]]
    return int(total)


@kernel
def counts_without(known: Any, rows: Any, weights: Any, out: Any, more: Any) -> None:
    """By how much the weight of the consistent individuals grows if one attribute of a row were not shown, for each of them.

    Whoever misfits in one attribute alone fits in one of any two others, so only those are looked at who fit in one of the
    two in which fewest do. Cost: per row their number times the attributes.
    """
    held, near_starts, near, who_starts, who, absent_starts, absent = known
    individuals = held.shape[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        first, second, fewest, next_fewest = -1, -1, individuals + 1, individuals + 1
        for j in range(len(row)):
            if row[j] >= 0:
                total = _fitting(known, row[j], j)
                if total < fewest:
                    second, next_fewest = first, fewest
                    first, fewest = j, total
                elif total < next_fewest:
                    second, next_fewest = j, total
        if first < 0:
            continue
        if second < 0:  # without its only value nothing is shown: everybody else comes in
            total_weight = 0.0
            for v in range(individuals):
                if held[v, first] >= 0 and not is_near(near_starts, near, row[first], held[v, first]):
                    total_weight += weights[v] if len(weights) else 1.0
            more[i, first] = total_weight
            continue
        for turn in range(2):
            lead, other = (first, second) if turn == 0 else (second, first)
            count = 0
            for at in range(absent_starts[lead], absent_starts[lead + 1]):
                out[count] = absent[at]
                count += 1
            for at in range(near_starts[row[lead]], near_starts[row[lead] + 1]):
                for place in range(who_starts[near[at]], who_starts[near[at] + 1]):
                    out[count] = who[place]
                    count += 1
            for at in range(count):
                v = out[at]
                weight = weights[v] if len(weights) else 1.0
                if turn == 0:
                    j = _misfit(known, row, v, lead, -1)
                    if j >= 0:
                        more[i, j] += weight
                # those who misfit in the first alone: they fit in the second and in all others
                elif (
                    held[v, other] >= 0
                    and not is_near(near_starts, near, row[other], held[v, other])
                    and _misfit(known, row, v, lead, other) == -1
                ):
                    more[i, other] += weight
