"""How many individuals of a dictionary are consistent with each record, by a join of two sorted tables.

Both sides are sorted by their attributes in the same order. Individuals that agree in the first attributes are then
neighbours, so the individuals who are consistent with the first values of a record are a few intervals of the dictionary.
The next value narrows each interval down, by binary search. Records with the same first values share that work.

Values are numbered as in `dictionary_matching`: value a of a record is consistent with the dictionary's values
`near[near_starts[a]:near_starts[a + 1]]`, in ascending order, and with -1, a missing value, which sorts first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel


@kernel
def _first_at_least(values: Any, low: int, high: int, bound: int) -> int:
    """Return the first place of the ascending `values[low:high]` with a value of at least `bound`, or `high`.

    The steps double from `low` on, because the place is often near. Cost: logarithmic in its distance from `low`.
    """
    step = 1
    end = low  # invariant: values[at] < bound for at < low
    while end < high and values[end] < bound:
        low = end + 1
        end += step
        step *= 2
    end = min(end, high)
    while low < end:
        middle = (low + end) // 2
        if values[middle] < bound:
            low = middle + 1
        else:
            end = middle
    return low


@kernel
def _narrow(values: Any, near: Any, span: Any, low: int, high: int, lows: Any, highs: Any, count: int) -> int:
    """Append the parts of an interval whose value is missing or in `near[span]`; return the number of intervals.

    Leapfrog: the next value of the interval is looked up among the near ones, and the next near one in the interval. Cost:
    the smaller number of distinct values of the two, times a logarithm.
    """
    at, place, stop = low, span[0], span[1]
    if values[at] < 0:
        at = _first_at_least(values, at, high, 0)
        lows[count], highs[count] = low, at
        count += 1
    while at < high and place < stop:
        if near[place] < values[at]:
            place = _first_at_least(near, place, stop, values[at])
        elif near[place] > values[at]:
            at = _first_at_least(values, at, high, near[place])
        else:
            end = _first_at_least(values, at, high, near[place] + 1)
            lows[count], highs[count] = at, end
            count += 1
            at, place = end, place + 1
    return count


@kernel
def _enlarged(array: Any, size: int) -> Any:
    """Return an array of at least `size` entries that begins with those of this one."""
    if len(array) >= size:
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def joined_counts(rows: Any, people: Any, near_starts: Any, near: Any, weights: Any, counts: Any, sums: Any) -> None:
    """Fill, for every row, the number of consistent individuals and their total weight.

    `rows[i, level]`: the values of record i, none of them missing, in ascending lexicographic order. `people[level, v]`:
    those of individual v, sorted likewise. `weights[v]` is empty if all individuals weigh 1; otherwise each sum is added in
    the order of the individuals. Cost: per row and level at which it differs from the row before, the intervals there,
    times a logarithm; with weights, also the consistent individuals.
    """
    levels = rows.shape[1]
    # the intervals that are consistent with the first `level` values are number ends[level]:ends[level + 1]
    ends = np.zeros(levels + 2, np.int64)
    ends[1] = 1
    lows, highs = np.zeros(64, np.int64), np.zeros(64, np.int64)
    highs[0] = people.shape[1]
    for i in range(rows.shape[0]):
        first = 0
        while i > 0 and first < levels and rows[i, first] == rows[i - 1, first]:
            first += 1
        for level in range(first, levels):
            value, count = rows[i, level], ends[level + 1]
            span = (near_starts[value], near_starts[value + 1])
            for number in range(ends[level], ends[level + 1]):
                # an interval has at most as many parts as near values, and one for the missing value
                room = count + 1 + min(span[1] - span[0], highs[number] - lows[number])
                lows, highs = _enlarged(lows, room), _enlarged(highs, room)
                count = _narrow(people[level], near, span, lows[number], highs[number], lows, highs, count)
            ends[level + 2] = count
        counts[i], total = 0, 0.0
        for number in range(ends[levels], ends[levels + 1]):
            counts[i] += highs[number] - lows[number]
            if len(weights):
                for v in range(lows[number], highs[number]):
                    total += weights[v]
        sums[i] = total if len(weights) else counts[i]
