"""Count units, such as people, that have several values each: how many are near a value, how few values describe all.

A principle holds in a group of units if it holds for every choice of one row per unit. So the units near a value are those
with at least one row near it, and the number of different values is that of the choice with the fewest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.data.units import UnitValues

if TYPE_CHECKING:
    from sfumato.data.groups import Histogram
    from sfumato.distances.neighbour_graph import Neighbours
    from sfumato.principles.view import View

_AT_ONCE = 1 << 22
"""The number of pairs of a unit and a value that are listed at a time; bounds memory."""

STEPS = 100_000
"""The number of partial choices that are tried in a group before it counts as having too few values."""


def counted_twice(histogram: Histogram, values: UnitValues, neighbours: Neighbours) -> NDArray[np.int64]:
    """Return for each entry of a histogram how often its neighbours count a unit beyond the first time.

    A unit with several values near the entry's value is counted once for each of them, and once is right. Cost: for each
    unit with several values the number of distinct values of its group.
    """
    ends = np.append(values.starts[1:], len(values.rows))
    several = np.flatnonzero(ends - values.starts > 1)
    group = values.group[values.starts[several]]
    widths = histogram.distinct[group]
    twice = np.zeros(len(histogram.values), np.int64)
    for some in np.split(several, np.flatnonzero(np.diff(np.cumsum(widths) // _AT_ONCE)) + 1):
        if not len(some):
            continue
        # a set for each unit: all values of its group, each with the number of rows 1 if the unit has it, else 0
        of_group = values.group[values.starts[some]]
        width = histogram.distinct[of_group]
        offsets = np.concatenate([[0], np.cumsum(width)])
        entries = np.arange(offsets[-1]) + np.repeat(histogram.starts[of_group] - offsets[:-1], width)
        has = np.zeros(len(entries), np.int64)
        own = np.concatenate([np.arange(values.starts[u], ends[u]) for u in some])
        which = np.repeat(np.arange(len(some)), ends[some] - values.starts[some])
        # where a value is among the entries of its group: the values of a group ascend
        key = histogram.group * (1 + int(histogram.values.max())) + histogram.values
        at = np.searchsorted(key, values.group[own] * (1 + int(histogram.values.max())) + values.value[own])
        has[at - histogram.starts[of_group[which]] + offsets[which]] = 1
        near = neighbours.counts(offsets, histogram.values[entries], has)
        np.add.at(twice, entries, np.maximum(near - 1, 0))
    return twice


def fewest_values(view: View, wanted: int) -> NDArray[np.int64]:
    """Return for each group the number of its different values, in the choice of one row per unit that has the fewest.

    If values vary within units, numbers above `wanted` are returned as `wanted`, and a group in which `STEPS` partial
    choices do not settle whether `wanted` is reached gets one less: it counts as failing. The fewest values that hit every
    unit are a minimum hitting set, which is hard to find in general; whether fewer than a small number suffice is not.
    """
    values = view.unit_values
    if values is None or not values.vary:
        return view.histogram.distinct
    from sfumato.kernels.hitting_sets import hitting_numbers

    groups = np.searchsorted(values.group[values.starts], np.arange(view.groups.count + 1))
    starts = np.append(values.starts, len(values.rows))
    out = np.empty(view.groups.count, np.int64)
    hitting_numbers(groups, starts, values.value, len(view.attribute), wanted, STEPS, out)
    return out
