"""Whether a published cell covers an original value: the cell's text is taken apart here, apart from what wrote it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.exact.numbers import parse_decimal

Pairs = NDArray[np.bool_]

_AT_ONCE = 1 << 21
"""Pairs of a cell and a code that are looked at at a time."""

_GRID = 1 << 23
"""Pairs that are looked at beforehand, so that each is looked at but once."""

QUOTED = re.compile(r'"(?:[^"]|"")*"')
"""A text that stands for itself."""
_PART = re.compile(r'"(?:[^"]|"")*"|(?!\*(?:[;,]|$))[^;,{}\[\]"\s](?:[^;,{}\[\]"]*[^;,{}\[\]"\s])?')
"""A text in quotes, or one that needs none."""
_NESTED = re.compile(r'\{(?:[^{}"]|"(?:[^"]|"")*")*\}')
"""A set among sets."""


class Reader:
    """What the distinct published cells of a quasi-identifier cover of its original values.

    A cell is a value itself, an interval `[lo, hi]`, a node of the hierarchy, a set `{a; b}`, or `*`; null or an empty
    cell stands for missing. A text in double quotes, those within it doubled, stands for itself.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> ages = Table(pa.table({"age": [20, 30, 41]}), Schema(["age"])).column("age")
    >>> Reader(["[20, 30]", "*"], ages, "interval").holds(np.array([[0], [1]]), np.array([0, 1, 2])).tolist()
    [[True, True, False], [True, True, True]]
    """

    def __init__(self, cells: Sequence[str | None], column: Column, recoding: str) -> None:
        self.column = column
        self.nested = column.kind is Kind.SET
        self.integers: list[int] = [] if column.numbers is None else column.numbers.integers.tolist()
        self.ends: dict[str, tuple[int, int] | None] = {}
        """What is known of ends of intervals: many cells share them."""
        self.low = np.full(len(cells), 1, np.int64)
        self.high = np.zeros(len(cells), np.int64)  # an empty stretch of codes: covers nothing
        self.withheld = np.array([cell == "*" for cell in cells])
        self.absent = np.array([not cell for cell in cells])
        self.nodes: list[NDArray[np.int64]] = []
        members: list[int] = []
        values = {column.label(code): code for code in range(column.size)}
        for number, cell in enumerate(cells):
            if cell is None:
                continue
            single = None if cell == "*" else self._single(cell, values)
            if single is not None:
                self.low[number] = self.high[number] = single
            elif recoding == "interval":
                self.low[number], self.high[number] = self._interval(cell, values)
            elif recoding == "set" and cell.startswith("{") and cell.endswith("}"):
                parts = parts_of(cell[1:-1], "; ", self.nested)
                members += [number * column.domain + values[part] for part in parts if part in values]
        self.members = np.array(sorted(members), np.int64)
        if recoding == "ancestor" and column.hierarchy is not None:
            number_of = {cell: number for number, cell in enumerate(cells) if cell is not None}
            for level, labels in enumerate(column.hierarchy.labels):
                height, plain = column.hierarchy.height, column.numbers is not None or self.nested
                known = (number_of.get(node_cell(label, level, height, plain), -1) for label in labels)
                # missing values have a node of their own behind the last
                self.nodes.append(np.array([*known, -1], np.int64))

    def _single(self, cell: str, values: dict[str, int]) -> int | None:
        if self.column.numbers is None:
            if self.nested:
                return values.get(cell)
            quoted = QUOTED.fullmatch(cell)
            if quoted is not None:
                return values.get(unquoted(cell))
            return None if cell[:1] in ("", "{", "[", '"') else values.get(cell)
        if cell in values:
            return values[cell]
        number = parse_decimal(cell)
        if number is None:
            return None
        low, high = self._around(Fraction(number))
        return low if low == high else None

    def _around(self, number: Fraction) -> tuple[int, int]:
        """The code of the first number from this one on, and of the last up to it."""
        numbers = self.column.numbers
        assert numbers is not None
        exact = number / numbers.unit
        return bisect_left(self.integers, ceil(exact)), bisect_right(self.integers, floor(exact)) - 1

    def _interval(self, cell: str, values: dict[str, int]) -> tuple[int, int]:
        if not (cell.startswith("[") and cell.endswith("]")):
            return 1, 0
        parts = parts_of(cell[1:-1], ", ", self.nested)
        if len(parts) != 2:
            return 1, 0
        low, high = parts
        if self.column.numbers is None:
            return (values[low], values[high]) if low in values and high in values else (1, 0)
        for end in parts:
            if end not in self.ends:
                number = end_of_interval(end)
                self.ends[end] = None if number is None else self._around(number)
        first, last = self.ends[low], self.ends[high]
        return (1, 0) if first is None or last is None else (first[0], last[1])

    def holds(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> Pairs:
        """For each pair of a cell and a code, by their numbers, whether the cell covers the code's value."""
        return self._holds(cells, codes) if self._grid is None else self._grid[cells * self.column.domain + codes]

    def either(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> tuple[Pairs, Pairs]:
        """Which cells are among those given and cover any of the codes; which codes are and are covered by any cell."""
        whose, what = np.zeros(len(self.low), bool), np.zeros(self.column.domain, bool)
        step = max(1, _AT_ONCE // len(codes))
        for start in range(0, len(cells), step):
            some = cells[start : start + step]
            found = self.holds(some[:, None], codes[None, :])
            whose[some] = found.any(axis=1)
            what[codes] |= found.any(axis=0)
        return whose, what

    @cached_property
    def _grid(self) -> Pairs | None:
        """What `holds` says of all pairs, looked up from then on; None if there are too many."""
        count, domain = len(self.low), self.column.domain
        if count * domain > _GRID:
            return None
        return self._holds(np.arange(count)[:, None], np.arange(domain)[None, :]).ravel()

    def _holds(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> Pairs:
        missing = codes == self.column.size
        found = (self.low[cells] <= codes) & (codes <= self.high[cells]) & ~missing
        found |= self.withheld[cells] | (self.absent[cells] & missing)
        if len(self.members):
            keys = cells * self.column.domain + codes
            found |= np.isin(keys, self.members)
        paths = self.column.paths
        for level, nodes in enumerate(self.nodes):
            assert paths is not None
            found |= (nodes[paths[:, level]][codes] == cells) & ~missing
        return np.asarray(found)


def node_cell(label: str, level: int, height: int, plain: bool) -> str:
    """How a node of a hierarchy stands in a cell: only the root may be a bare `*`, only a leaf needs more care.

    `plain`: the leaves are numbers or sets, which are never in quotes.

    >>> node_cell("*", 0, 2, plain=False), node_cell("*", 2, 2, plain=False)
    ('"*"', '*')
    """
    if level == 0:
        bare = plain or (label != "*" and label[:1] not in ("", "{", "[", '"'))
    else:
        bare = label[:1] not in ("", '"') and (label != "*" or level == height)
    return label if bare else '"' + label.replace('"', '""') + '"'


def parts_of(inner: str, between: str, nested: bool) -> list[str]:
    """The members of a set or the ends of an interval, as they were before they were written; none if it is torn.

    >>> parts_of('a; "b; c"', "; ", nested=False)
    ['a', 'b; c']
    """
    found, at = [], 0
    while True:
        part = (_NESTED if nested else _PART).match(inner, at)
        if part is None:
            return []
        text = part[0]
        found.append(unquoted(text) if text.startswith('"') else text)
        at = part.end()
        if at == len(inner):
            return found
        if not inner.startswith(between, at):
            return []
        at += len(between)


def unquoted(text: str) -> str:
    """A text in quotes as it was before.

    >>> unquoted('"the ""old"" one"')
    'the "old" one'
    """
    return text[1:-1].replace('""', '"')


def end_of_interval(text: str) -> Fraction | None:
    """The number that stands at an end of an interval: a decimal, or a fraction where the decimal would not end.

    >>> end_of_interval("1/3"), end_of_interval("n/a")
    (Fraction(1, 3), None)
    """
    if re.fullmatch(r"-?\d+/\d+", text) and not text.endswith("/0"):
        return Fraction(text)
    decimal = parse_decimal(text)
    return None if decimal is None else Fraction(decimal)
