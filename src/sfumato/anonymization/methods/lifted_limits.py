"""Limits on neighbours for units with several values each: units are near if any of their values are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.data.units import Units
from sfumato.distances.neighbour_graph import GuardedNeighbours, Neighbours, NeighbourSets, OneSidedNeighbours
from sfumato.principles import NeighbourLimit

MOST = 40_000
"""The largest number of distinct sets of values with one bit per pair: 200 MB."""

_BLOCK = 1 << 24
"""How many pairs of a set and a value are decided at a time."""


def lifted(limit: NeighbourLimit, units: Units) -> NeighbourLimit | None:
    """Return the same limit on units: `limit.values` are those of the rows, the new ones are sets of values of the units.

    A group that meets it meets the limit for every choice of one row per unit, because a unit that is near a unit in some
    choice is counted in all of them. None if there are more than `MOST` distinct sets.
    """
    assert not isinstance(limit.neighbours, NeighbourSets | OneSidedNeighbours)
    pairs = np.unique(units.of_row * (int(limit.values.max()) + 1) + limit.values)
    unit, value = np.divmod(pairs, int(limit.values.max()) + 1)
    starts = np.searchsorted(unit, np.arange(units.count + 1))
    if len(value) == units.count:
        return replace(limit, values=value)
    numbers: dict[bytes, int] = {}
    of_unit = np.empty(units.count, np.int64)
    sets: list[NDArray[np.int64]] = []
    for u in range(units.count):
        members = value[starts[u] : starts[u + 1]]
        number = numbers.setdefault(members.tobytes(), len(numbers))
        if number == len(sets):
            sets.append(members)
        of_unit[u] = number
    if len(sets) > MOST:
        return None
    return NeighbourLimit(of_unit, NeighbourSets(_bits(sets, limit.neighbours)), limit.allowed)


def _bits(sets: list[NDArray[np.int64]], neighbours: Neighbours | GuardedNeighbours) -> NDArray[np.uint64]:
    """Return which sets are near one another, one bit per pair."""
    size = len(sets)
    members = np.concatenate(sets)
    starts = np.concatenate([[0], np.cumsum([len(one) for one in sets])[:-1]])
    used, place = np.unique(members, return_inverse=True)  # only values that occur
    bits = np.zeros((size, -(-size // 64)), np.uint64)
    as_bytes = bits.view(np.uint8)
    step = max(1, _BLOCK // len(members))
    for start in range(0, size, step):
        some = np.concatenate(sets[start : start + step])
        first = starts[start : start + step] - starts[start]
        near = neighbours.near(some, used)
        by_set = np.logical_or.reduceat(near, first, axis=0)  # each set with each value
        pairs = np.logical_or.reduceat(by_set[:, place], starts, axis=1)  # each set with each set
        packed = np.packbits(pairs, axis=1, bitorder="little")
        as_bytes[start : start + len(first), : packed.shape[1]] = packed
    return bits
