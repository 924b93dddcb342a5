"""The domain of a quasi-identifier, laid out along a line so that what a group publishes is a stretch of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.exact import nearest_float
from sfumato.exact.numbers import parse_decimal

_EXACT = 1 << 53
"""Whole numbers up to this are floats as they are."""


class RecodingKind(StrEnum):
    """How a group's values of one quasi-identifier are published when they differ."""

    INTERVAL = "interval"
    """The smallest interval `[lo, hi]` that holds them, for numbers and ordinal values."""
    ANCESTOR = "ancestor"
    """Their lowest common ancestor in the column's hierarchy."""
    SET = "set"
    """The set of them, `{a; b}`."""


@dataclass(frozen=True, eq=False)
class Domain:
    """A quasi-identifier's values along a line: code c of the column stands at `place[c]`, missing ones behind the last.

    The places are the numbers or ordinal values in their order; the leaves of the hierarchy (those that no row has too),
    ordered so that the leaves under any node stand together; or simply the values. So the lowest common ancestor of a
    group is that of its first and its last place, and a group's interval is from its first to its last place.

    `share` is the loss of one published cell: width over the domain's width for numbers; leaves under the published
    value over all leaves for categories; 0 for a single value. Missing together with anything else is published as `*`
    and costs 1.

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
    """Where each place stands on the line, so that the domain's width is 1; used by intervals of numbers."""
    above: NDArray[np.int32]
    """For each level (from the leaves to the root) and place the node above it, numbered along the line."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def numeric(self) -> bool:
        """Whether it is published as intervals of numbers."""
        return self.recoding is RecodingKind.INTERVAL and self.column.numbers is not None

    @cached_property
    def leaves(self) -> list[NDArray[np.int64]]:
        """For each level the number of leaves under each of its nodes."""
        return [np.bincount(nodes) for nodes in self.above]

    def common_level(self, low: int, high: int) -> int:
        """The level of the lowest common ancestor of all places from one to another."""
        return int(np.argmax(self.above[:, low] == self.above[:, high]))

    def share(self, low: int, high: int, distinct: int | None = None) -> float:
        """The loss of a cell that covers the places from `low` to `high`, `distinct` different ones if it is a set."""
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
        return distinct / self.size

    def label(self, place: int) -> str:
        """The value at a place, as it is shown."""
        if self.recoding is RecodingKind.ANCESTOR:
            assert self.column.hierarchy is not None
            return self.column.hierarchy.leaves[int(self.leaf_at[place])]
        return self.column.label(place)

    @cached_property
    def leaf_at(self) -> NDArray[np.int64]:
        """For each place which leaf of the hierarchy stands there."""
        assert self.column.hierarchy is not None
        return _along(self.column.hierarchy.paths)

    def node_label(self, level: int, low: int) -> str:
        """The label of the node above a place on a level."""
        hierarchy = self.column.hierarchy
        assert hierarchy is not None
        return hierarchy.labels[level][int(hierarchy.paths[self.leaf_at[low], level])]


def domains_of(table: Table) -> list[Domain]:
    """The domains of all quasi-identifiers of a table, in the schema's order."""
    return [domain_of(table.column(name), table.schema.recodings.get(name)) for name in table.schema.quasi_identifiers]


def domain_of(column: Column, declared: str | None = None) -> Domain:
    """Lay a column's values out along a line, for the recoding declared or the one that suits it.

    A column with a hierarchy is published as ancestors, one of numbers or ordinal values as intervals, any other as sets.
    """
    how = RecodingKind(declared) if declared is not None else _suited(column)
    ordered = column.kind in (Kind.NUMERIC, Kind.ORDINAL)
    if how is RecodingKind.INTERVAL and not ordered:
        raise ColumnError(
            f"intervals need numbers or an order, and the column is of kind {column.kind.value!r}",
            remedy='Declare its kind, or use recoding = "set".',
            column=column.name,
        )
    if how is RecodingKind.ANCESTOR and column.hierarchy is None:
        raise ColumnError(
            "ancestors need a hierarchy, and the column has none",
            remedy='Declare one, or use recoding = "set" or "interval".',
            column=column.name,
        )
    size = column.size
    place = np.arange(column.domain, dtype=np.int32)
    above = np.zeros((0, size), np.int32)
    at = np.zeros(size)
    if how is RecodingKind.ANCESTOR:
        assert column.hierarchy is not None
        assert column.paths is not None
        order = _along(column.hierarchy.paths)
        size = len(order)
        above = _numbered(column.hierarchy.paths[order])
        where = np.empty(size, np.int32)
        where[order] = np.arange(size)
        # a leaf's node on level 0 is the leaf itself, numbered as the hierarchy numbers them
        leaf_of_node = np.empty(size, np.int32)
        leaf_of_node[column.hierarchy.paths[:, 0]] = np.arange(size)
        place = np.append(where[leaf_of_node[column.paths[: column.size, 0]]], np.int32(size))[: column.domain]
    elif how is RecodingKind.INTERVAL and column.numbers is not None:
        at = _spread(column)
    return Domain(column, how, place, size, at, above)


def _suited(column: Column) -> RecodingKind:
    if column.hierarchy is not None:
        return RecodingKind.ANCESTOR
    return RecodingKind.INTERVAL if column.kind in (Kind.NUMERIC, Kind.ORDINAL) else RecodingKind.SET


def _along(paths: NDArray[np.int32]) -> NDArray[np.int64]:
    """The leaves in an order in which those under any node stand together."""
    return np.lexsort(paths.T)


def _numbered(paths: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each level and place the node above it, numbered in the order of the places."""
    changes = np.zeros(paths.shape, bool)
    # a node of an upper level that changes ends all nodes below it
    changes[1:] = np.logical_or.accumulate((paths[1:] != paths[:-1])[:, ::-1], axis=1)[:, ::-1]
    return np.cumsum(changes, axis=0).T.astype(np.int32).copy()


def _spread(column: Column) -> NDArray[np.float64]:
    """Where each number stands in its domain, 1 wide: what occurs, or what the column's hierarchy says may occur."""
    assert column.numbers is not None
    if not column.size:
        return np.zeros(0)
    lowest, highest = column.numbers[0], column.numbers[column.size - 1]
    if column.hierarchy is not None:
        known = [Fraction(number) for number in map(parse_decimal, column.hierarchy.leaves) if number is not None]
        lowest, highest = min([lowest, *known]), max([highest, *known])
    width = highest - lowest
    if not width:
        return np.zeros(column.size)
    integers, unit = column.numbers.integers, column.numbers.unit
    start, steps = lowest / unit, width / unit
    if integers.dtype == np.int64 and start.denominator == steps.denominator == 1 and max(abs(start), steps) < _EXACT:
        return np.asarray((integers - int(start)) / int(steps))  # one division of whole numbers is rounded but once
    return np.array([nearest_float((column.numbers[i] - lowest) / width) for i in range(column.size)])
