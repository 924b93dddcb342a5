"""What a published cell of a quasi-identifier may stand for: its possible values, or the ends of its range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.hierarchy_builders.dates import Dates
from sfumato.data.schema import Kind, Schema
from sfumato.errors import SfumatoError
from sfumato.releases.cells import (
    WITHHELD,
    hierarchy_cell,
    interval_end,
    interval_ends,
    is_quoted,
    is_set_value,
    is_value,
    set_members,
    unquote,
)
from sfumato.releases.models import PublishedColumn


@dataclass(frozen=True)
class PublishedCell:
    """One distinct cell of a quasi-identifier, and what the values behind it may be.

    `values`: the possible values as texts; empty for a range of numbers. `low`, `high`: the ends, if the values are numbers.
    `blocks`: for each value the block that it belongs to. In the rows of a group values of at least `needed` blocks occur,
    because the cell is the smallest that covers them: every member of a set, both ends of a range, two children of a node.

    >>> cell = PublishedCell("[20, 30]", low=Fraction(20), high=Fraction(30))
    >>> cell.exact, cell.mid
    (False, Fraction(25, 1))
    """

    text: str | None
    values: tuple[str, ...] = ()
    low: Fraction | None = None
    high: Fraction | None = None
    numbers: tuple[Fraction, ...] = ()
    """The numbers of `values`, if those are several numbers."""
    half_open: bool = False
    """Whether `high` itself is not included."""
    missing: bool = False
    """Whether the value may be missing."""
    withheld: bool = False
    """Whether nothing is published, so that every value of the column is possible."""
    blocks: tuple[int, ...] = ()
    needed: int = 0

    @property
    def exact(self) -> bool:
        """Whether only one value is possible."""
        if self.withheld:
            return False
        return self.missing or len(self.values) == 1 or (self.low is not None and self.low == self.high)

    @property
    def mid(self) -> Fraction | None:
        """The middle of the range, if the values are numbers."""
        return None if self.low is None or self.high is None else (self.low + self.high) / 2


class CellParser:
    """Reads the cells of one column, given how release.json says that it is published.

    >>> column = PublishedColumn(name="age", role="quasi-identifier", kind="numeric", recoding="interval")
    >>> [cell.exact for cell in CellParser(column, Schema(["age"]), ["[20, 30]", "41"]).parse()]
    [False, True]
    """

    def __init__(self, column: PublishedColumn, declared: Schema, texts: Sequence[str | None]) -> None:
        self.name = column.name
        self.kind = Kind(column.kind or Kind.CATEGORICAL)
        self.recoding = column.recoding
        self.smallest = column.level is None
        """Whether cells are the smallest that cover their groups, and not nodes of one level."""
        self.dates = self.kind is Kind.DATE
        self.numeric = self.kind in (Kind.NUMERIC, Kind.DATE)
        self.nested = self.kind is Kind.SET
        self.order = tuple(declared.orders.get(column.name, ()))
        self.texts = texts
        self.has_missing = any(not text for text in texts)
        calendar = declared.hierarchies.get(column.name)
        self.calendar = calendar if isinstance(calendar, Dates) else None
        self.tree = self._tree(declared.hierarchies.get(column.name)) if self.recoding == "ancestor" else None

    def _tree(self, hierarchy: Any) -> Hierarchy | None:
        """Return the hierarchy; one that is built from the values is built from those that are published."""
        if hierarchy is None or isinstance(hierarchy, Hierarchy):
            return hierarchy
        if self.numeric:
            return None  # the nodes are intervals, which say all
        known = {value for text in self.texts if text and (value := self._value(text)) is not None}
        try:
            return hierarchy.build(sorted(known), self.name) if known else None
        except SfumatoError:
            return None  # the nodes are read by their texts alone

    def _value(self, text: str) -> str | None:
        """Return the single value that a cell contains; None if it contains several or none."""
        if text == WITHHELD:
            return None
        if self.numeric:
            return text if self.number(text) is not None else None
        if self.nested:
            return text if is_set_value(text) else None
        if is_quoted(text):
            return unquote(text)
        return text if is_value(text) else None

    def number(self, text: str) -> Fraction | None:
        """Return the number that a text denotes, of a date in days since 1970; None if it denotes none."""
        return interval_end(text, self.dates)

    def parse(self) -> list[PublishedCell]:
        """Return what each cell may stand for; a withheld cell may be any value of the column."""
        return [self._cell(text) for text in self.texts]

    def _cell(self, text: str | None) -> PublishedCell:
        if not text:
            return PublishedCell(text, missing=True)
        if text == WITHHELD:
            return PublishedCell(text, withheld=True, needed=2 * (self.has_missing_in_groups and self.smallest))
        nodes = self._leaves(text)
        if nodes is not None:
            return self._several(text, *nodes)
        value = self._value(text)
        if value is not None:
            number = self.number(value) if self.numeric else None
            return PublishedCell(text, (value,), number, number)
        parts = set_members(text, self.nested)
        if parts:
            return self._several(text, parts, range(len(parts)), len(parts))
        return self._range(text) or PublishedCell(text, (text,))  # a node whose leaves are not published

    @property
    def has_missing_in_groups(self) -> bool:
        """Whether `*` means that a group has missing and other values: so it is, except for the root of a hierarchy."""
        return self.recoding != "ancestor"

    def _several(self, text: str, values: Sequence[str], blocks: Iterable[int], needed: int) -> PublishedCell:
        numbers = [self.number(value) for value in values] if self.numeric else []
        known = [number for number in numbers if number is not None]
        low, high = (min(known), max(known)) if known else (None, None)
        needed = needed if self.smallest else 0
        return PublishedCell(text, tuple(values), low, high, tuple(known), blocks=tuple(blocks), needed=needed)

    def _leaves(self, text: str) -> tuple[list[str], list[int], int] | None:
        """Return the leaves under a node above the leaves, with their child of it; None if the cell is no such node."""
        tree = self.tree
        if tree is None:
            return None
        plain = self.numeric or self.nested
        for level in range(1, tree.height + 1):
            for node, label in enumerate(tree.labels[level]):
                if hierarchy_cell(label, level, tree.height, plain) == text:
                    under = np.flatnonzero(tree.paths[:, level] == node)
                    child = np.unique(tree.paths[under, level - 1], return_inverse=True)[1].tolist()
                    if len(set(child)) > 1 or not self.smallest:
                        return [tree.leaves[leaf] for leaf in under], child, 2
        return None

    def _range(self, text: str) -> PublishedCell | None:
        ends, half_open = interval_ends(text, self.nested), False
        if not ends:
            ends, half_open = interval_ends(text, half_open=True), True
        period = None if ends or self.calendar is None else self.calendar.days_of(text)
        if period is not None:
            return PublishedCell(text, (), *period, half_open=True)
        if not ends:
            return None
        if self.numeric:
            low, high = map(self.number, ends)
            if low is None or high is None:
                return None
            needed = 2 * (self.smallest and not half_open)
            return PublishedCell(text, (), low, high, half_open=half_open, needed=needed)
        if ends[0] not in self.order or ends[1] not in self.order:
            return None
        values = self.order[self.order.index(ends[0]) : self.order.index(ends[1]) + 1]
        blocks = [0, *[-1] * (len(values) - 2), 1]
        return PublishedCell(text, values, blocks=tuple(blocks), needed=2 * self.smallest)
