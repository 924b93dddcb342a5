"""What a principle demands of a group, in two forms that a local search can satisfy step by step.

The method glaze lowers the *excess* of each group: how many neighbours a row has too many, or how far a histogram is from
what it must be. Floats with a tolerance serve that search. Whether a principle holds is always decided by its `measure`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.distance import Windows
from sfumato.distances.neighbour_counters import BITSET, BitsetCounter
from sfumato.distances.neighbour_graph import (
    GuardedNeighbours,
    NeighbourGraph,
    Neighbours,
    NeighbourSets,
    NeighbourWindows,
    OneSidedNeighbours,
)
from sfumato.errors import ParameterError
from sfumato.exact import nearest_float
from sfumato.principles.numeric_values import numbers_of
from sfumato.principles.view import View


@dataclass(frozen=True, eq=False)
class NeighbourLimit:
    """Every row has at most `allowed(size)` neighbours in its group, by the size of the group."""

    values: NDArray[np.int64]
    """For each row the number of its sensitive value."""
    neighbours: Neighbours | NeighbourSets | OneSidedNeighbours | GuardedNeighbours
    """Which values are near one another; a value is its own neighbour, but a row is not."""
    allowed: Callable[[int], int]
    """How many neighbours a row may have in a group of a size; negative if no group of that size will do."""


@dataclass(frozen=True, eq=False)
class HistogramCondition:
    """A condition on the histogram of a group's values; `kernels.group_excess.histogram_excess` defines each kind."""

    values: NDArray[np.int64]
    """For each row the number of its sensitive value."""
    kind: int
    """One of the constants of `kernels.group_excess`: DISTINCT, ENTROPY, RECURSIVE, APART, …"""
    threshold: float
    second: float = 0.0
    """A second parameter, where the kind has one."""
    number: NDArray[np.float64] | None = None
    """For each value its size (variance, range), where its neighbours end (CHAIN, CYCLE), or its share of the table."""
    nodes: tuple[NDArray[np.int64], ...] = ()
    """For each level of a hierarchy, below the root, the node of each value; 64 neighbours (CHAIN)."""
    shares: tuple[NDArray[np.float64], ...] = ()
    """For each of those levels the share of the table that each node has."""


def distinct_values(view: View, count: int) -> HistogramCondition:
    """Require a number of distinct values."""
    from sfumato.kernels import group_excess as excess

    return HistogramCondition(view.attribute.codes, excess.DISTINCT, count)


def spread_of_numbers(view: View, kind: int, least: Fraction, title: str) -> HistogramCondition:
    """Require a range or a variance; `kind` is RANGE or VARIANCE.

    The numbers are shifted by their median, so that their squares keep enough digits in floats.
    """
    numbers = numbers_of(view, title)
    if least == 0:
        return distinct_values(view, 0)  # always satisfied
    middle = numbers[len(numbers) // 2]
    shifted = np.array([nearest_float(numbers[i] - middle) for i in range(len(numbers))])
    return HistogramCondition(view.attribute.codes, kind, float(least), number=shifted)


def linked_values(view: View, graph: NeighbourGraph, kind: int, most: Fraction) -> HistogramCondition:
    """Limit the largest connected component (CHAIN) or block (CYCLE) of a neighbour graph to a share of every group.

    Where neighbours are consecutive along an order, values are numbered along it, and each knows where its neighbours end.
    Otherwise only components are known, from one bit per pair of values.
    """
    windows = graph.windows
    if windows is not None:
        ends = windows.high.astype(float)
        return HistogramCondition(windows.rank[view.attribute.codes], kind, float(most), number=ends)
    size = len(graph.attribute)
    if size > BITSET:
        raise ParameterError(
            f"{graph.attribute.name!r} has {size:,} distinct values under a distance with no order, more than the "
            f"{BITSET:,} whose neighbours are stored pair by pair",
            remedy='Round the values, use a distance along one order, such as absolute, or method "mondrian".',
            key="distance",
            value=size,
        )
    bits = BitsetCounter(graph.bound, graph.epsilon, size).bits.view(np.int64)
    words = tuple(np.ascontiguousarray(word) for word in bits.T)
    return HistogramCondition(view.attribute.codes, kind, float(most), nodes=words)


def table_shares(view: View) -> NDArray[np.float64]:
    """Return each value's share of the table."""
    return np.asarray(view.table_counts / view.groups.population, float)


def equal_values_limit(view: View, share: Fraction) -> NeighbourLimit:
    """Limit equal values to a share of every group."""
    return equal_counts_limit(view, lambda size: int(size * share))


def equal_counts_limit(view: View, most: Callable[[int], int]) -> NeighbourLimit:
    """Limit the rows of each value to a number by the size of the group."""
    own = np.arange(len(view.attribute))
    equal = NeighbourWindows(Windows(own, own, own + 1), Fraction(0))
    return NeighbourLimit(view.attribute.codes, equal, lambda size: most(size) - 1)


def near_values_limit(view: View, neighbours: NeighbourWindows, parts: Fraction) -> NeighbourLimit:
    """Limit the rows near one value, itself included, to 1/`parts` of every group."""
    return NeighbourLimit(view.attribute.codes, neighbours, lambda size: int(size // parts) - 1)
