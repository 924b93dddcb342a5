"""Count the individuals who are consistent with each record by sorting both sides, attribute by attribute.

The records are split by the attributes that they disclose. For each split, the distinct records and the dictionary are
sorted by these attributes and joined. The cost hardly depends on how many individuals are consistent: a register of 151,518
people in which each of 71,518 records fits 6,000 is joined in the time of a few sorts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.common_values import counts_by_bits, has_common_values
from sfumato.kernels.dictionary_join import joined_counts
from sfumato.kernels.dictionary_matching import consistent_counts

if TYPE_CHECKING:
    from sfumato.disclosure.matching.matching import Matching

_BLOCKS = 50
"""Calls of a kernel for all rows: so often progress is reported, and Ctrl-C is noticed."""

_SORT = 20
"""Candidates per individual from which on sorting the dictionary costs less than going through the candidates."""


def counts_by_join(
    matching: Matching, shown: NDArray[np.int32], progress: Callable[[float], None] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return, for every disclosed row, the number of consistent individuals and their weight; no misfits.

    >>> from sfumato.disclosure.matching.matching import Matching
    >>> ages = Matching.of_codes(np.array([[30, 1], [41, -1]]), np.array([[30, 1], [30, -1], [41, 2]]))
    >>> counts_by_join(ages, ages.values)[0].tolist()
    [2, 1]
    """
    used = np.flatnonzero((shown >= 0).any(axis=0))
    distinct, of_record = distinct_rows(shown[:, used])
    rows = np.full((len(distinct), shown.shape[1]), -1, np.int32)
    rows[:, used] = distinct
    counts, sums = np.zeros(len(rows), np.int64), np.zeros(len(rows))
    pattern_of = distinct_rows(np.packbits(distinct >= 0, axis=1))[1]
    members = np.split(np.argsort(pattern_of, kind="stable"), np.cumsum(np.bincount(pattern_of))[:-1])
    done = 0
    if not len(matching.weights):
        # rows with few others like them are not worth a sort of the dictionary
        few = np.bincount(pattern_of)[pattern_of] < _SORT
        few[few] = has_common_values(matching, rows[few])
        done = int(few.sum())
        if done:
            counts[few] = sums[few] = counts_by_bits(matching, rows[few])
        members = [left for left in (part[~few[part]] for part in members) if len(left)]
    for part in members:
        disclosed = np.flatnonzero(rows[part[0]] >= 0)

        def report(share: float, done: int = done, size: int = len(part)) -> None:
            if progress is not None:
                progress((done + share * size) / len(rows))

        counts[part], sums[part] = _of_pattern(matching, rows[part], disclosed, report)
        done += len(part)
    return counts[of_record], sums[of_record]


def _of_pattern(
    matching: Matching, rows: NDArray[np.int32], disclosed: NDArray[np.int64], report: Callable[[float], None]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count for rows that all disclose the same attributes."""
    counts, sums = np.zeros(len(rows), np.int64), np.zeros(len(rows))
    if not len(disclosed):  # everybody is consistent
        counts[:] = matching.individuals
        sums[:] = matching.weights.sum() if len(matching.weights) else matching.individuals
        return counts, sums
    if int(matching.reach[rows[:, disclosed]].min(axis=1).sum()) < _SORT * matching.individuals:
        out = np.empty(matching.individuals, np.int64)
        consistent_counts(matching.index, rows, matching.weights, 0, out, counts, sums)
        return counts, sums
    order = _by_branches(matching, rows, disclosed)
    people = matching.dictionary_values[:, order].T
    sorted_people = np.lexsort(people[::-1])
    people = np.ascontiguousarray(people[:, sorted_people])
    weights = matching.weights[sorted_people] if len(matching.weights) else matching.weights
    values = rows[:, order]
    place = np.lexsort(values.T[::-1])
    values = np.ascontiguousarray(values[place])
    counted, summed = np.zeros(len(rows), np.int64), np.zeros(len(rows))
    for part, done in blocks(len(rows)):
        joined_counts(values[part], people, matching.near_starts, matching.near, weights, counted[part], summed[part])
        report(done)
    counts[place], sums[place] = counted, summed
    return counts, sums


def _by_branches(matching: Matching, rows: NDArray[np.int32], disclosed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order attributes by the number of the dictionary's values that fit one value: the fewer, the fewer intervals."""
    near = np.diff(matching.near_starts)
    branches = near[rows[:, disclosed]].mean(axis=0) + (matching.dictionary_values[:, disclosed] < 0).any(axis=0)
    reached = matching.reach[rows[:, disclosed]].mean(axis=0)
    return np.asarray(disclosed[np.lexsort([reached, branches])])


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct rows, and which of them each row is.

    >>> distinct_rows(np.array([[2, 1], [1, 1], [2, 1]]))[1].tolist()
    [1, 0, 1]
    """
    if not rows.shape[1]:
        return rows[:1], np.zeros(len(rows), np.int64)
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.ones(len(rows), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ordered[new]), which


def blocks(rows: int) -> Iterator[tuple[slice, float]]:
    """Yield consecutive parts of the rows, each with the share of the rows up to its end."""
    size = -(-rows // _BLOCKS) or 1
    for start in range(0, rows, size):
        end = min(start + size, rows)
        yield slice(start, end), end / rows
