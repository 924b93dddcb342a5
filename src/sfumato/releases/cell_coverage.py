"""Decide which original values a published cell covers, from the text of the cell alone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.releases.cells import (
    WITHHELD,
    hierarchy_cell,
    interval_ends,
    is_quoted,
    is_value,
    set_members,
    unquote,
)

Pairs = NDArray[np.bool_]

_FEW = 1 << 12
"""Up to this many pairs of a cell and a code are compared one by one when they are counted."""

_GRID = 1 << 23
"""Up to this many pairs, all are compared once and looked up from then on; 8 MB."""


class CellReader:
    """The distinct published cells of a quasi-identifier, and which of its original values each covers.

    `cells`: as `sfumato.releases.cells` says; null or empty if the value is missing. `column`: the original values.
    `recoding`: "interval", "ancestor" or "set". Cells and values go by their numbers: a cell by its position in `cells`, a
    value by its code.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> ages = Table(pa.table({"age": [20, 30, 41]}), Schema(["age"])).column("age")
    >>> CellReader(["[20, 30]", "*"], ages, "interval").covers(np.array([[0], [1]]), np.array([0, 1, 2])).tolist()
    [[True, True, False], [True, True, True]]
    """

    def __init__(self, cells: Sequence[str | None], column: Column, recoding: str) -> None:
        self.cells, self.column = cells, column
        self.nested = column.kind is Kind.SET
        self.integers: list[int] = [] if column.numbers is None else column.numbers.integers.tolist()
        self.ends: dict[str, tuple[int, int] | None] = {}
        """Ends of intervals that were parsed already: many cells share them."""
        self.low = np.full(len(cells), 1, np.int64)
        self.high = np.zeros(len(cells), np.int64)  # from 1 to 0: covers no code
        self.withheld = np.array([cell == WITHHELD for cell in cells])
        self.absent = np.array([not cell for cell in cells])
        self.nodes: list[NDArray[np.int64]] = []
        pairs: list[int] = []  # cell number × domain + code, for each member of a set
        values = {column.label(code): code for code in range(column.size)}
        for number, cell in enumerate(cells):
            if cell is None:
                continue
            single = None if cell == WITHHELD else self._single(cell, values)
            if single is not None:
                self.low[number] = self.high[number] = single
            elif recoding == "interval":
                self.low[number], self.high[number] = self._interval(cell, values)
            elif recoding == "set":
                parts = set_members(cell, self.nested)
                pairs += [number * column.domain + values[part] for part in parts if part in values]
        self.members = np.array(sorted(pairs), np.int64)
        if recoding == "ancestor" and column.hierarchy is not None:
            number_of = {cell: number for number, cell in enumerate(cells) if cell is not None}
            for level, labels in enumerate(column.hierarchy.labels):
                height, plain = column.hierarchy.height, column.numbers is not None or self.nested
                known = (number_of.get(hierarchy_cell(label, level, height, plain), -1) for label in labels)
                # the last entry is the node of missing values, which no label names
                self.nodes.append(np.array([*known, -1], np.int64))

    def _single(self, cell: str, values: dict[str, int]) -> int | None:
        if self.column.numbers is None:
            if self.nested:
                return values.get(cell)
            if is_quoted(cell):
                return values.get(unquote(cell))
            return values.get(cell) if cell and is_value(cell) else None
        if cell in values:
            return values[cell]
        number = self.column.numbers.parse(cell)
        if number is None:
            return None
        low, high = self.around(number)
        return low if low == high else None

    def around(self, number: Fraction) -> tuple[int, int]:
        """Return the code of the first value that is not below a number, and of the last that is not above it."""
        numbers = self.column.numbers
        assert numbers is not None
        exact = number / numbers.unit
        return bisect_left(self.integers, ceil(exact)), bisect_right(self.integers, floor(exact)) - 1

    def _interval(self, cell: str, values: dict[str, int]) -> tuple[int, int]:
        parts = interval_ends(cell, self.nested)
        if not parts:
            return 1, 0
        low, high = parts
        if self.column.numbers is None:
            return (values[low], values[high]) if low in values and high in values else (1, 0)
        for end in parts:
            if end not in self.ends:
                number = self.column.numbers.parse(end)
                self.ends[end] = None if number is None else self.around(number)
        first, last = self.ends[low], self.ends[high]
        return (1, 0) if first is None or last is None else (first[0], last[1])

    def covers(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> Pairs:
        """Return for each pair of a cell and a code whether the cell covers the value."""
        return self._covers(cells, codes) if self._grid is None else self._grid[cells * self.column.domain + codes]

    def counted(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each of some cells how many of some distinct values it covers. Cost: linear in cells and values."""
        if len(cells) * len(codes) <= _FEW:
            return np.asarray(self.covers(cells[:, None], codes[None, :]).sum(axis=1), np.int64)
        present, chosen = np.sort(codes[codes < self.column.size]), np.zeros(self.column.domain, bool)
        chosen[codes] = True
        found = np.searchsorted(present, self.high, "right") - np.searchsorted(present, self.low)
        found = np.maximum(0, found)
        listed, listed_codes = self.listed
        found += np.bincount(listed[chosen[listed_codes]], minlength=len(found))
        found += self.absent & (len(present) < len(codes))
        found[self.withheld] = len(codes)
        return np.asarray(found[cells], np.int64)

    def either(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> tuple[Pairs, Pairs]:
        """Return which of all cells are among `cells` and cover one of `codes`, and which of all codes are covered so.

        Cost: linear in all cells and values, and in the members of sets.
        """
        whose, what = np.zeros(len(self.low), bool), np.zeros(self.column.domain, bool)
        whose[cells] = self.counted(cells, codes) > 0
        # a code is within the ranges that begin before it and do not end before it
        ranges = cells[self.low[cells] <= self.high[cells]]
        size = self.column.size
        begins = np.bincount(self.low[ranges], minlength=size + 1)[: size + 1]
        ends = np.bincount(self.high[ranges] + 1, minlength=size + 1)[: size + 1]
        what[:size] = np.cumsum(begins - ends)[:size] > 0
        among = np.zeros(len(self.low), bool)
        among[cells] = True
        listed, listed_codes = self.listed
        what[listed_codes[among[listed]]] = True
        what[size:] |= bool(self.absent[cells].any())
        what |= bool(self.withheld[cells].any())
        asked = np.zeros(self.column.domain, bool)
        asked[codes] = True
        return whose, what & asked

    @cached_property
    def listed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Cells and codes of all pairs of a set and a member, or a node and a leaf, unless the range or `*` covers them."""
        domain, size = self.column.domain, self.column.size
        keys = [self.members]
        for own in self._cell_of_code:
            codes = np.flatnonzero(own[:size] >= 0)
            keys.append(own[codes] * domain + codes)
        cells, codes = np.divmod(np.unique(np.concatenate(keys)), max(1, domain))
        fresh = ~self.withheld[cells] & ((codes < self.low[cells]) | (codes > self.high[cells]))
        return cells[fresh], codes[fresh]

    @cached_property
    def hull(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each cell the first and the last code that it covers, or of all; from 0 to -1 if it covers none."""
        count, domain = len(self.low), self.column.domain
        first, last = np.zeros(count, np.int64), np.full(count, domain - 1)
        if self._grid is not None:
            grid = self._grid.reshape(count, domain)
            covers = grid.any(axis=1)
            first = np.where(covers, grid.argmax(axis=1), 0)
            last = np.where(covers, domain - 1 - grid[:, ::-1].argmax(axis=1), -1)
        return first, last

    @cached_property
    def _cell_of_code(self) -> list[NDArray[np.int64]]:
        """For each level of the hierarchy and code the cell that names its node, or -1."""
        paths = self.column.paths
        if paths is None:
            return []
        return [nodes[paths[:, level]] for level, nodes in enumerate(self.nodes)]

    @cached_property
    def _grid(self) -> Pairs | None:
        """The result for all pairs of a cell and a code, flat; None if there are too many."""
        count, domain = len(self.low), self.column.domain
        if count * domain > _GRID:
            return None
        return self._covers(np.arange(count)[:, None], np.arange(domain)[None, :]).ravel()

    def _covers(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> Pairs:
        missing = codes == self.column.size
        found = (self.low[cells] <= codes) & (codes <= self.high[cells]) & ~missing
        found |= self.withheld[cells] | (self.absent[cells] & missing)
        if len(self.members):
            keys = cells * self.column.domain + codes
            at = np.minimum(np.searchsorted(self.members, keys), len(self.members) - 1)
            found |= self.members[at] == keys
        for own in self._cell_of_code:
            found |= (own[codes] == cells) & ~missing
        return np.asarray(found)
