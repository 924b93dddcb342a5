"""The domain of a quasi-identifier, laid out along a line so that every published cell is a stretch of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.exact import nearest_float

_EXACT = 1 << 53
"""Whole numbers up to this are exact as floats."""


_ORDERED = (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL)
"""Kinds whose values have intervals."""


class RecodingKind(StrEnum):
    """How a group's values of one quasi-identifier are published when they differ.

    >>> RecodingKind("interval") is RecodingKind.INTERVAL
    True
    """

    INTERVAL = "interval"
    """The smallest interval `[lo, hi]` that contains them, for numbers, dates and ordinal values."""
    ANCESTOR = "ancestor"
    """Their lowest common ancestor in the column's hierarchy."""
    SET = "set"
    """The set of them, `{a; b}`."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of a quasi-identifier along a line: code c of the column has the place `place[c]`.

    The places are the numbers or ordinal values in their order; or the leaves of the hierarchy, including those that no row
    has, ordered so that the leaves under any node are adjacent; or simply the values. Missing values have the place after
    the last. So the lowest common ancestor of a group is that of its first and its last place, and a group's interval
    extends from its first to its last place.

    `share` is the loss of one published cell: width over the domain's width for numbers; leaves under the published
    value over all leaves for categories; 0 for a single value. Missing and other values together are published as `*`,
    which costs 1.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"age": [20, 30, 60]}), Schema(["age"]))
    >>> domain = domains_of(table)[0]
    >>> domain.recoding.value, domain.size, domain.share(0, 1)
    ('interval', 3, 0.25)
    """

    column: Column
    recoding: RecodingKind
    place: NDArray[np.int32]
    size: int
    """The number of places, the missing one not counted."""
    at: NDArray[np.float64]
    """The position of each place on a line of length 1; used for intervals of numbers."""
    above: NDArray[np.int32]
    """For each level, from the leaves to the root, and place the node above it, numbered along the line."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def numeric(self) -> bool:
        """Whether the column is published as intervals of numbers."""
        return self.recoding is RecodingKind.INTERVAL and self.column.numbers is not None

    @cached_property
    def leaves(self) -> list[NDArray[np.int64]]:
        """For each level the number of leaves under each of its nodes."""
        return [np.bincount(nodes) for nodes in self.above]

    @property
    def total(self) -> int:
        """The number of values that a cell could leave open: the places, and leaves of the hierarchy that no row has."""
        return self.size if self.column.hierarchy is None else max(self.size, len(self.column.hierarchy.leaves))

    def common_level(self, low: int, high: int) -> int:
        """Return the level of the lowest common ancestor of all places from `low` to `high`."""
        return int(np.argmax(self.above[:, low] == self.above[:, high]))

    def share(self, low: int, high: int, distinct: int | None = None) -> float:
        """Return the loss of a cell from place `low` to place `high`; `distinct` is the number of values of a set."""
        if low == high:
            return 0.0
        if high == self.size:
            return 1.0
        if self.numeric:
            return float(self.at[high] - self.at[low])
        if self.recoding is RecodingKind.ANCESTOR:
            level = self.common_level(low, high)
            return float(self.leaves[level][self.above[level, low]] / self.size)
        if self.recoding is RecodingKind.INTERVAL:
            return (high - low + 1) / self.size
        assert distinct is not None
        return distinct / self.total

    def label(self, place: int) -> str:
        """Return the text of the value at a place."""
        if self.recoding is RecodingKind.ANCESTOR:
            assert self.column.hierarchy is not None
            return self.column.hierarchy.leaves[int(self.leaf_at[place])]
        return self.column.label(place)

    @cached_property
    def leaf_at(self) -> NDArray[np.int64]:
        """For each place the leaf of the hierarchy."""
        assert self.column.hierarchy is not None
        return _leaf_order(self.column.hierarchy.paths)

    def node_label(self, level: int, low: int) -> str:
        """Return the label of the node above a place on a level."""
        hierarchy = self.column.hierarchy
        assert hierarchy is not None
        return hierarchy.labels[level][int(hierarchy.paths[self.leaf_at[low], level])]


def domains_of(table: Table) -> list[Domain]:
    """Return the domains of all quasi-identifiers of a table, in the schema's order."""
    return [domain_of(table.column(name), table.schema.recodings.get(name)) for name in table.schema.quasi_identifiers]


