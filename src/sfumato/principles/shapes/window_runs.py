"""Chains and cycles where neighbours are consecutive along an order, as numbers are: runs of values with small steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import Histogram
from sfumato.distances.distance import Windows

Integers = NDArray[np.int64]


def longest_chains(h: Histogram, windows: Windows) -> Integers:
    """Return for each group the rows of its largest connected component: a run in which each value is near the next.

    Cost: linear in the entries, and sorting them if the values are not numbered along the order.

    >>> h = Histogram(np.array([0, 4]), np.array([0, 1, 3, 4]), np.array([1, 1, 1, 5]))
    >>> longest_chains(h, Windows(np.arange(5), np.array([0, 0, 1, 2, 4]), np.array([2, 3, 4, 4, 5]))).tolist()
    [5]
    """
    rank, count, group = _along_the_order(h, windows, h.counts)
    linked = (group[1:] == group[:-1]) & (rank[1:] < windows.high[rank[:-1]])
    return _largest(count, group, linked, 1)


def longest_cycles(h: Histogram, windows: Windows) -> Integers:
    """Return for each group the rows of its largest block: a run in which each row is near the next but one.

    Then no row is the only link between two others: without it, those before and after are near. Two near rows are a block.
    Of a value with several rows two stand for all. Cost: as `longest_chains`.

    >>> h = Histogram(np.array([0, 4]), np.array([0, 1, 2, 3]), np.array([1, 1, 1, 1]))
    >>> longest_cycles(h, Windows(np.arange(4), np.array([0, 0, 0, 1]), np.array([3, 4, 4, 4]))).tolist()
    [4]
    """
    rank, count, group = _along_the_order(h, windows, h.counts)
    several = count > 1
    twice = np.repeat(np.arange(len(rank)), 1 + several)
    second = np.concatenate([[False], twice[1:] == twice[:-1]])
    rank, group = rank[twice], group[twice]
    count = np.where(second, 1, count[twice] - several[twice])
    linked = (group[1:] == group[:-1]) & (rank[1:] < windows.high[rank[:-1]])
    around = (group[2:] == group[:-2]) & (rank[2:] < windows.high[rank[:-2]])
    # where each value is near the next but one, it is near the next
    return np.maximum(_largest(count, group, around, 2), _largest_pairs(count, group, linked))


def _along_the_order(h: Histogram, windows: Windows, counts: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the rank, count and group of each entry, sorted by group and rank."""
    rank = windows.rank[h.values]
    if not (np.diff(windows.rank) > 0).all():
        order = np.argsort(h.group * len(windows.rank) + rank)
        return rank[order], counts[order], h.group[order]
    return rank, counts, h.group


def _largest(count: Integers, group: Integers, linked: NDArray[np.bool_], ahead: int) -> Integers:
    """Return for each group the most rows of a run: each entry of it is linked with the entry `ahead` after it.

    An entry that is linked with none is a run by itself.
    """
    before = np.concatenate([[0], np.cumsum(count)])
    # a run begins at an entry whose link from the entry before it is missing
    linked = np.concatenate([linked, np.zeros(len(count) - len(linked), bool)])
    begins = np.flatnonzero(np.concatenate([[True], ~linked[:-1]]) | ~linked)
    ends = begins + 1
    runs = linked[begins]
    stops = np.flatnonzero(~linked)
    ends[runs] = stops[np.searchsorted(stops, begins[runs])] + ahead
    return _group_maxima(before[ends] - before[begins], group[begins], int(group[-1]) + 1)


def _largest_pairs(count: Integers, group: Integers, linked: NDArray[np.bool_]) -> Integers:
    """Return for each group the most rows of two consecutive linked entries; 0 without any."""
    first = np.flatnonzero(linked)
    return _group_maxima(count[first] + count[first + 1], group[first], int(group[-1]) + 1)


def _group_maxima(level: Integers, group: Integers, groups: int) -> Integers:
    """Return the largest level of each group; the groups ascend, and one without any has 0."""
    out = np.zeros(groups, np.int64)
    if len(group):
        starts = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
        out[group[starts]] = np.maximum.reduceat(level, starts)
    return out
