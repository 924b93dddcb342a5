"""Check which published columns undo the recoding of a quasi-identifier: count again, from the files and the original.

The counting shares only the rule and the reading of cells with the code that made the release: pyarrow counts which values
occur together, and the values that are possible with each are found one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from sfumato.data.column import Column
from sfumato.data.schema import Kind, Role, Schema
from sfumato.data.table import Table
from sfumato.plurals import count_of
from sfumato.releases.cell_coverage import CellReader
from sfumato.releases.exposure_models import RevealingWarning
from sfumato.releases.models import GroupedTable
from sfumato.releases.revelation_rule import (
    EXCEPTIONS,
    IMPOSSIBLE,
    RECURRING,
    UNEXPECTED,
    determines,
    revealing_warning,
)
from sfumato.storage import stored
from sfumato.verification.checks import Check
from sfumato.verification.original_checks import Cells, comparable_texts

Counts = dict[int, dict[int, int]]

_NAME = "revealing"


def revelation_check(
    document: GroupedTable, published: pa.Table, original: Table | None, declared: Schema, reason: str = ""
) -> Check:
    """Check the warnings of columns that undo the recoding of a quasi-identifier; `reason`: why there is no original."""
    stated = [claim for claim in document.warnings or [] if isinstance(claim, RevealingWarning)]
    if original is None:
        return Check(_NAME, None, reason)
    recodings = {column.name: str(column.recoding) for column in document.columns if column.role == "quasi-identifier"}
    found, here = [], set(published.column_names)
    narrowing = cache(lambda public: _Narrowing(published, original, public, recodings[public]))
    for name in original.data.column_names:
        if name in here and declared.role(name) in (Role.SENSITIVE, Role.OTHER):
            values = _values(published, original, declared, name)
            for public in recodings:
                warning = revealing_warning(name, public, *narrowing(public).counts(*values))
                found += [] if warning is None else [warning]
    for claim in stated:
        if claim not in found:
            return Check(_NAME, False, f"release.json warns that {claim.text}, which is not so")
    for warning in found:
        if warning not in stated:
            return Check(_NAME, False, f"release.json does not warn that {warning.text}")
    if stated != found:
        return Check(_NAME, False, "release.json states these warnings twice, or in another order")
    as_stated = f"as stated, {count_of(len(found), 'pair')} of a column and a quasi-identifier that it reveals"
    return Check(_NAME, True, as_stated if found else "no published column undoes the recoding of a quasi-identifier")


def _values(published: pa.Table, original: Table, declared: Schema, name: str) -> tuple[pa.Array, pa.Array]:
    """Return the values of an unchanged column as numbers that both tables share: of published and of original rows."""
    both = Cells.of(published.column(name)), Cells.of(original.data.column(name))
    texts = comparable_texts(*both, name, {name: declared.separators.get(name, ";")})
    encoded = pa.concat_arrays(texts).dictionary_encode()
    numbers = np.split(np.asarray(encoded.indices), [len(texts[0])])
    one, other = (pa.array(part[cells.of_row]) for part, cells in zip(numbers, both, strict=True))
    return one, other


def _together(values: pa.Array, others: Any) -> Counts:
    """Return for each value which others occur with it, and how often."""
    counted = pa.table({"value": values, "other": others}).group_by(["value", "other"]).aggregate([([], "count_all")])
    found: Counts = {}
    for value, other, rows in zip(*(counted[name].to_pylist() for name in ("value", "other", "count_all")), strict=True):
        found.setdefault(value, {})[other] = rows
    return found


class _Narrowing:
    """How the values of a column narrow the cells of one quasi-identifier."""

    def __init__(self, published: pa.Table, original: Table, name: str, recoding: str) -> None:
        self.column: Column = original.column(name)
        cells = Cells.of(published.column(name))
        texts = cells.texts(name).dictionary_encode(null_encoding="encode")
        self.cell = stored(np.asarray(texts.indices)[cells.of_row])
        self.reader = CellReader(texts.dictionary.to_pylist(), self.column, recoding)
        present = np.flatnonzero(np.bincount(self.cell))
        self.size = dict(zip(present.tolist(), self.covered(present, np.arange(self.column.domain)), strict=True))
        counted = pa.array(self.column.codes).value_counts()
        self.frequency: Mapping[int, int] = dict(zip(*(part.to_pylist() for part in counted.flatten()), strict=True))
        self.total = sum(self.frequency.values())
        self.rows_up_to = [0, *accumulate(self.frequency.get(code, 0) for code in range(self.column.size))]

    def covered(self, cells: Any, codes: Any) -> list[int]:
        """Return how many of some values each of some cells covers."""
        found: list[int] = self.reader.counted(np.array(cells, np.int64), np.array(codes, np.int64)).tolist()
        return found

    def counts(self, published: pa.Array, original: pa.Array) -> tuple[int, int, int]:
        """Count the rows whose cell is narrowed to one value, to half, and those whose cell has several values."""
        each = _together(original, self.column.codes).items()
        possible = {value: found for value, occurring in each if (found := self.possible(occurring))}
        several = np.array([self.size.get(cell, 0) > 1 for cell in range(len(self.reader.low))])[self.cell]
        told = several & np.asarray(compute.is_in(published, pa.array(list(possible), published.type)))
        one = half = 0
        for value, cells in _together(published.filter(pa.array(told)), self.cell[told]).items():
            for (cell, rows), left in zip(cells.items(), self.covered(list(cells), possible[value]), strict=True):
                one += rows * (left == 1)
                half += rows * (0 < 2 * left <= self.size[cell])
        return one, half, int(several.sum())

    def possible(self, occurring: Mapping[int, int]) -> list[int]:
        """Return the values that are possible with a value; none if it says nothing about the quasi-identifier."""
        rows, missing = sum(occurring.values()), self.column.size
        if rows < max(RECURRING, UNEXPECTED):  # fewer rows than would be expected among the others
            return []
        known = sorted(code for code in occurring if code != missing)
        if self.column.kind in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL) and known:
            low, high = (_first_beyond(order, occurring, rows) for order in (known, known[::-1]))
            if low is not None and high is not None and IMPOSSIBLE * self._rows_beside(low, high) < self.total:
                return []  # too many values are possible, whether or not a missing one is
            found = [] if low is None or high is None else list(range(low, high + 1))
            found += [missing] if missing in occurring else []
            needed = RECURRING * min(len(found), 2)
        else:
            rare = {code for code, count in occurring.items() if EXCEPTIONS * count <= rows}
            dropped = rare if EXCEPTIONS * sum(occurring[code] for code in rare) <= rows else set()
            found = [code for code in occurring if code not in dropped]
            needed = RECURRING * len(found)
        exceptions = rows - sum(occurring.get(code, 0) for code in found)
        outside = self.total - sum(self.frequency.get(code, 0) for code in found)
        return found if rows >= needed and determines(rows, exceptions, outside, self.total) else []

    def _rows_beside(self, low: int, high: int) -> int:
        """Return the rows of the original whose value is not between two values, or is missing."""
        return int(self.total - (self.rows_up_to[high + 1] - self.rows_up_to[low]))


def _first_beyond(order: Sequence[int], occurring: Mapping[int, int], rows: int) -> int | None:
    """Return the first value, in an order, up to which more rows are than exceptions at one end; None if never."""
    found = 0
    for code in order:
        found += occurring[code]
        if 2 * EXCEPTIONS * found > rows:
            return code
    return None
