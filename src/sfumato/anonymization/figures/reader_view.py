"""A quasi-identifier as a reader of the release sees it, who does not know which values occur in the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import RecodingKind
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.data.hierarchy import Flat, HierarchyBuilder, Intervals
from sfumato.data.hierarchy_builders.dates import Dates
from sfumato.data.schema import Kind
from sfumato.exact.numbers import parse_number


@dataclass(frozen=True)
class Span:
    """The numbers that a cell, or a member of a set, leaves open: from `low` to `last`; a single one if they are equal."""

    low: Fraction
    last: Fraction
    half_open: bool = False
    """Whether `last` itself is excluded."""


@dataclass(frozen=True, eq=False)
class ReaderView:
    """A quasi-identifier as it is published: which cells reveal nothing, and which values the others name.

    `declared`: the hierarchy that the schema declares for the column.
    """

    cover: Cover
    sizes: NDArray[np.int64]
    """The rows of each group."""
    declared: Any

    @cached_property
    def rows(self) -> NDArray[np.float64]:
        """The rows of each cell."""
        return np.asarray(np.bincount(self.cover.cell, self.sizes, len(self.cover.offsets) - 1), np.float64)

    @cached_property
    def _ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        cover = self.cover
        return cover.first[cover.offsets[:-1]], cover.stop[cover.offsets[1:] - 1]

    @cached_property
    def absent(self) -> NDArray[np.bool_]:
        """For each cell whether it is missing."""
        return np.asarray(self._ends[0] == self.cover.domain.size)

    @cached_property
    def withheld(self) -> NDArray[np.bool_]:
        """For each cell whether it reveals nothing: `*`, or the root of a hierarchy by another name."""
        domain, (first, stop) = self.cover.domain, self._ends
        assert self.cover.level is not None
        # a range that includes the place of missing values covers the whole domain
        nothing = ((stop > domain.size) & ~self.absent) | (self.cover.level < 0)
        if domain.recoding is RecodingKind.ANCESTOR and domain.common_level(0, domain.size - 1) == len(domain.above) - 1:
            nothing |= (first == 0) & (stop == domain.size) & (domain.size > 1)
        return np.asarray(nothing)

    @property
    def reveals_missing(self) -> bool:
        """Whether the release reveals that values are missing: by a missing cell, or by a `*` that can mean nothing else.

        Where every cell is `*`, the column may have been withheld as a whole.
        """
        mixed = self.cover.domain.recoding is not RecodingKind.ANCESTOR and self.withheld.any() and not self.withheld.all()
        return bool(self.absent.any() or mixed)

    @cached_property
    def missing_rows(self) -> float:
        """The number of rows whose cell is missing."""
        return float(self.rows[self.absent].sum())

    @cached_property
    def withheld_rows(self) -> tuple[float, float]:
        """The number of rows whose cell reveals nothing: those whose value may be missing, and those whose value is not."""
        both = self.withheld & (self._ends[1] > self.cover.domain.size) & self.reveals_missing
        return float(self.rows[both].sum()), float(self.rows[self.withheld & ~both].sum())

    @property
    def is_declared(self) -> bool:
        """Whether the schema lists all values: in an order, or in a hierarchy that was not built from the data."""
        domain = self.cover.domain
        ancestors = domain.recoding is RecodingKind.ANCESTOR and not isinstance(self.declared, HierarchyBuilder)
        return ancestors or (domain.recoding is not RecodingKind.ANCESTOR and domain.column.kind is Kind.ORDINAL)

    @property
    def is_numeric(self) -> bool:
        """Whether cells are numbers, or intervals of numbers, that the schema does not list."""
        if self.cover.domain.recoding is RecodingKind.ANCESTOR and not isinstance(self.declared, Flat):
            return self.nested_intervals is not None
        return self.cover.domain.column.numbers is not None and not self.is_declared

    @property
    def nested_intervals(self) -> Intervals | Dates | None:
        """The declared nested intervals, or periods of the calendar, that cells are taken from, if any."""
        ancestors = self.cover.domain.recoding is RecodingKind.ANCESTOR
        return self.declared if ancestors and isinstance(self.declared, Intervals | Dates) else None

    @cached_property
    def _level(self) -> NDArray[np.int64]:
        """For each range the level of the node that its cell names: a node above a single value does not reveal it."""
        assert self.cover.level is not None
        return np.repeat(self.cover.level, np.diff(self.cover.offsets))

    @cached_property
    def _informative(self) -> NDArray[np.bool_]:
        """For each range whether its cell reveals something."""
        return np.repeat(~(self.withheld | self.absent), np.diff(self.cover.offsets))

    @cached_property
    def nameable(self) -> NDArray[np.int64]:
        """The places whose values may be named: all if they are declared, else those that appear in a cell."""
        size = self.cover.domain.size
        if self.is_declared:
            return np.arange(size)
        first, last = self.cover.first[self._informative], self.cover.stop[self._informative] - 1
        single = (first == last) & (self._level[self._informative] == 0)
        ends = [first[single]] if self.cover.domain.recoding is RecodingKind.ANCESTOR else [first, last]
        return np.unique(np.concatenate(ends)).astype(np.int64)

    @cached_property
    def only_single_values(self) -> bool:
        """Whether every cell that reveals something names single values."""
        return bool(((self.cover.stop - self.cover.first == 1) & (self._level == 0))[self._informative].all())

    def number(self, place: int) -> Fraction:
        """Return the number at a place of the domain."""
        domain = self.cover.domain
        if domain.recoding is not RecodingKind.ANCESTOR and domain.column.numbers is not None:
            return domain.column.numbers[place]
        number = self._parse(domain.label(place))
        assert number is not None
        return number

    def _parse(self, label: str) -> Fraction | None:
        """Return the number that the label of a leaf denotes; None if it denotes none."""
        numbers = self.cover.domain.column.numbers
        return parse_number(label) if numbers is None else numbers.parse(label)

    def spans(self) -> tuple[Sequence[Span], NDArray[np.float64]]:
        """Return the distinct spans of numbers that cells leave open, and the rows of each.

        The members of a set share the rows of their cell equally.
        """
        cover, chosen = self.cover, self._informative
        counts = np.diff(cover.offsets)
        rows = np.repeat(self.rows / counts, counts)[chosen]
        distinct, inverse = np.unique(
            np.stack([cover.first[chosen], cover.stop[chosen] - 1, self._level[chosen]], axis=1), axis=0, return_inverse=True
        )
        weights = np.asarray(np.bincount(inverse.ravel(), rows, len(distinct)), np.float64)
        return [self._span(first, last, level) for first, last, level in distinct.tolist()], weights

    def _span(self, first: int, last: int, level: int) -> Span:
        low = self.number(first)
        if level == 0 or self.nested_intervals is None:
            return Span(low, low if first == last else self.number(last))
        return Span(*self.nested_intervals.span(low, level), half_open=True)

    @cached_property
    def numbers(self) -> list[Fraction] | None:
        """The numbers at all places; None if some are not numbers, as the leaves of a hierarchy need not be."""
        domain = self.cover.domain
        if domain.column.numbers is None and self.nested_intervals is None:
            return None
        if self.is_declared and any(self._parse(domain.label(place)) is None for place in range(domain.size)):
            return None
        return [self.number(place) for place in range(domain.size)]
