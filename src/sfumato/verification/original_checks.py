"""Match the rows of a release with those of its original, by what is published unchanged.

Rows are shuffled. Rows that agree in everything that is published unchanged are one class, and a published row may stand for
any original row of its class.
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

from sfumato.data.groups import joint_ranks
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.exact import written
from sfumato.exact.numbers import parse_decimal
from sfumato.io.write_files import cell_texts
from sfumato.releases.models import MARKED_SINCE
from sfumato.storage import stored

Codes = NDArray[np.int64]


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
        rows = published.num_rows
        refuse_unknown(names, original)

        def codes(name: str) -> tuple[NDArray[np.int32], int]:
            both = Cells.of(published.column(name)), Cells.of(original.data.column(name))
            *by_table, domain = common_codes(*both, name, schema, version)
            of_row = [part[cells.of_row] for part, cells in zip(by_table, both, strict=True)]
            return np.concatenate(of_row), domain

        # one column after another: all of them may not fit into memory
        everyone = np.zeros(rows + original.rows, np.int32), 1
        numbers = stored(joint_ranks(chain([everyone], map(codes, names))))
        return cls(numbers[:rows], numbers[rows:], int(numbers.max()) + 1)

    def surplus(self) -> tuple[int, int]:
        """Return how many published rows have no original, and how many original rows are not published."""
        more = np.bincount(self.published, minlength=self.classes) - np.bincount(self.original, minlength=self.classes)
        return int(np.maximum(more, 0).sum()), int(np.maximum(-more, 0).sum())


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

    def numbered(self, name: str) -> tuple[list[str | None], NDArray[np.int32]]:
        """Return the distinct texts in their order, null first, and for each distinct cell the number of its text."""
        encoded = self.texts(name).dictionary_encode(null_encoding="encode")
        # null is sorted last
        order = np.roll(np.asarray(compute.sort_indices(encoded.dictionary)), encoded.dictionary.null_count)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order))
        return encoded.dictionary.take(pa.array(order)).to_pylist(), rank[np.asarray(encoded.indices)]


def refuse_unknown(names: Sequence[str], original: Table) -> None:
    """Raise an error if a column of a release is not one of its original."""
    known = set(original.data.column_names)
    for name in names:
        if name not in known:
            raise ColumnError(
                "the release has a column that the original does not have",
                remedy="Pass the table that the release was made from.",
                file=original.source,
                column=name,
            )


def common_codes(
    published: Cells, original: Cells, name: str, schema: Schema, version: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Return a code for each distinct cell of an unchanged column in both tables, equal where cells are; and their number.

    `schema`: of the original. `version`: of the format.
    """
    texts = comparable_texts(published, original, name, {name: schema.separators.get(name, ";")})
    if version >= MARKED_SINCE:
        sensitive = name in schema.sensitive_columns()
        meanings = schema.missing.texts(Kind(schema.kinds[name]) if sensitive else None)
        absent = _without_value(published.distinct, name, ()), _without_value(original.distinct, name, meanings)
        texts = [compute.if_else(mask, None, part) for mask, part in zip(absent, texts, strict=True)]
    encoded = pa.concat_arrays(texts).dictionary_encode(null_encoding="encode")
    one, other = np.split(np.asarray(encoded.indices).astype(np.int32), [len(texts[0])])
    return one, other, len(encoded.dictionary)


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
