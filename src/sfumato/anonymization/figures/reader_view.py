"""What the published cells of a quasi-identifier say to a reader, who does not know which values the original holds."""

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
from sfumato.data.hierarchy import Flat, Intervals
from sfumato.data.schema import Kind
from sfumato.exact import as_fraction
from sfumato.exact.numbers import parse_decimal


@dataclass(frozen=True)
class Span:
    """Numbers that a cell, or a member of it, leaves open: those from `low` to `last`; a single one if they are equal."""

    low: Fraction
    last: Fraction
    half_open: bool = False
    """Whether `last` itself is not among them."""


@dataclass(frozen=True, eq=False)
class AttackerView:
    """A quasi-identifier as it is published: which cells tell nothing, and what the others name.

    `declared`: the column's hierarchy, as the schema has it.
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
        """For each cell whether it is a missing one."""
        return np.asarray(self._ends[0] == self.cover.domain.size)

    @cached_property
    def withheld(self) -> NDArray[np.bool_]:
        """For each cell whether it tells nothing: `*`, or the root of a hierarchy by another name."""
        domain, (first, stop) = self.cover.domain, self._ends
        assert self.cover.level is not None
        found = ((stop > domain.size) & ~self.absent) | (self.cover.level < 0)
        if domain.recoding is RecodingKind.ANCESTOR and domain.common_level(0, domain.size - 1) == len(domain.above) - 1:
            found |= (first == 0) & (stop == domain.size) & (domain.size > 1)
        return np.asarray(found)

    @property
    def misses(self) -> bool:
        """Whether the release tells that values are missing: by a missing cell, or by a `*` that can mean nothing else.

        Where every cell is `*`, the column may have been withheld as a whole.
        """
        mixed = self.cover.domain.recoding is not RecodingKind.ANCESTOR and self.withheld.any() and not self.withheld.all()
        return bool(self.absent.any() or mixed)

    @cached_property
    def lacking(self) -> float:
        """The rows whose cell is missing."""
        return float(self.rows[self.absent].sum())

    @cached_property
    def hidden(self) -> tuple[float, float]:
        """The rows whose cell tells nothing: those that may miss their value as well, and those that do not."""
        both = self.withheld & (self._ends[1] > self.cover.domain.size) & self.misses
        return float(self.rows[both].sum()), float(self.rows[self.withheld & ~both].sum())

    @property
    def is_declared(self) -> bool:
        """Whether all values stand in the schema: an order, or a hierarchy that was not built from the data."""
        domain = self.cover.domain
        ancestors = domain.recoding is RecodingKind.ANCESTOR and not isinstance(self.declared, Flat | Intervals)
        return ancestors or (domain.recoding is not RecodingKind.ANCESTOR and domain.column.kind is Kind.ORDINAL)

    @property
    def is_numeric(self) -> bool:
        """Whether cells are numbers, or intervals of them, that no schema lists."""
        numbers = self.cover.domain.column.numbers is not None or self.in_widths is not None
        return numbers and not self.is_declared

    @property
    def in_widths(self) -> Intervals | None:
        """The nested intervals that cells are taken from."""
        return (
            self.declared
            if self.cover.domain.recoding is RecodingKind.ANCESTOR and isinstance(self.declared, Intervals)
            else None
        )

    @cached_property
    def _level(self) -> NDArray[np.int64]:
        """For each stretch the level of the node that its cell names: one with a single value under it does not tell it."""
        assert self.cover.level is not None
        return np.repeat(self.cover.level, np.diff(self.cover.offsets))

    @cached_property
    def _telling(self) -> NDArray[np.bool_]:
        """For each stretch whether its cell tells something."""
        return np.repeat(~(self.withheld | self.absent), np.diff(self.cover.offsets))

    @cached_property
    def named(self) -> NDArray[np.int64]:
        """The places whose values may be named: all that are declared, or else those that stand in a cell, one by one."""
        size = self.cover.domain.size
        if self.is_declared:
            return np.arange(size)
        first, last = self.cover.first[self._telling], self.cover.stop[self._telling] - 1
        single = (first == last) & (self._level[self._telling] == 0)
        ends = [first[single]] if self.cover.domain.recoding is RecodingKind.ANCESTOR else [first, last]
        return np.unique(np.concatenate(ends)).astype(np.int64)

    @cached_property
    def only_single(self) -> bool:
        """Whether every cell that tells something tells single values."""
        return bool(((self.cover.stop - self.cover.first == 1) & (self._level == 0))[self._telling].all())

    def number(self, place: int) -> Fraction:
        """The number at a place."""
        domain = self.cover.domain
        if domain.recoding is not RecodingKind.ANCESTOR and domain.column.numbers is not None:
            return domain.column.numbers[place]
        decimal = parse_decimal(domain.label(place))
        assert decimal is not None
        return Fraction(decimal)

    def spans(self) -> tuple[Sequence[Span], NDArray[np.float64]]:
        """What the cells leave open, as numbers; and the rows of each span: members of a set share those of their cell."""
        cover, chosen = self.cover, self._telling
        counts = np.diff(cover.offsets)
        rows = np.repeat(self.rows / counts, counts)[chosen]
        distinct, inverse = np.unique(
            np.stack([cover.first[chosen], cover.stop[chosen] - 1, self._level[chosen]], axis=1), axis=0, return_inverse=True
        )
        weights = np.asarray(np.bincount(inverse.ravel(), rows, len(distinct)), np.float64)
        return [self._span(first, last, level) for first, last, level in distinct.tolist()], weights

    def _span(self, first: int, last: int, level: int) -> Span:
        low = self.number(first)
        if level == 0 or self.in_widths is None:
            return Span(low, low if first == last else self.number(last))
        width = as_fraction(self.in_widths.widths[level - 1])
        origin = as_fraction(self.in_widths.origin)
        low = origin + (low - origin) // width * width
        return Span(low, low + width, half_open=True)

    @cached_property
    def numbers(self) -> list[Fraction] | None:
        """The numbers of all places; None if they are not all numbers, as the leaves of a hierarchy need not be."""
        domain = self.cover.domain
        if domain.column.numbers is None and self.in_widths is None:
            return None
        if self.is_declared and any(parse_decimal(domain.label(place)) is None for place in range(domain.size)):
            return None
        return [self.number(place) for place in range(domain.size)]
