"""What a release must share with the table it was made from: the same secrets, under cells that cover the originals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import combination_counts, combined
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.exact import written
from sfumato.exact.numbers import parse_decimal
from sfumato.io.write_files import cell_texts
from sfumato.verification.cell_coverage import Reader

Codes = NDArray[np.int64]

_AT_ONCE = 1 << 21
"""Pairs of a published and an original row that are looked at at a time."""

_BUDGET = 1 << 25
"""Pairs that are looked at in all, small classes first; classes beyond are looked at column by column."""


@dataclass(frozen=True, eq=False)
class Matched:
    """The rows of both tables by what is published unchanged: rows of one class agree in all of it."""

    published: Codes
    original: Codes
    classes: int

    @classmethod
    def of(cls, published: pa.Table, original: Table, names: Sequence[str], schema: Schema) -> Matched:
        """Number the distinct combinations of the unchanged columns over both tables."""
        rows = published.num_rows
        codes, domains = [np.zeros(rows + original.rows, np.int32)], [1]
        for name in names:
            if name not in original.data.column_names:
                raise ColumnError(
                    "the release holds a column that the original does not have",
                    remedy="Give the table that the release was made from.",
                    file=original.source,
                    column=name,
                )
            separators = {name: schema.separators.get(name, ";")}
            both = Cells.of(published.column(name)), Cells.of(original.data.column(name))
            texts = alike(*both, name, separators)
            known = pa.concat_arrays(texts).dictionary_encode()
            numbers = np.asarray(known.indices)
            place = np.split(numbers, [len(texts[0])])
            codes.append(np.concatenate([there[cells.of_row] for there, cells in zip(place, both, strict=True)]))
            domains.append(len(known.dictionary))
        numbers, parts = combined(codes, domains)
        return cls(numbers[:rows], numbers[rows:], len(parts))

    def surplus(self) -> tuple[int, int]:
        """How many published rows have no original, and how many original rows are not published."""
        more = np.bincount(self.published, minlength=self.classes) - np.bincount(self.original, minlength=self.classes)
        return int(more[more > 0].sum()), int(-more[more < 0].sum())


@dataclass(frozen=True, eq=False)
class Cells:
    """A column as its distinct cells, so that each is looked at once, and which of them each row has."""

    distinct: pa.Array
    """Some may be there twice, or in no row; null is among them if a row has it."""
    of_row: Codes

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Cells:
        """Take a column of any type apart; lists are left as they are."""
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
        """The distinct cells as texts; null stays null."""
        return cell_texts(pa.chunked_array([self.distinct]), name, separators)


def alike(one: Cells, other: Cells, name: str, separators: Mapping[str, str]) -> list[pa.Array]:
    """Distinct cells of two columns as texts that are equal where the cells are: CSV has no types, frames have."""
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


def _binary(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)


def _bytes(cell: Any) -> bytes:
    """Bytes as they are, texts in UTF-8; nothing for null, as in CSV."""
    return cell if isinstance(cell, bytes) else b"" if cell is None else str(cell).encode()


def _items(cell: Any) -> str:
    return repr(sorted(map(repr, cell)) if isinstance(cell, list) else cell)


def _plain(texts: pa.Array) -> pa.Array:
    """Numbers as they are written in full, so that 17.0 is 17."""
    numbers = [(text, parse_decimal(text)) for text in texts.to_pylist()]
    cells = [text if number is None else written(Fraction(number)) for text, number in numbers]
    return pa.array(cells, pa.string())


@dataclass(frozen=True)
class Covered:
    """How the covering came out: rows that no partner covers, and how sharply one could look."""

    uncovered: int
    one_to_one: int
    """Published rows whose original row is certain, because what is unchanged in them occurs once."""
    by_column: int
    """Published rows of classes so large that each quasi-identifier was looked at alone."""
    first: str | None


def covered(
    published: pa.Table, original: Table, matched: Matched, recodings: Mapping[str, str], *, everyone: bool
) -> Covered:
    """Check that every published row covers an original row of its class; and, if nobody was dropped, the reverse.

    Rows are shuffled, so a published row may stand for any original row that agrees with it in what is unchanged.
    """
    covers, cells, codes = [], [], []
    for name, recoding in recodings.items():
        column = original.column(name)
        shown = Cells.of(published.column(name))
        texts = shown.texts(name).dictionary_encode(null_encoding="encode")
        covers.append(Reader(texts.dictionary.to_pylist(), column, recoding))
        cells.append(np.asarray(texts.indices).astype(np.int64)[shown.of_row])
        codes.append(column.codes.astype(np.int64))
    left, left_rows = _distinct(matched.published, cells)
    right, right_rows = _distinct(matched.original, codes)
    left_at = np.searchsorted(left[0], np.arange(matched.classes + 1))
    right_at = np.searchsorted(right[0], np.arange(matched.classes + 1))
    pairs = np.diff(left_at) * np.diff(right_at)
    fine_left, fine_right = np.zeros(len(left[0]), bool), np.zeros(len(right[0]), bool)
    by_size = np.argsort(pairs, kind="stable")
    within = np.zeros(matched.classes, bool)
    within[by_size] = (np.cumsum(pairs[by_size]) <= _BUDGET) & (pairs[by_size] <= 4 * _AT_ONCE)
    sharp = np.flatnonzero((pairs > 0) & within)
    for some in np.split(sharp, np.flatnonzero(np.diff(np.cumsum(pairs[sharp]) // _AT_ONCE)) + 1):
        i, j = _pairs(left_at, right_at, some)
        for position, cover in enumerate(covers, start=1):
            found = cover.holds(left[position][i], right[position][j])
            i, j = i[found], j[found]
        fine_left[i] = True
        fine_right[j] = True
    blunt = np.flatnonzero((pairs > 0) & ~within)
    for number in blunt:
        here = slice(left_at[number], left_at[number + 1])
        there = slice(right_at[number], right_at[number + 1])
        fine_left[here], fine_right[there] = True, True
        for position, cover in enumerate(covers, start=1):
            published_cells, values = left[position][here], right[position][there]
            whose, what = cover.either(np.flatnonzero(np.bincount(published_cells)), np.flatnonzero(np.bincount(values)))
            fine_left[here] &= whose[published_cells]
            fine_right[there] &= what[values]
    uncovered = int(left_rows[~fine_left].sum()) + (int(right_rows[~fine_right].sum()) if everyone else 0)
    sizes = np.bincount(matched.published, minlength=matched.classes)
    once = (sizes == 1) & (np.bincount(matched.original, minlength=matched.classes) == 1)
    first = None
    if not fine_left.all():
        worst = int(np.argmin(fine_left))
        row = int(np.argmax((matched.published == left[0][worst]) & _same(cells, left, worst)))
        first = ", ".join(f"{name} = {published.column(name)[row].as_py()}" for name in recodings)
    return Covered(uncovered, int(once.sum()), int(sizes[blunt].sum()), first)


def _distinct(classes: Codes, columns: Sequence[Codes]) -> tuple[list[Codes], Codes]:
    """The distinct rows, class first, in order; and how often each occurs."""
    every = [classes, *columns]
    parts, counts = combination_counts([c.astype(np.int32) for c in every], [int(c.max()) + 1 for c in every])
    return [np.ascontiguousarray(part) for part in parts.T], counts


def _pairs(left_at: Codes, right_at: Codes, classes: Codes) -> tuple[Codes, Codes]:
    """All pairs of a left and a right entry of the same class."""
    lefts, rights = np.diff(left_at)[classes], np.diff(right_at)[classes]
    sizes = lefts * rights
    total = int(sizes.sum())
    within = np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    width = np.repeat(rights, sizes)
    return np.repeat(left_at[classes], sizes) + within // width, np.repeat(right_at[classes], sizes) + within % width


def _same(cells: Sequence[Codes], left: Sequence[Codes], entry: int) -> NDArray[np.bool_]:
    same = np.ones(len(cells[0]), bool)
    for column, parts in zip(cells, left[1:], strict=True):
        same &= column == parts[entry]
    return same
