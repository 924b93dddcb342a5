"""Who of a dictionary is consistent with a record.

Attributes are numbered from 0. `rows[i, j]` is what record i shows of attribute j, and `held[j, v]` what individual v has of
it: numbers unique over all attributes, or -1 where there is none. A value a of a record is consistent with the values
`near[near_starts[a]:near_starts[a + 1]]` of the dictionary, which ascend. The individuals who have its value h are
`who[who_starts[h]:who_starts[h + 1]]`; those without a value of attribute j, `absent[absent_starts[j]:…]`, are consistent
with anything. These seven arrays come as the tuple `known`: held, near_starts, near, who_starts, who, absent_starts, absent.
An individual is consistent with a row if it misfits in at most `misfits` of the attributes that are shown.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import inlined, kernel


@kernel
def is_near(near: Any, low: int, high: int, other: int) -> bool:
    """Whether a value of the dictionary is among those of a stretch of `near`. Cost: logarithmic in the stretch."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if near[middle] < other:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and near[low] == other)


@inlined
def _fits(near: Any, low: int, high: int, other: int) -> bool:
    """Whether what an individual has is consistent with a value, which is near to a stretch of `near`."""
    if other < 0:
        return True
    if high - low == 1:  # as by equality
        return bool(near[low] == other)
    return is_near(near, low, high, other)


@kernel
def _by_fewest(known: Any, row: Any, order: Any) -> int:
    """List the attributes that a row shows, those in which fewest individuals fit first; return how many there are."""
    _, near_starts, near, who_starts, _, absent_starts, _ = known
    count = 0
    totals = np.empty(len(row), np.int64)
    for j in range(len(row)):
        if row[j] < 0:
            continue
        total = absent_starts[j + 1] - absent_starts[j]
        for at in range(near_starts[row[j]], near_starts[row[j] + 1]):
            total += who_starts[near[at] + 1] - who_starts[near[at]]
        place = count
        while place > 0 and totals[place - 1] > total:
            totals[place], order[place] = totals[place - 1], order[place - 1]
            place -= 1
        totals[place], order[place] = total, j
        count += 1
    return count


@kernel
def _fitting(known: Any, value: int, j: int, out: Any) -> int:
    """Fill `out` with the individuals who are consistent with one value of one attribute, and return how many there are."""
    _, near_starts, near, who_starts, who, absent_starts, absent = known
    count = 0
    for at in range(absent_starts[j], absent_starts[j + 1]):
        out[count] = absent[at]
        count += 1
    for at in range(near_starts[value], near_starts[value + 1]):
        for place in range(who_starts[near[at]], who_starts[near[at] + 1]):
            out[count] = who[place]
            count += 1
    return count


@kernel
def _nearly(known: Any, row: Any, order: Any, shown: int, misfits: int, out: Any) -> int:
    """Fill `out` with those who misfit in at most so many attributes, fewer than are shown; return how many there are.

    Each of them fits in one of any `misfits` + 1 attributes: those in which fewest do are gone through in turn, and whoever
    fits in an earlier one has been looked at. `out` has room for all individuals twice. Cost: who fits in one of these,
    times the attributes.
    """
    held, near_starts, near = known[0], known[1], known[2]
    count = 0
    for turn in range(misfits + 1):
        stop = count + _fitting(known, row[order[turn]], order[turn], out[count:])
        kept = count
        for at in range(count, stop):
            v, missed, before = out[at], 0, False
            for number in range(shown):
                if number != turn:
                    value = row[order[number]]
                    if _fits(near, near_starts[value], near_starts[value + 1], held[order[number], v]):
                        before = before or number < turn
                    else:
                        missed += 1
                    if before or missed > misfits:
                        break
            if not before and missed <= misfits:
                out[kept] = v
                kept += 1
        count = kept
    return count


