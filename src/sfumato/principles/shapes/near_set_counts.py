"""Count the rows of the largest sets of near values in each group, for distances without an order: bits, or pair by pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.distance import Plane
from sfumato.distances.neighbour_counters import BITSET, BitsetCounter
from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.errors import DistanceError
from sfumato.principles.cliques import Clique
from sfumato.principles.view import View

Integers = NDArray[np.int64]

_LARGEST = 1024
"""Cliques are searched in groups of up to this many distinct values; those of larger groups are only bounded."""

_BRANCHES = 1 << 20
"""How many branches that search takes in a group of up to 64 distinct values; in proportion fewer in larger ones."""

_MOST = 40_000
"""The most distinct values of one group of which all pairs are stored: 200 MB."""

_FEW = 4
"""If the distance is costly, groups with this many times fewer pairs than all values have are looked at one by one."""

_BLOCK = 1 << 22
"""How many pairs are decided at a time."""


class Entries(NamedTuple):
    """The values in each group, as `kernels.near_sets` takes them."""

    offsets: Integers
    values: Integers
    counts: Integers
    owner: Integers

    @classmethod
    def of(cls, view: View) -> Entries:
        """List the distinct values of each group; if values vary within units, those of each unit by itself."""
        units = view.unit_values
        if units is None or not units.vary:
            h = view.histogram
            return cls(h.offsets, h.values, h.counts, np.full(len(h.values), -1))
        offsets = np.searchsorted(units.group, np.arange(view.groups.count + 1))
        return cls(offsets, units.value, np.ones(len(units.value), np.int64), units.unit.astype(np.int64))


Kernel = Callable[..., None]
"""Fills some arrays, one number for each group: a function of bits and entries, and of the arrays."""


def over_groups(graph: NeighbourGraph, entries: Entries, kernel: Kernel, answers: int) -> list[Integers]:
    """Run a kernel over all groups; return what it fills, one array for each answer."""
    offsets, values, counts, owner = entries
    size, groups = len(graph.attribute), len(offsets) - 1
    within = int((np.diff(offsets) ** 2).sum())
    out = [np.empty(groups, np.int64) for _ in range(answers)]
    if size <= BITSET and not (graph.bound.costly and _FEW * within < size**2):
        counter = graph.counter
        assert isinstance(counter, BitsetCounter)
        kernel(counter.bits, offsets, values, counts, owner, *out)
        return out
    for g in range(groups):
        some = slice(int(offsets[g]), int(offsets[g + 1]))
        distinct, local = np.unique(values[some], return_inverse=True)
        one = np.array([0, len(local)])
        kernel(_bits(graph, distinct), one, local, counts[some], owner[some], *(each[g : g + 1] for each in out))
    return out


def _bits(graph: NeighbourGraph, values: Integers) -> NDArray[np.uint64]:
    """Return which of some values are near one another, one bit per pair."""
    size = len(values)
    if size > _MOST:
        raise DistanceError(
            f"a group has {size:,} distinct values of {graph.attribute.name!r} under a distance with no order, more than "
            f"the {_MOST:,} that are compared pair by pair",
            remedy='Round the values, use a distance along one order, such as absolute, or shape = "star".',
            column=graph.attribute.name,
            value=size,
        )
    bits = np.zeros((size, -(-size // 64)), np.uint64)
    as_bytes = bits.view(np.uint8)
    step = max(1, _BLOCK // size)
    for start in range(0, size, step):
        packed = np.packbits(graph.near(values[start : start + step], values), axis=1, bitorder="little")
        as_bytes[start : start + len(packed), : packed.shape[1]] = packed
    return bits


def clique_bounds(view: View, graph: NeighbourGraph) -> tuple[Integers, Integers]:
    """Return for each group a lower and an upper bound on the rows of its largest clique; equal where it is known.

    It is known in groups of tens of rows, whatever the distance: see `_LARGEST` and `_BRANCHES`.
    """
    from sfumato.kernels.near_sets import heaviest_cliques

    entries = Entries.of(view)
    widest = int(np.diff(entries.offsets).max(initial=1))

    def run(bits: Any, offsets: Any, values: Any, counts: Any, owner: Any, least: Any, most: Any) -> None:
        steps = _BRANCHES * 64 // max(64, min(widest, _LARGEST))
        heaviest_cliques(bits, offsets, values, counts, owner, _LARGEST, steps, least, most)

    least, most = over_groups(graph, entries, run, 2)
    return least, most


def component_sizes(view: View, graph: NeighbourGraph) -> Integers:
    """Return for each group how many rows its largest connected component has."""
    from sfumato.kernels.near_sets import largest_components

    def run(bits: Any, offsets: Any, values: Any, counts: Any, owner: Any, out: Any) -> None:
        del owner
        largest_components(bits, offsets, values, counts, out)

    return over_groups(graph, Entries.of(view), run, 1)[0]


def block_sizes(view: View, graph: NeighbourGraph) -> Integers:
    """Return for each group how many rows its largest block has; see `kernels.near_sets.largest_blocks`."""
    from sfumato.kernels.near_sets import largest_blocks

    def run(bits: Any, offsets: Any, values: Any, counts: Any, owner: Any, out: Any) -> None:
        del owner
        largest_blocks(bits, offsets, values, counts, out)

    return over_groups(graph, Entries.of(view), run, 1)[0]


def centred_counts(view: View, graph: NeighbourGraph) -> Integers:
    """Return for each group the most rows that are near one value of the whole table."""
    entries = Entries.of(view)
    size = len(graph.attribute)
    if size <= BITSET:
        from sfumato.kernels.near_sets import fullest_balls

        counter = graph.counter
        assert isinstance(counter, BitsetCounter)
        out = np.empty(len(entries.offsets) - 1, np.int64)
        fullest_balls(counter.bits, *entries, out)
        return out
    return np.array([_centred(graph, entries, g) for g in range(len(entries.offsets) - 1)], np.int64)


def _centred(graph: NeighbourGraph, entries: Entries, group: int) -> int:
    """Return the most rows of one group that are near one value of the table, comparing every pair."""
    some = slice(int(entries.offsets[group]), int(entries.offsets[group + 1]))
    values, counts, owner = entries.values[some], entries.counts[some], entries.owner[some]
    size, best = len(graph.attribute), 0
    step = max(1, _BLOCK // len(values))
    starts = np.flatnonzero(np.concatenate([[True], (owner[1:] != owner[:-1]) | (owner[1:] < 0)]))
    for first in range(0, size, step):
        near = graph.near(np.arange(first, min(first + step, size)), values)
        # a unit counts once, whatever the number of its values that are near
        once = np.maximum.reduceat(near * counts, starts, axis=1)
        best = max(best, int(once.sum(axis=1).max()))
    return best


def box_counts(entries: Entries, plane: Plane) -> tuple[Integers, Integers]:
    """Return for each group the rows of its largest clique, which a square contains, and values on two of its sides."""
    from sfumato.kernels.near_sets import fullest_boxes

    group = np.repeat(np.arange(len(entries.offsets) - 1), np.diff(entries.offsets))
    order = np.lexsort((plane.y[entries.values], plane.of_class[entries.values], group))
    values = entries.values[order]
    out, corner = np.empty(len(entries.offsets) - 1, np.int64), np.zeros((len(entries.offsets) - 1, 2), np.int64)
    x, y, of_class = (np.ascontiguousarray(each[values]) for each in (plane.x, plane.y, plane.of_class))
    fullest_boxes(entries.offsets, x, y, of_class, entries.counts[order], plane.side, out, corner)
    return out, values[corner]


def heaviest_in_plane(graph: NeighbourGraph, plane: Plane) -> Clique:
    """Return the heaviest clique of a neighbour graph whose values are points of a plane."""
    size = len(graph.attribute)
    everyone = Entries(np.array([0, size]), np.arange(size), graph.attribute.counts, np.full(size, -1))
    count, sides = box_counts(everyone, plane)
    left, low = sides[0]
    across, up = plane.x - plane.x[left], plane.y - plane.y[low]
    inside = (plane.of_class == plane.of_class[left]) & (across >= 0) & (up >= 0)
    return Clique(np.flatnonzero(inside & (across <= plane.side) & (up <= plane.side)), int(count[0]), True)
