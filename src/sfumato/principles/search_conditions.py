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
from sfumato.distances.neighbour_graph import GuardedNeighbours, Neighbours, NeighbourSets, NeighbourWindows
from sfumato.exact import nearest_float
from sfumato.principles.numeric_values import numbers_of
from sfumato.principles.view import View


@dataclass(frozen=True, eq=False)
class NeighbourLimit:
    """Every row has at most `allowed(size)` neighbours in its group, by the size of the group."""

    values: NDArray[np.int64]
    """For each row the number of its sensitive value."""
    neighbours: Neighbours | NeighbourSets | GuardedNeighbours
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
    """For each value its size (variance, range) or its share of the table (the other kinds)."""
    nodes: tuple[NDArray[np.int64], ...] = ()
    """For each level of a hierarchy, below the root, the node of each value."""
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


def table_shares(view: View) -> NDArray[np.float64]:
    """Return each value's share of the table."""
    return np.asarray(view.table_counts / view.groups.population, float)


def equal_values_limit(view: View, share: Fraction) -> NeighbourLimit:
    """Limit equal values to a share of every group."""
    own = np.arange(len(view.attribute))
    equal = NeighbourWindows(Windows(own, own, own + 1), Fraction(0))
    return NeighbourLimit(view.attribute.codes, equal, lambda size: int(size * share) - 1)


def near_values_limit(view: View, neighbours: NeighbourWindows, parts: Fraction) -> NeighbourLimit:
    """Limit the rows near one value, itself included, to 1/`parts` of every group."""
    return NeighbourLimit(view.attribute.codes, neighbours, lambda size: int(size // parts) - 1)
