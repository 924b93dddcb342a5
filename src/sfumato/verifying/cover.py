"""Whether a published cell covers an original value: the cell's text is taken apart here, apart from what wrote it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from sfumato.exact.numbers import parse_decimal
from sfumato.table import Column

Pairs = NDArray[np.bool_]


class Cover:
    """What the distinct published cells of a quasi-identifier cover of its original values.

    A cell is a value itself, an interval `[lo, hi]`, a node of the hierarchy, a set `{a; b}`, or `*`; null or an empty
    cell stands for missing.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> ages = Table(pa.table({"age": [20, 30, 41]}), Schema(["age"])).column("age")
    >>> Cover(["[20, 30]", "*"], ages, "interval").holds(np.array([[0], [1]]), np.array([0, 1, 2])).tolist()
    [[True, True, False], [True, True, True]]
    """

    def __init__(self, cells: Sequence[str | None], column: Column, recoding: str) -> None:
        self.column = column
        self.integers: list[int] = [] if column.numbers is None else column.numbers.integers.tolist()
        self.low = np.full(len(cells), 1, np.int64)
        self.high = np.zeros(len(cells), np.int64)  # an empty stretch of codes: covers nothing
        self.withheld = np.array([cell == "*" for cell in cells])
        self.absent = np.array([not cell for cell in cells])
        self.nodes: list[NDArray[np.int64]] = []
        members: list[int] = []
        values = {column.label(code): code for code in range(column.size)}
        split = any("; " in value for value in values)
        for number, cell in enumerate(cells):
            if cell is None:
                continue
            single = self._single(cell, values)
            if single is not None:
                self.low[number] = self.high[number] = single
            elif recoding == "interval":
                self.low[number], self.high[number] = self._interval(cell, values)
            elif recoding == "set" and cell.startswith("{") and cell.endswith("}"):
                codes = self._members(cell[1:-1], values, split)
                members += [number * column.domain + code for code in codes]
        self.members = np.array(sorted(members), np.int64)
        if recoding == "ancestor" and column.hierarchy is not None:
            number_of = {cell: number for number, cell in enumerate(cells) if cell is not None}
            for labels in column.hierarchy.labels:
                # missing values have a node of their own behind the last
                self.nodes.append(np.array([*(number_of.get(label, -1) for label in labels), -1], np.int64))

    def _single(self, cell: str, values: dict[str, int]) -> int | None:
        if cell in values or self.column.numbers is None:
            return values.get(cell)
        number = parse_decimal(cell)
        if number is None:
            return None
        low, high = self._stretch(Fraction(number), Fraction(number))
        return low if low == high else None

    def _stretch(self, low: Fraction, high: Fraction) -> tuple[int, int]:
        """The codes of the numbers from one to another."""
        numbers = self.column.numbers
        assert numbers is not None
        first, last = ceil(low / numbers.unit), floor(high / numbers.unit)
        return bisect_left(self.integers, first), bisect_right(self.integers, last) - 1

    def _interval(self, cell: str, values: dict[str, int]) -> tuple[int, int]:
        if not (cell.startswith("[") and cell.endswith("]")):
            return 1, 0
        inner = cell[1:-1]
        for comma in re.finditer(", ", inner):
            low, high = inner[: comma.start()], inner[comma.end() :]
            if self.column.numbers is None:
                if low in values and high in values:
                    return values[low], values[high]
                continue
            ends = [_number(end) for end in (low, high)]
            if ends[0] is not None and ends[1] is not None:
                return self._stretch(ends[0], ends[1])
        return 1, 0

    @staticmethod
    def _members(inner: str, values: dict[str, int], split: bool) -> list[int]:
        if split:  # a value may itself hold what stands between two values
            around = f"; {inner}; "
            return [code for value, code in values.items() if f"; {value}; " in around]
        return [values[item] for item in inner.split("; ") if item in values]

    def holds(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> Pairs:
        """For each pair of a cell and a code, by their numbers, whether the cell covers the code's value."""
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


def _number(text: str) -> Fraction | None:
    """An end of an interval: a decimal, or a fraction where the decimal would not end."""
    if re.fullmatch(r"-?\d+/\d+", text) and not text.endswith("/0"):
        return Fraction(text)
    decimal = parse_decimal(text)
    return None if decimal is None else Fraction(decimal)
