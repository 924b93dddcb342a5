"""The cells of a published quasi-identifier: which original values each covers, and which cells share values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.releases.cell_coverage import CellReader
from sfumato.releases.cells import interval_ends

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_PRODUCT = 1 << 27
"""Up to this many pairs of a cell and a value are held at a time to find out which cells share values."""


class AttackedCells:
    """The distinct cells of a quasi-identifier, by number, and which codes of the original column each covers.

    `seen`: the cell and the code of each person in the table. A cell that covers nobody's value, because another tool
    wrote it in its own way or changed the values, cannot be read. It covers the values of the people in it: whoever knows
    how the tool writes cells knows at least those.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> ages = Table(pa.table({"age": [20, 30, 41]}), Schema(["age"])).column("age")
    >>> cells = AttackedCells(["[20, 30]", "over 40"], ages, "interval", (np.array([0, 0, 1]), np.array([0, 1, 2])))
    >>> cells.covers(np.array([[0], [1]]), np.array([0, 1, 2])).tolist(), cells.unreadable
    ([[True, True, False], [False, False, True]], 1)
    """

    def __init__(
        self, texts: Sequence[str | None], column: Column, recoding: str, seen: tuple[Integers, Integers] | None = None
    ) -> None:
        self.texts = texts
        self.column = column
        self.reader = CellReader(texts, column, recoding)
        self.plain = recoding == "interval"
        self._pairs = np.zeros(0, np.int64)
        """Cell × domain + code, for each value of a person in a cell that cannot be read."""
        self.unreadable = 0
        if seen is not None:
            everything = np.arange(len(texts)), np.arange(column.domain)
            empty = self.reader.counted(*everything) == 0
            cells, codes = seen
            chosen = empty[cells]
            self._pairs = np.unique(cells[chosen] * column.domain + codes[chosen])
            self.unreadable = len(np.unique(cells[chosen]))

    def covers(self, cells: Integers, codes: Integers) -> Flags:
        """Return for each pair of a cell and a code whether the cell covers the value."""
        found = self.reader.covers(cells, codes)
        if len(self._pairs):
            keys = cells * self.column.domain + codes
            at = np.minimum(np.searchsorted(self._pairs, keys), len(self._pairs) - 1)
            found = found | (self._pairs[at] == keys)
        return found

    def covered_by(self, codes: Integers, cells: Integers) -> Flags:
        """Return for each pair of a code and a cell whether the cell covers the value."""
        return self.covers(cells, codes)

    def overlap(self, cells: Integers, others: Integers) -> Flags:
        """Return for each pair of a cell and another cell (a column and a row) whether one value may be in both."""
        reader = self.reader
        if self.plain and not self.unreadable:
            low, high, absent = reader.low, reader.high, reader.absent
            found = (low[cells] <= high[others]) & (low[others] <= high[cells]) & ~(absent[cells] | absent[others])
            return np.asarray(found | (absent[cells] & absent[others]) | reader.withheld[cells] | reader.withheld[others])
        codes = np.arange(self.column.domain)
        one = self.covers(cells.reshape(-1, 1), codes[None, :]).astype(np.float32)
        found = np.zeros((len(one), others.size), bool)
        step = max(1, _PRODUCT // max(1, 4 * len(codes)))
        for start in range(0, others.size, step):
            other = self.covers(others.reshape(-1, 1)[start : start + step], codes[None, :])
            found[:, start : start + step] = one @ other.astype(np.float32).T > 0
        return found

    def ends(self) -> tuple[Integers, Integers]:
        """Return the codes of the lowest and the highest value that each cell states.

        −1: the cell states none, because it is no interval and no single value. −2: nobody has the stated value.
        """
        values = {self.column.label(code): code for code in range(self.column.size)}
        low, high = np.full(len(self.texts), -1, np.int64), np.full(len(self.texts), -1, np.int64)
        for number, text in enumerate(self.texts):
            parts = interval_ends(text, self.reader.nested) if text else None
            if parts:
                low[number], high[number] = (self._code(end, values) for end in parts)
            elif self.reader.low[number] == self.reader.high[number]:
                low[number] = high[number] = self.reader.low[number]
        return low, high

    def _code(self, end: str, values: dict[str, int]) -> int:
        """Return the code of the end of an interval; −2 if nobody has that value."""
        if end in values or self.column.numbers is None:
            return values.get(end, -2)
        number = self.column.numbers.parse(end)
        if number is None:
            return -2
        low, high = self.reader.around(number)
        return low if low == high else -2