@kernel
def consistent_with(known: Any, row: Any, order: Any, misfits: int, out: Any) -> int:
    """Fill `out` with the individuals who are consistent with a row, and return how many there are.

    Those who fit in the attribute in which fewest do are sifted attribute by attribute. Cost: their number times the
    attributes. `order` is room for the attributes.
    """
    held, near_starts, near = known[0], known[1], known[2]
    shown = _by_fewest(known, row, order)
    if shown <= misfits:  # anyone
        for v in range(held.shape[1]):
            out[v] = v
        return int(held.shape[1])
    if misfits:
        return _nearly(known, row, order, shown, misfits, out)
    count = _fitting(known, row[order[0]], order[0], out)
    for number in range(1, shown):
        j = order[number]
        low, high = near_starts[row[j]], near_starts[row[j] + 1]
        kept = 0
        for at in range(count):
            v = out[at]
            if _fits(near, low, high, held[j, v]):
                out[kept] = v
                kept += 1
        count = kept
    return count


@kernel
def consistent_counts(known: Any, rows: Any, weights: Any, misfits: int, out: Any, counts: Any, sums: Any) -> None:
    """For every row: how many individuals are consistent with it, and their weight.

    `weights` is empty if all weigh the same. Cost: per row that of `consistent_with`.
    """
    order = np.empty(rows.shape[1], np.int64)
    for i in range(rows.shape[0]):
        count = consistent_with(known, rows[i], order, misfits, out)
        counts[i] = count
        total = 0.0
        if len(weights):
            for at in range(count):
                total += weights[out[at]]
        sums[i] = total if len(weights) else count


@kernel
def consistent_lists(known: Any, rows: Any, misfits: int, starts: Any, out: Any, lists: Any) -> None:
    """Fill `lists[starts[i]:starts[i + 1]]` with the individuals who are consistent with row i, ascending.

    Cost: per row that of `consistent_with`, and a sort.
    """
    order = np.empty(rows.shape[1], np.int64)
    for i in range(rows.shape[0]):
        count = consistent_with(known, rows[i], order, misfits, out)
        lists[starts[i] : starts[i + 1]] = np.sort(out[:count])


@kernel
def own_among(known: Any, rows: Any, own: Any, misfits: int, among: Any) -> None:
    """For every row whether its own individual is consistent with it. Cost: the cells."""
    held, near_starts, near = known[0], known[1], known[2]
    for i in range(rows.shape[0]):
        missed = 0
        for j in range(rows.shape[1]):
            value = rows[i, j]
            if own[i] >= 0 and value >= 0:
                missed += not _fits(near, near_starts[value], near_starts[value + 1], held[j, own[i]])
        among[i] = own[i] >= 0 and missed <= misfits


@kernel
def counts_without(known: Any, rows: Any, weights: Any, out: Any, misfit: Any, more: Any) -> None:
    """By how much the weight of those who misfit nowhere grows if one attribute of a row were not shown, for each of them.

    Whoever misfits in one attribute alone fits in one of any two, so only those are looked at who fit in one of the two in
    which fewest do; `misfit` is room for the attribute in which each of them does not. Cost: per row their number times the
    attributes.
    """
    held, near_starts, near = known[0], known[1], known[2]
    order = np.empty(rows.shape[1], np.int64)
    for i in range(rows.shape[0]):
        row = rows[i]
        shown = _by_fewest(known, row, order)
        for turn in range(min(shown, 2)):
            # first those who fit in the first attribute and misfit in one other; then those who misfit in the first alone
            count = _fitting(known, row[order[turn]], order[turn], out)
            misfit[:count] = -1
            for number in range(shown):
                j = order[number]
                if number == turn:
                    continue
                low, high = near_starts[row[j]], near_starts[row[j] + 1]
                kept = 0
                for at in range(count):
                    v, before = out[at], misfit[at]
                    fine = _fits(near, low, high, held[j, v])
                    if number < turn and fine:
                        continue  # seen in the first turn
                    if fine or before < 0:
                        out[kept], misfit[kept] = v, before if fine else j
                        kept += 1
                count = kept
            for at in range(count):
                if misfit[at] >= 0:
                    more[i, misfit[at]] += weights[out[at]] if len(weights) else 1.0
        if shown == 1:  # without its only value nothing is shown: everybody else comes in
            j = order[0]
            low, high = near_starts[row[j]], near_starts[row[j] + 1]
            for v in range(held.shape[1]):
                if not _fits(near, low, high, held[j, v]):
                    more[i, j] += weights[v] if len(weights) else 1.0
