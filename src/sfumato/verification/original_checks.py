"""Check a release against its original: unchanged columns are the same, and published cells cover the original values.

Rows are shuffled, so rows are matched by what is published unchanged. Rows that agree in all of it are one class, and a
published row may stand for any original row of its class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from sfumato.data.groups import combination_counts, joint_ranks
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.exact import written
from sfumato.exact.numbers import parse_decimal
from sfumato.io.write_files import cell_texts
from sfumato.releases.cell_coverage import CellReader
from sfumato.releases.models import MARKED_SINCE
from sfumato.storage import stored

Codes = NDArray[np.int64]

_AT_ONCE = 1 << 21
"""The number of pairs of a published and an original row that are compared at a time; bounds memory."""

_BUDGET = 1 << 25
"""The number of pairs that are compared in all, small classes first; larger classes are compared column by column."""


@dataclass(frozen=True, eq=False)
class MatchedRows:
    """The class of each row of both tables: rows of one class agree in everything that is published unchanged."""

    published: Codes
    original: Codes
    classes: int

    @classmethod
    def of(cls, published: pa.Table, original: Table, names: Sequence[str], schema: Schema, version: int) -> MatchedRows:
        """Number the distinct combinations of the unchanged columns over both tables.

        `version`: of the format. Since format 4 a published cell is null where the value is missing, and nowhere else.
        """
        rows, sensitive = published.num_rows, schema.sensitive_columns()
        known = set(original.data.column_names)
        for name in names:
            if name not in known:
                raise ColumnError(
                    "the release has a column that the original does not have",
                    remedy="Pass the table that the release was made from.",
                    file=original.source,
                    column=name,
                )

        def codes(name: str) -> tuple[NDArray[np.int32], int]:
            separators = {name: schema.separators.get(name, ";")}
            both = Cells.of(published.column(name)), Cells.of(original.data.column(name))
            texts = comparable_texts(*both, name, separators)
            if version >= MARKED_SINCE:
                meanings = schema.missing.texts(Kind(schema.kinds[name]) if name in sensitive else None)
                absent = _without_value(both[0].distinct, name, ()), _without_value(both[1].distinct, name, meanings)
                texts = [compute.if_else(mask, None, part) for mask, part in zip(absent, texts, strict=True)]
            encoded = pa.concat_arrays(texts).dictionary_encode(null_encoding="encode")
            by_table = np.split(np.asarray(encoded.indices), [len(texts[0])])
            of_row = [part.astype(np.int32)[cells.of_row] for part, cells in zip(by_table, both, strict=True)]
            return np.concatenate(of_row), len(encoded.dictionary)

        # one column after another: all of them may not fit into memory
        everyone = np.zeros(rows + original.rows, np.int32), 1
        numbers = stored(joint_ranks(chain([everyone], map(codes, names))))
        return cls(numbers[:rows], numbers[rows:], int(numbers.max()) + 1)

    def surplus(self) -> tuple[int, int]:
        """Return how many published rows have no original, and how many original rows are not published."""
        more = np.bincount(self.published, minlength=self.classes) - np.bincount(self.original, minlength=self.classes)
        return int(more[more > 0].sum()), int(-more[more < 0].sum())


@dataclass(frozen=True, eq=False)
class Cells:
    """A column as its distinct cells, so that each is converted once, and for each row which of them it has."""

    distinct: pa.Array
    """May contain a cell twice, or one that no row has; contains null if a row has it."""
    of_row: Codes

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Cells:
        """Split a column of any type; a column of lists is kept as it is, row by row."""
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        if pa.types.is_nested(column.type):
            return cls(column, np.arange(len(column)))
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        values, indices = encoded.dictionary, encoded.indices
        if indices.null_count:
            indices = indices.fill_null(len(values))
            values = pa.concat_arrays([values, pa.nulls(1, values.type)])
        return cls(values, np.asarray(indices).astype(np.int64))

    def texts(self, name: str, separators: Mapping[str, str] | None = None) -> pa.Array:
        """Return the distinct cells as texts; null stays null."""
        return cell_texts(pa.chunked_array([self.distinct]), name, separators)


def comparable_texts(one: Cells, other: Cells, name: str, separators: Mapping[str, str]) -> list[pa.Array]:
    """Return the distinct cells of two columns as texts that are equal where the cells are.

    CSV has no types and frames have, so the same number may be written as 17 and 17.0.
    """
    types = [one.distinct.type, other.distinct.type]
    if all(map(pa.types.is_nested, types)):
        return [pa.array([_items(cell) for cell in cells.distinct.to_pylist()], pa.string()) for cells in (one, other)]
    if any(map(_binary, types)):
        return [pa.array([_bytes(cell).hex() for cell in cells.distinct.to_pylist()], pa.string()) for cells in (one, other)]
    texts = [cells.texts(name, separators).fill_null("") for cells in (one, other)]
    typed = [not pa.types.is_string(kind) and not pa.types.is_large_string(kind) for kind in types]
    if typed[0] != typed[1]:
        texts = [_plain(text) for text in texts]
    return texts


def _without_value(cells: pa.Array, name: str, meanings: Sequence[str]) -> pa.Array:
    """Return which distinct cells have no value: null, not a number, or one of the texts that mean missing."""
    if pa.types.is_nested(cells.type) or _binary(cells.type):
        return cells.is_null()
    texts = cell_texts(pa.chunked_array([cells]), name).to_pylist()
    return pa.array([text is None or text.strip() in meanings for text in texts], pa.bool_())


def _binary(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)


def _bytes(cell: Any) -> bytes:
    """Return bytes as they are, texts in UTF-8, and nothing for null, as in CSV."""
    return cell if isinstance(cell, bytes) else b"" if cell is None else str(cell).encode()


def _items(cell: Any) -> str:
    return repr(sorted(map(repr, cell)) if isinstance(cell, list) else cell)


def _plain(texts: pa.Array) -> pa.Array:
    """Return texts with numbers in their canonical form, so that 17.0 is 17."""
    numbers = [(text, parse_decimal(text)) for text in texts.to_pylist()]
    cells = [text if number is None else written(Fraction(number)) for text, number in numbers]
    return pa.array(cells, pa.string())


@dataclass(frozen=True)
class Coverage:
    """How many rows are not covered, and how precisely rows could be matched."""

    uncovered: int
    unique_matches: int
    """Published rows whose original row is certain, because what is unchanged in them occurs once in each table."""
    by_column: int
    """Published rows of classes so large that each quasi-identifier was compared alone."""

    first: str | None
    """The quasi-identifiers of the first published row that covers no original row."""


def cover_rows(
    published: pa.Table,
    original: Table,
    matched: MatchedRows,
    recodings: Mapping[str, str],
    *,
    everyone: bool,
    counterfeits: int = 0,
) -> Coverage:
    """Check that every published row covers an original row of its class and, if nobody was suppressed, the reverse.

    `recodings`: how each quasi-identifier is published. `everyone`: nobody was suppressed. `counterfeits`: how many
    published rows need not cover an original row. Cost: the pairs of distinct
    published and distinct original rows within each class, up to a budget; beyond it linear in cells and values.
    """
    pairs = _Pairs.of(published, original, matched, recodings)
    covering, covered = pairs.covered()
    uncovered = max(0, int(pairs.published_rows[~covering].sum()) - counterfeits)
    uncovered += int(pairs.original_rows[~covered].sum()) if everyone else 0
    sizes = np.bincount(matched.published, minlength=matched.classes)
    once = (sizes == 1) & (np.bincount(matched.original, minlength=matched.classes) == 1)
    first = None
    if not covering.all():
        row = pairs.row_of(int(np.argmin(covering)), matched)
        first = ", ".join(f"{name} = {published.column(name)[row].as_py()}" for name in recodings)
    return Coverage(uncovered, int(once.sum()), int(sizes[pairs.large].sum()), first)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The distinct rows of both tables, sorted by class, and which classes are compared pair by pair.

    `left`: for the published rows an array of classes, then one of cell numbers for each quasi-identifier. `right`: the same
    with codes for the original rows. Entries of class c are left_at[c] to left_at[c + 1], and likewise on the right.
    """

    readers: Sequence[CellReader]
    cells: Sequence[Codes]
    """For each quasi-identifier the cell number of each published row."""
    left: Sequence[Codes]
    right: Sequence[Codes]
    published_rows: Codes
    """The number of published rows that each entry on the left represents."""
    original_rows: Codes
    left_at: Codes
    right_at: Codes
    small: Codes
    """The classes that are compared pair by pair, smallest first in the budget."""
    large: Codes
    """The classes that are compared column by column."""

    @classmethod
    def of(cls, published: pa.Table, original: Table, matched: MatchedRows, recodings: Mapping[str, str]) -> _Pairs:
        readers, cells, codes = [], [], []
        for name, recoding in recodings.items():
            column = original.column(name)
            distinct = Cells.of(published.column(name))
            texts = distinct.texts(name).dictionary_encode(null_encoding="encode")
            readers.append(CellReader(texts.dictionary.to_pylist(), column, recoding))
            cells.append(stored(np.asarray(texts.indices).astype(np.int32)[distinct.of_row]))
            codes.append(column.codes)
        left, published_rows = _distinct(matched.published, cells)
        right, original_rows = _distinct(matched.original, codes)
        left_at = np.searchsorted(left[0], np.arange(matched.classes + 1))
        right_at = np.searchsorted(right[0], np.arange(matched.classes + 1))
        pairs = np.diff(left_at) * np.diff(right_at)  # of each class
        by_size = np.argsort(pairs, kind="stable")
        within = np.zeros(matched.classes, bool)
        within[by_size] = (np.cumsum(pairs[by_size]) <= _BUDGET) & (pairs[by_size] <= 4 * _AT_ONCE)
        small, large = np.flatnonzero((pairs > 0) & within), np.flatnonzero((pairs > 0) & ~within)
        return cls(readers, cells, left, right, published_rows, original_rows, left_at, right_at, small, large)

    def covered(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which entries on the left cover one on the right of their class, and which on the right are covered."""
        covering, covered = np.zeros(len(self.left[0]), bool), np.zeros(len(self.right[0]), bool)
        pairs = np.diff(self.left_at)[self.small] * np.diff(self.right_at)[self.small]
        for some in np.split(self.small, np.flatnonzero(np.diff(np.cumsum(pairs) // _AT_ONCE)) + 1):
            i, j = _pairs_within(self.left_at, self.right_at, some)
            for position, reader in enumerate(self.readers, start=1):  # position 0 has the classes
                fits = reader.covers(self.left[position][i], self.right[position][j])
                i, j = i[fits], j[fits]
            covering[i] = True
            covered[j] = True
        for number in self.large:
            here = slice(self.left_at[number], self.left_at[number + 1])
            there = slice(self.right_at[number], self.right_at[number + 1])
            covering[here], covered[there] = True, True
            for position, reader in enumerate(self.readers, start=1):
                cells, values = self.left[position][here], self.right[position][there]
                some_cell, some_value = reader.either(
                    np.flatnonzero(np.bincount(cells)), np.flatnonzero(np.bincount(values))
                )
                covering[here] &= some_cell[cells]
                covered[there] &= some_value[values]
        return covering, covered

    def row_of(self, entry: int, matched: MatchedRows) -> int:
        """Return the first published row that an entry on the left represents."""
        same = matched.published == self.left[0][entry]
        for column, parts in zip(self.cells, self.left[1:], strict=True):
            same = same & (column == parts[entry])
        return int(np.argmax(same))


def _distinct(classes: Codes, columns: Sequence[NDArray[Any]]) -> tuple[list[Codes], Codes]:
    """Return the distinct rows, class first, in order, as one array for each column; and how often each occurs."""
    every: list[NDArray[Any]] = [classes, *columns]
    parts, counts = combination_counts(every, [int(c.max()) + 1 for c in every])
    return [np.ascontiguousarray(part) for part in parts.T], counts


def _pairs_within(left_at: Codes, right_at: Codes, classes: Codes) -> tuple[Codes, Codes]:
    """Return all pairs of a left and a right entry of the same class, class by class."""
    lefts, rights = np.diff(left_at)[classes], np.diff(right_at)[classes]
    sizes = lefts * rights
    total = int(sizes.sum())
    # the number of each pair within its class
    within = np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    width = np.repeat(rights, sizes)
    return np.repeat(left_at[classes], sizes) + within // width, np.repeat(right_at[classes], sizes) + within % width
