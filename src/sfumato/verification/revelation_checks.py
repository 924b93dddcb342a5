"""Check which published columns undo the recoding of a quasi-identifier: count again, from the files and the original.

Only the rule and the reading of cells are shared with the code that made the release: `row_facts` counts which values occur
together, and the values that are possible with each are found one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

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
from sfumato.verification.row_facts import Comparison, Pairs, UncountedError

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
        self.size = np.zeros(len(rows), np.int64)
        """The number of values that each cell covers; 0 if no row has it."""
        self.size[present] = self.reader.counted(present, np.arange(self.column.domain))
        self.several = int(rows[self.size > 1].sum())
        self.is_ordered = self.column.kind in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL)
        self.frequency: list[int] = self.column.counts.tolist()
        self.total = sum(self.frequency)
        self.rows_up_to = np.concatenate([[0], np.cumsum(self.column.counts[: self.column.size])])

    def counts(self, value: str) -> tuple[int, int, int]:
        """Count the rows whose cell an unchanged column narrows to one value, to half, and those with several values."""
        each = self.compared.together_original(value, self.name, _LEAST)
        possible = {}
        for entry in np.flatnonzero(self.may_narrow(each)).tolist():
            here = slice(each.starts[entry], each.ends[entry])
            found = self.possible(dict(zip(each.others[here].tolist(), each.rows[here].tolist(), strict=True)))
            if found:
                possible[int(each.values[here.start])] = np.array(found, np.int64)
        if not possible:
            return 0, 0, self.several
        told = self.compared.together_published(value, self.name, list(possible))
        left = np.zeros(len(told.values), np.int64)
        for start, end in zip(told.starts.tolist(), told.ends.tolist(), strict=True):
            left[start:end] = self.reader.counted(told.others[start:end], possible[int(told.values[start])])
        size = self.size[told.others]
        one, few = (size > 1) & (left == 1), (size > 1) & (left > 0) & (2 * left <= size)
        return int(told.rows[one].sum()), int(told.rows[few].sum()), self.several

    def may_narrow(self, each: Pairs) -> NDArray[np.bool_]:
        """Return for each value whether anything may be `possible`, from the values that cannot be exceptions alone.

        Those that more rows have than there may be exceptions are possible, and in an order all values between them. If too
        many rows of the table have one of these, the value says nothing.
        """
        if not len(each.values):
            return np.zeros(0, bool)
        rows = np.add.reduceat(each.rows, each.starts)
        frequent = EXCEPTIONS * each.rows > np.repeat(rows, each.ends - each.starts)
        if self.is_ordered:
            between = frequent & (each.others != self.column.size)
            low = np.minimum.reduceat(np.where(between, each.others, self.column.size), each.starts)
            high = np.maximum.reduceat(np.where(between, each.others, -1), each.starts)
            inside = np.where(low <= high, self.rows_up_to[high + 1] - self.rows_up_to[low], 0)
        else:
            inside = np.add.reduceat(np.where(frequent, self.column.counts[each.others], 0), each.starts)
        outside = self.total - inside
        unexpected = rows * outside.astype(float) * (1 + 1e-9) >= UNEXPECTED * float(self.total)  # rounding drops no value
        return np.asarray((rows >= _LEAST) & (IMPOSSIBLE * outside >= self.total) & unexpected)

    def possible(self, occurring: Mapping[int, int]) -> list[int]:
        """Return the values that are possible with a value; none if it says nothing about the quasi-identifier."""
        rows, missing = sum(occurring.values()), self.column.size
        if rows < _LEAST:
            return []
        known = sorted(code for code in occurring if code != missing)
        if self.is_ordered and known:
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
        exceptions = rows - sum(occurring[code] for code in found if code in occurring)
        outside = self.total - sum(map(self.frequency.__getitem__, found))
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
