"""Check that published cells cover the original values, class by class; see `original_checks` for what a class is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import combination_counts
from sfumato.data.table import Table
from sfumato.plurals import count_of
from sfumato.releases.cell_coverage import CellReader
from sfumato.storage import stored
from sfumato.verification.checks import Check
from sfumato.verification.original_checks import Cells, Codes, MatchedRows

_AT_ONCE = 1 << 18
"""The number of pairs of a published and an original row that are compared at a time, unless one class has more."""

_LARGEST = 1 << 23
"""The most pairs of a class that are compared one by one; bounds memory."""

_BUDGET = 1 << 25
"""The number of pairs that are compared in all, small classes first; larger classes are compared column by column."""


@dataclass(frozen=True)
class Coverage:
    """How many rows are not covered, and how precisely rows could be matched."""

    uncovering: int
    """Published rows that cover no original row."""
    uncovered: int
    """Original rows that no published row covers; 0 if rows were suppressed."""
    unique_matches: int
    """Published rows whose original row is certain, because what is unchanged in them occurs once in each table."""
    by_column: int
    """Published rows of classes so large that each quasi-identifier was compared alone."""
    first: tuple[int, ...] | None
    """The numbers of the cells of the first published row, in the order of its cells, that covers no original row."""

    @classmethod
    def joined(cls, parts: Sequence[Coverage]) -> Coverage:
        """Return the coverage of all classes, given that of disjoint parts of them.

        >>> Coverage.joined([Coverage(1, 0, 2, 0, (1, 0)), Coverage(0, 2, 3, 4, None)])
        Coverage(uncovering=1, uncovered=2, unique_matches=5, by_column=4, first=(1, 0))
        """
        return cls(
            sum(part.uncovering for part in parts),
            sum(part.uncovered for part in parts),
            sum(part.unique_matches for part in parts),
            sum(part.by_column for part in parts),
            min((part.first for part in parts if part.first is not None), default=None),
        )


@dataclass(frozen=True, eq=False)
class ClassRows:
    """The distinct rows of both tables, sorted by class, then by the first quasi-identifier.

    `left`: for the published rows an array of classes, then one of cell numbers for each quasi-identifier. `right`: the same
    with codes for the original rows.
    """

    left: Sequence[Codes]
    published_rows: Codes
    """The number of published rows that each entry on the left represents."""
    right: Sequence[Codes]
    original_rows: Codes
    classes: int

    @property
    def left_at(self) -> Codes:
        """Entries of class c are `left_at[c]` to `left_at[c + 1]`."""
        return np.searchsorted(self.left[0], np.arange(self.classes + 1))

    @property
    def right_at(self) -> Codes:
        """The same on the right."""
        return np.searchsorted(self.right[0], np.arange(self.classes + 1))

    @property
    def pairs(self) -> Codes:
        """The number of pairs of a distinct published and a distinct original row of each class."""
        return np.diff(self.left_at) * np.diff(self.right_at)

    def sizes(self) -> tuple[Codes, Codes]:
        """Return how many published, and how many original rows each class has."""
        sides = ((self.left[0], self.published_rows), (self.right[0], self.original_rows))
        one, other = (np.zeros(self.classes, np.int64) for _ in sides)
        for sizes, (classes, rows) in zip((one, other), sides, strict=True):
            np.add.at(sizes, classes, rows)
        return one, other


def cover_rows(
    published: pa.Table, original: Table, matched: MatchedRows, recodings: Mapping[str, str], *, everyone: bool
) -> tuple[Coverage, Sequence[CellReader]]:
    """Check that every published row covers an original row of its class and, if nobody was suppressed, the reverse.

    `recodings`: how each quasi-identifier is published. `everyone`: nobody was suppressed. Also return the distinct cells of
    each quasi-identifier. Cost: the pairs of distinct published and distinct original rows within each class, up to a
    budget; beyond it linear in cells and values.
    """
    readers, cells, codes = [], [], []
    for name, recoding in recodings.items():
        column = original.column(name)
        distinct = Cells.of(published.column(name))
        texts, number = distinct.numbered(name)
        readers.append(CellReader(texts, column, recoding))
        cells.append(stored(number[distinct.of_row]))
        codes.append(column.codes)
    left, published_rows = _distinct(matched.published, cells)
    right, original_rows = _distinct(matched.original, codes)
    rows = ClassRows(left, published_rows, right, original_rows, matched.classes)
    limit = pair_limit(*np.unique(rows.pairs, return_counts=True))
    return cover_classes(rows, readers, limit, everyone=everyone), readers


def pair_limit(pairs: Codes, classes: Codes) -> int:
    """Return the largest number of pairs of a class that is compared pair by pair, so that all of them are in the budget.

    `pairs`: distinct numbers of pairs, ascending. `classes`: the number of classes that have so many.

    >>> pair_limit(np.array([1, 1 << 23, 1 << 24]), np.array([5, 2, 2]))
    8388608
    """
    within = pairs[(np.cumsum(pairs * classes) <= _BUDGET) & (pairs <= _LARGEST)]
    return int(within[-1]) if len(within) else 0


def cover_classes(rows: ClassRows, readers: Sequence[CellReader], limit: int, *, everyone: bool) -> Coverage:
    """Compare the rows of some classes; `limit`: as `pair_limit` returns it for all classes."""
    covering, covered = _covered(rows, readers, limit)
    uncovering = int(rows.published_rows[~covering].sum())
    uncovered = int(rows.original_rows[~covered].sum()) if everyone else 0
    published, original = rows.sizes()
    first = None
    if not covering.all():
        wrong = np.flatnonzero(~covering)
        # the last key is the most important one
        least = wrong[np.lexsort([column[wrong] for column in rows.left[:0:-1]])[0]] if readers else wrong[0]
        first = tuple(int(column[least]) for column in rows.left[1:])
    once = int(((published == 1) & (original == 1)).sum())
    return Coverage(uncovering, uncovered, once, int(published[rows.pairs > limit].sum()), first)


def coverage_check(result: Coverage, readers: Sequence[CellReader], names: Sequence[str], counterfeits: int = 0) -> Check:
    """Return the check of what was compared.

    `names`: of the quasi-identifiers. `counterfeits`: how many published rows need not cover an original row.
    """
    wrong = max(0, result.uncovering - counterfeits) + result.uncovered
    if wrong:
        shown = (
            ""
            if result.first is None
            else ", ".join(
                f"{name} = {reader.cells[number]}" for name, reader, number in zip(names, readers, result.first, strict=True)
            )
        )
        first = f"; the first: {shown}" if shown else ""
        return Check("cover", False, f"{count_of(wrong, 'row')} not covered by what is published{first}")
    by_column = f", {count_of(result.by_column, 'row')} compared column by column" if result.by_column else ""
    matched = f"{count_of(result.unique_matches, 'row')} matched uniquely{by_column}"
    return Check("cover", True, f"the published cells cover the original values; {matched}")


def _covered(rows: ClassRows, readers: Sequence[CellReader], limit: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which entries on the left cover one on the right of their class, and which on the right are covered."""
    left_at, right_at, pairs = rows.left_at, rows.right_at, rows.pairs
    covering, covered = np.zeros(len(rows.left[0]), bool), np.zeros(len(rows.right[0]), bool)
    begin, end = _candidates(rows, readers)
    small = np.flatnonzero((end > begin) & (pairs <= limit)[rows.left[0]])
    for some in np.split(small, np.flatnonzero(np.diff(np.cumsum((end - begin)[small]) // _AT_ONCE)) + 1):
        i, j = _pairs_with(some, begin[some], end[some])
        for position, reader in enumerate(readers, start=1):  # position 0 has the classes
            fits = reader.covers(rows.left[position][i], rows.right[position][j])
            i, j = i[fits], j[fits]
        covering[i] = True
        covered[j] = True
    for number in np.flatnonzero(pairs > limit):
        here = slice(left_at[number], left_at[number + 1])
        there = slice(right_at[number], right_at[number + 1])
        covering[here], covered[there] = True, True
        for position, reader in enumerate(readers, start=1):
            cells, values = rows.left[position][here], rows.right[position][there]
            some_cell, some_value = reader.either(np.flatnonzero(np.bincount(cells)), np.flatnonzero(np.bincount(values)))
            covering[here] &= some_cell[cells]
            covered[there] &= some_value[values]
    return covering, covered


def _distinct(classes: Codes, columns: Sequence[NDArray[Any]]) -> tuple[list[Codes], Codes]:
    """Return the distinct rows, class first, in order, as one array for each column; and how often each occurs."""
    every: list[NDArray[Any]] = [classes, *columns]
    parts, counts = combination_counts(every, [int(c.max()) + 1 for c in every])
    return [np.ascontiguousarray(part) for part in parts.T], counts


def _candidates(rows: ClassRows, readers: Sequence[CellReader]) -> tuple[Codes, Codes]:
    """Return for each entry on the left where the entries on the right begin and end that it may cover.

    They are those of its class whose first value is not outside all values that the first cell covers.
    """
    classes = rows.left[0]
    if not readers:
        return rows.right_at[classes], rows.right_at[classes + 1]
    domain = readers[0].column.domain
    first, last = readers[0].hull
    keys = rows.right[0] * domain + rows.right[1]
    begin = np.searchsorted(keys, classes * domain + first[rows.left[1]])
    end = np.searchsorted(keys, classes * domain + last[rows.left[1]], "right")
    return begin, np.maximum(begin, end)


def _pairs_with(entries: Codes, begin: Codes, end: Codes) -> tuple[Codes, Codes]:
    """Return each entry paired with all numbers from its `begin` to before its `end`.

    >>> _pairs_with(np.array([7, 9]), np.array([2, 0]), np.array([4, 1]))
    (array([7, 7, 9]), array([2, 3, 0]))
    """
    width = end - begin
    return np.repeat(entries, width), np.arange(int(width.sum())) + np.repeat(begin - (np.cumsum(width) - width), width)