def domain_of(column: Column, declared: str | None = None) -> Domain:
    """Return the domain of a column, for the declared recoding or the default one.

    By default a column with a hierarchy is published as ancestors, one of numbers, dates or ordinal values as intervals,
    and any other as sets.
    """
    recoding = RecodingKind(declared) if declared is not None else _default_recoding(column)
    ordered = column.kind in _ORDERED
    if recoding is RecodingKind.INTERVAL and not ordered:
        raise ColumnError(
            f"intervals require numbers, dates or an order, but the column is of kind {column.kind.value!r}",
            remedy='Declare its kind, or use recoding = "set".',
            column=column.name,
        )
    if recoding is RecodingKind.ANCESTOR and column.hierarchy is None:
        raise ColumnError(
            "ancestors require a hierarchy, but the column has none",
            remedy='Declare one, or use recoding = "set" or "interval".',
            column=column.name,
        )
    # by default a value's place is its code: codes ascend with the numbers, the declared order, or the text
    size = column.size
    place = np.arange(column.domain, dtype=np.int32)
    above = np.zeros((0, size), np.int32)
    at = np.zeros(size)
    if recoding is RecodingKind.ANCESTOR:
        assert column.hierarchy is not None
        assert column.paths is not None
        order = _leaf_order(column.hierarchy.paths)
        size = len(order)
        above = _number_nodes(column.hierarchy.paths[order])
        where = np.empty(size, np.int32)  # the place of each leaf
        where[order] = np.arange(size)
        # the node of a leaf on level 0 is the leaf itself, by the number that the hierarchy gives it
        leaf_of_node = np.empty(size, np.int32)
        leaf_of_node[column.hierarchy.paths[:, 0]] = np.arange(size)
        place = np.append(where[leaf_of_node[column.paths[: column.size, 0]]], np.int32(size))[: column.domain]
    elif recoding is RecodingKind.INTERVAL and column.numbers is not None:
        at = _positions(column)
    return Domain(column, recoding, place, size, at, above)


def _default_recoding(column: Column) -> RecodingKind:
    if column.hierarchy is not None:
        return RecodingKind.ANCESTOR
    return RecodingKind.INTERVAL if column.kind in _ORDERED else RecodingKind.SET


def _leaf_order(paths: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the leaves in an order in which those under any node are adjacent."""
    return np.lexsort(paths.T)


def _number_nodes(paths: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return, for each level and place, the node above it, numbered in the order of the places."""
    changes = np.zeros(paths.shape, bool)
    # where the node of an upper level changes, all nodes below it change too
    changes[1:] = np.logical_or.accumulate((paths[1:] != paths[:-1])[:, ::-1], axis=1)[:, ::-1]
    return np.cumsum(changes, axis=0).T.astype(np.int32).copy()


def _positions(column: Column) -> NDArray[np.float64]:
    """Return the position of each number in its domain, scaled to a width of 1.

    The domain extends over the numbers that occur and those that are leaves of the column's hierarchy.
    """
    assert column.numbers is not None
    if not column.size:
        return np.zeros(0)
    lowest, highest = column.numbers[0], column.numbers[column.size - 1]
    if column.hierarchy is not None:
        values = set(map(column.label, range(column.size)))
        others = (leaf for leaf in column.hierarchy.leaves if leaf not in values)
        leaves = [number for number in map(column.numbers.parse, others) if number is not None]
        lowest, highest = min([lowest, *leaves]), max([highest, *leaves])
    width = highest - lowest
    if not width:
        return np.zeros(column.size)
    integers, unit = column.numbers.integers, column.numbers.unit
    start, steps = lowest / unit, width / unit
    if integers.dtype == np.int64 and start.denominator == steps.denominator == 1 and max(abs(start), steps) < _EXACT:
        return np.asarray((integers - int(start)) / int(steps))  # one division of exact numbers is rounded once
    return np.array([nearest_float((column.numbers[i] - lowest) / width) for i in range(column.size)])
