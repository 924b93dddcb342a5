"""The arrays of glaze's local search for a partition of the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.search_constraints import scratch_counts
from sfumato.kernels.cell_shares import SET, Shares
from sfumato.kernels.group_excess import HistogramConditions, NeighbourLimits
from sfumato.kernels.search_arrays import SearchArrays, refresh_all

_TIMES_THE_ROOM = 4
"""A group counts its places or values if there are at most this many times as many of them as the group has room for rows.

So the counts need memory in proportion to the rows, and a group that is not counted is small enough to look at each row.
"""


def group_arrays(
    place: NDArray[np.int32],
    labels: NDArray[np.int64],
    shares: Shares,
    limits: NeighbourLimits,
    conditions: HistogramConditions,
) -> SearchArrays:
    """Return the arrays of the groups `labels`, which are numbered from 0 without gaps. Cost: see `refresh_all`."""
    rows, d = place.shape
    count = int(labels.max()) + 1
    size = np.bincount(labels, minlength=count)
    room = size + np.maximum(8, size // 2)  # slots for rows that move in
    first = np.concatenate([[0], np.cumsum(room)[:-1]])
    by_group = np.argsort(labels, kind="stable")
    member = np.full(int(room.sum()), -1, np.int64)
    within = np.arange(rows) - np.repeat(np.cumsum(size) - size, size)  # each row's index in its group
    member[np.repeat(first, size) + within] = by_group
    low, low_next, high, high_next = (np.zeros((count, d), np.int32) for _ in range(4))
    # a slot for each place of a set, the missing one included
    place_first, places = _offsets(np.where(shares.kind == SET, shares.size + 1, 0), room)
    value_first, values = _offsets(conditions.width, room)
    alike = int(conditions.combination.max(initial=0)) + 1
    arrays = SearchArrays(
        place, labels.copy(), first, room, size, member, low, low_next, high, high_next,
        place_first=place_first, place_counts=np.zeros(places, np.int32), distinct=np.zeros((count, d), np.int64),
        value_first=np.ascontiguousarray(value_first.T), value_counts=np.zeros(values, np.int32),
        different=np.zeros((len(conditions.kind), count), np.int64), missing=np.zeros((len(conditions.kind), count)),
        loss=np.zeros(count), excess=np.zeros(count), degree=np.zeros((len(limits.windowed), rows), np.int64),
        gain=np.zeros(rows), best_gain=np.zeros(count), relief=np.zeros(rows), best_relief=np.zeros(count),
        scratch=scratch_counts(conditions), values=np.zeros(rows + 1, np.int64),
        tally=np.zeros(int(shares.size.max(initial=0)) + 2, np.int64),
        seen=np.zeros(int(shares.size.max(initial=0)) + 2, np.int64), clock=np.zeros(1, np.int64),
        work=np.zeros(1, np.int64), along=np.zeros(limits.rank.shape[1] + 1, np.int64),
        known_at=np.zeros(alike, np.int64), known=np.zeros((2, alike)),
    )  # fmt: skip
    refresh_all(shares, limits, conditions, arrays)
    return arrays


def _offsets(widths: NDArray[np.int64], room: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return, for each group and width, where its counts begin in a common array, or -1; and the length of that array."""
    counted = (widths > 0) & (widths <= _TIMES_THE_ROOM * room[:, None])
    needed = np.where(counted, widths, 0).ravel()
    first = (np.cumsum(needed) - needed).reshape(counted.shape)
    return np.where(counted, first, -1), int(needed.sum())
