"""Check which published columns undo the recoding of a quasi-identifier: count again, from the files and the original.

Only the rule and the reading of cells are shared with the code that made the release: `row_facts` counts which values occur
together, and the values that are possible with each are found one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np

from sfumato.data.column import Column
from sfumato.data.schema import Kind, Role, Schema
from sfumato.plurals import count_of
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
from sfumato.verification.checks import Check
from sfumato.verification.row_facts import Comparison, UncountedError

_NAME = "revealing"

_LEAST = max(RECURRING, UNEXPECTED)
"""A value of fewer rows says nothing about a quasi-identifier: as few would be expected among the others."""


def revelation_check(
    document: GroupedTable, published: Sequence[str], compared: Comparison | None, declared: Schema, reason: str = ""
) -> Check:
    """Check the warnings of columns that undo the recoding of a quasi-identifier.

    `published`: the names of the published columns. `compared`: both tables; if None, `reason` says why.
    """
    stated = [claim for claim in document.warnings or [] if isinstance(claim, RevealingWarning)]
    if compared is None:
        return Check(_NAME, None, reason)
    recodings = {column.name: str(column.recoding) for column in document.columns if column.role == "quasi-identifier"}
    found, here = [], set(published)
    narrowing = cache(lambda public: _Narrowing(compared, public, recodings[public]))
    for name in compared.original.data.column_names:
        if name in here and declared.role(name) in (Role.SENSITIVE, Role.OTHER):
            for public in recodings:
                try:
                    counts = narrowing(public).counts(name)
                except UncountedError as error:
                    return Check(_NAME, None, f"not checked: {error}")
                warning = revealing_warning(name, public, *counts)
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


class _Narrowing:
    """How the values of a column narrow the cells of one quasi-identifier."""

    def __init__(self, compared: Comparison, name: str, recoding: str) -> None:
        self.compared, self.name = compared, name
        self.column: Column = compared.original.column(name)
        self.reader = compared.reader(name, recoding)
        rows = compared.cell_rows(name)
        present = np.flatnonzero(rows)
        self.size = dict(zip(present.tolist(), self.covered(present, np.arange(self.column.domain)), strict=True))
        self.several = sum(int(rows[cell]) for cell, size in self.size.items() if size > 1)
        self.frequency: Mapping[int, int] = {code: count for code, count in enumerate(self.column.counts.tolist()) if count}
        self.total = sum(self.frequency.values())
        self.rows_up_to = [0, *accumulate(self.frequency.get(code, 0) for code in range(self.column.size))]

    def covered(self, cells: Any, codes: Any) -> list[int]:
        """Return how many of some values each of some cells covers."""
        found: list[int] = self.reader.counted(np.array(cells, np.int64), np.array(codes, np.int64)).tolist()
        return found

    def counts(self, value: str) -> tuple[int, int, int]:
        """Count the rows whose cell an unchanged column narrows to one value, to half, and those with several values."""
        each = self.compared.together_original(value, self.name, _LEAST).items()
        possible = {value: found for value, occurring in each if (found := self.possible(occurring))}
        one = half = 0
        told = self.compared.together_published(value, self.name, list(possible)) if possible else {}
        for number, cells in told.items():
            some = {cell: rows for cell, rows in cells.items() if self.size[cell] > 1}
            for (cell, rows), left in zip(some.items(), self.covered(list(some), possible[number]), strict=True):
                one += rows * (left == 1)
                half += rows * (0 < 2 * left <= self.size[cell])
        return one, half, self.several

    def possible(self, occurring: Mapping[int, int]) -> list[int]:
        """Return the values that are possible with a value; none if it says nothing about the quasi-identifier."""
        rows, missing = sum(occurring.values()), self.column.size
        if rows < _LEAST:
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
