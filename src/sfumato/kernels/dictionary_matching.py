"""Which individuals of a dictionary are consistent with a record.

Conventions. Attributes are numbered from 0. `rows[i, j]` is the value that record i discloses of attribute j, and
`dictionary_values[j, v]` the value that the dictionary holds of individual v. Values are numbered over all attributes, those
of the records apart from those of the dictionary; -1 is "nothing disclosed" or "missing".

The dictionary comes as an inverted index, the tuple `index` of seven arrays:

- `dictionary_values`, as above;
- `near_starts`, `near`: value a of a record is consistent with the dictionary's values
  `near[near_starts[a]:near_starts[a + 1]]`, in ascending order;
- `who_starts`, `who`: the individuals with value h are `who[who_starts[h]:who_starts[h + 1]]`;
- `absent_starts`, `absent`: the individuals without a value of attribute j are
  `absent[absent_starts[j]:absent_starts[j + 1]]`.

A missing value on either side is consistent with anything. An individual is consistent with a row if at most `misfits` of
the disclosed values are inconsistent with what the dictionary holds of it.

Ownership: the caller allocates every array. Arrays named `out`, `order` or `misfit` are scratch space, whose content means
nothing between calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import inlined, kernel


@kernel
def contains_sorted(near: Any, low: int, high: int, other: int) -> bool:
    """Return whether `other` is in `near[low:high]`, by binary search. Cost: logarithmic in the length."""
    end = high
    while low < high:  # invariant: near[at] < other for at < low, near[at] >= other for at >= high
        middle = (low + high) // 2
        if near[middle] < other:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and near[low] == other)


@inlined
def _is_consistent(near: Any, low: int, high: int, other: int) -> bool:
    """Return whether a dictionary's value is consistent with the record's value that has `near[low:high]`."""
    if other < 0:  # missing
        return True
    if high - low == 1:  # the usual case under equality, without a call
        return bool(near[low] == other)
    return contains_sorted(near, low, high, other)


@kernel
def _order_by_selectivity(index: Any, row: Any, order: Any) -> int:
    """Fill `order` with the disclosed attributes, the most selective first, and return their number.

    An attribute is the more selective the fewer individuals are consistent with its value. Insertion sort: attributes are
    few. Cost: the dictionary's values that are consistent with the row.
    """
    _, near_starts, near, who_starts, _, absent_starts, _ = index
    count = 0
    totals = np.empty(len(row), np.int64)  # totals[place]: individuals consistent in attribute order[place]
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
def _individuals_of_value(index: Any, value: int, j: int, out: Any) -> int:
    """Fill `out` with the individuals who are consistent with one value of attribute j, and return their number."""
    _, near_starts, near, who_starts, who, absent_starts, absent = index
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
def _individuals_with_misfits(index: Any, row: Any, order: Any, shown: int, misfits: int, out: Any) -> int:
    """Fill `out` with the individuals who misfit in at most `misfits` of the `shown` attributes; return their number.

    Requires misfits < shown. Whoever misfits in at most `misfits` attributes is consistent in one of any `misfits` + 1
    attributes (pigeonhole), so it is enough to go through those of the most selective ones. Turn t adds the individuals
    whose first consistent attribute in this order is number t: each is added once. `out` needs room for all individuals
    twice, because the candidates of a turn are listed behind those already found. Cost: the individuals who are
    consistent in one of these attributes, times the attributes.
    """
    dictionary_values, near_starts, near = index[0], index[1], index[2]
    count = 0
    for turn in range(misfits + 1):
        stop = count + _individuals_of_value(index, row[order[turn]], order[turn], out[count:])
        kept = count  # out[:kept] is the result so far; candidates that stay are moved down to it
        for at in range(count, stop):
            v, missed, added_before = out[at], 0, False
            for number in range(shown):
                if number != turn:
                    value = row[order[number]]
                    theirs = dictionary_values[order[number], v]
                    if _is_consistent(near, near_starts[value], near_starts[value + 1], theirs):
                        added_before = added_before or number < turn
                    else:
                        missed += 1
                    if added_before or missed > misfits:
                        break
            if not added_before and missed <= misfits:
                out[kept] = v
                kept += 1
        count = kept
    return count


@kernel
def consistent_individuals(index: Any, row: Any, order: Any, misfits: int, out: Any) -> int:
    """Fill `out` with the individuals who are consistent with a row, in no particular order; return their number.

    The individuals consistent in the most selective attribute are filtered attribute by attribute. `order` has room for
    the attributes. Cost: the number of those individuals times the attributes.
    """
    dictionary_values, near_starts, near = index[0], index[1], index[2]
    shown = _order_by_selectivity(index, row, order)
    if shown <= misfits:  # nothing rules anybody out
        for v in range(dictionary_values.shape[1]):
            out[v] = v
        return int(dictionary_values.shape[1])
    if misfits:
        return _individuals_with_misfits(index, row, order, shown, misfits, out)
    count = _individuals_of_value(index, row[order[0]], order[0], out)
    for number in range(1, shown):
        j = order[number]
        low, high = near_starts[row[j]], near_starts[row[j] + 1]
        kept = 0
        for at in range(count):
            v = out[at]
            if _is_consistent(near, low, high, dictionary_values[j, v]):
                out[kept] = v
                kept += 1
        count = kept
    return count


@kernel
def consistent_counts(index: Any, rows: Any, weights: Any, misfits: int, out: Any, counts: Any, sums: Any) -> None:
    """Fill, for every row, the number of consistent individuals and their total weight.

    `weights` is empty if all individuals weigh 1. Cost: per row that of `consistent_individuals`.
    """
    order = np.empty(rows.shape[1], np.int64)
    for i in range(rows.shape[0]):
        count = consistent_individuals(index, rows[i], order, misfits, out)
        counts[i] = count
        total = 0.0
        if len(weights):
            for at in range(count):
                total += weights[out[at]]
        sums[i] = total if len(weights) else count


@kernel
def consistent_lists(index: Any, rows: Any, misfits: int, starts: Any, out: Any, lists: Any) -> None:
    """Fill `lists[starts[i]:starts[i + 1]]` with the individuals who are consistent with row i, ascending.

    Cost: per row that of `consistent_individuals`, and a sort.
    """
    order = np.empty(rows.shape[1], np.int64)
    for i in range(rows.shape[0]):
        count = consistent_individuals(index, rows[i], order, misfits, out)
        lists[starts[i] : starts[i + 1]] = np.sort(out[:count])


@kernel
def owner_is_consistent(index: Any, rows: Any, own: Any, misfits: int, flags: Any) -> None:
    """Fill, for every row, whether its own individual `own[i]` is consistent with it; false if that is -1.

    Cost: the cells of the rows.
    """
    dictionary_values, near_starts, near = index[0], index[1], index[2]
    for i in range(rows.shape[0]):
        missed = 0
        for j in range(rows.shape[1]):
            value = rows[i, j]
            if own[i] >= 0 and value >= 0:
                theirs = dictionary_values[j, own[i]]
                missed += not _is_consistent(near, near_starts[value], near_starts[value + 1], theirs)
        flags[i] = own[i] >= 0 and missed <= misfits


@kernel
def weight_without_attribute(index: Any, rows: Any, weights: Any, out: Any, misfit: Any, more: Any) -> None:
    """Add to `more[i, j]` the weight of the individuals who are consistent with row i only if attribute j is not disclosed.

    These are the individuals who misfit in attribute j alone. With two or more attributes disclosed, such an individual is
    consistent in one of the two most selective attributes, so only the individuals of these two are looked at. `misfit` is
    scratch space parallel to `out`: the one attribute in which a candidate misfits so far, -1 for none. No misfits are
    allowed otherwise. Cost: per row the number of candidates times the attributes.
    """
    dictionary_values, near_starts, near = index[0], index[1], index[2]
    order = np.empty(rows.shape[1], np.int64)
    for i in range(rows.shape[0]):
        row = rows[i]
        shown = _order_by_selectivity(index, row, order)
        for turn in range(min(shown, 2)):
            # turn 0: candidates are consistent in the most selective attribute and misfit in one other;
            # turn 1: candidates are consistent in the second and misfit in the first alone
            count = _individuals_of_value(index, row[order[turn]], order[turn], out)
            misfit[:count] = -1
            for number in range(shown):
                j = order[number]
                if number == turn:
                    continue
                low, high = near_starts[row[j]], near_starts[row[j] + 1]
                kept = 0
                for at in range(count):
                    v, before = out[at], misfit[at]
                    consistent = _is_consistent(near, low, high, dictionary_values[j, v])
                    if number < turn and consistent:
                        continue  # turn 0 has counted this individual
                    if consistent or before < 0:  # a second misfit drops the candidate
                        out[kept], misfit[kept] = v, before if consistent else j
                        kept += 1
                count = kept
            for at in range(count):
                if misfit[at] >= 0:
                    more[i, misfit[at]] += weights[out[at]] if len(weights) else 1.0
        if shown == 1:  # without its only value nothing is disclosed: everybody else becomes consistent
            j = order[0]
            low, high = near_starts[row[j]], near_starts[row[j] + 1]
            for v in range(dictionary_values.shape[1]):
                if not _is_consistent(near, low, high, dictionary_values[j, v]):
                    more[i, j] += weights[v] if len(weights) else 1.0
