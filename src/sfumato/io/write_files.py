"""Write a table as CSV or Parquet: the same table, the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from pyarrow import compute

from sfumato.errors import ColumnError
from sfumato.io.spreadsheet_formulas import escape

_BATCH = 1 << 16
"""Rows that are put into lines at a time."""

_QUOTED = '[",\\r\\n]|^[\\s\\x{FEFF}]|\\s$'
"""A cell that must stand in quotes to be read as it was written."""


def write_csv(data: pa.Table, file: BinaryIO, separators: Mapping[str, str] | None = None) -> None:
    r"""Write CSV in UTF-8: a comma between cells, quotes only where needed, an empty cell for null.

    A column of lists is written as text with its separator between the items; it must be named in `separators`. Cells that
    a spreadsheet would run as a formula are escaped, see `formulas`.

    >>> import io
    >>> file = io.BytesIO()
    >>> write_csv(pa.table({"age": ["[20, 30]", None], "income": [1.5, 2]}), file)
    >>> file.getvalue()
    b'age,income\n"[20, 30]",1.5\n,2\n'
    """
    for name in data.column_names:
        if not name:
            raise ColumnError(
                "a column without a name cannot be written to CSV", remedy="Name it, or write Parquet.", column=name
            )
    header = _quoted(pa.array(data.column_names, pa.string()))
    file.write((",".join(header.to_pylist()) + "\n").encode())
    columns = []
    for name in data.column_names:
        texts = _distinct_texts(data.column(name), name, separators)
        _refuse_nul(texts, name)
        columns.append((_quoted(texts.dictionary.fill_null("")), texts.indices))
    if columns:
        cells, indices = columns[-1]
        columns[-1] = compute.binary_join_element_wise(cells, "", "\n"), indices
    for start in range(0, data.num_rows, _BATCH):
        lines = compute.binary_join_element_wise(*(c.take(i.slice(start, _BATCH)) for c, i in columns), ",")
        _, ends, content = lines.buffers()
        file.write(memoryview(content)[: int(np.frombuffer(ends, np.int32)[len(lines)])])


def _refuse_nul(texts: pa.DictionaryArray, name: str) -> None:
    """Raise for a character that most readers of CSV take for the end of a text, or for a sign that it is none."""
    held = compute.match_substring(texts.dictionary, "\0").fill_null(False)
    if not compute.any(held).as_py():
        return
    used = texts.indices.filter(held.take(texts.indices))  # a dictionary may hold what no row has
    if len(used):
        cell = texts.dictionary[used[0].as_py()].as_py()
        raise ColumnError(
            f"the cell {cell!r} holds the character NUL, which a CSV cannot hold",
            remedy='Take it out of the data, or write format = "parquet".',
            column=name,
            value=cell,
        )


def write_parquet(data: pa.Table, file: BinaryIO) -> None:
    """Write Parquet; dictionaries as their values, so that no value is in the file that no row has."""
    from pyarrow import parquet

    columns = [_decoded(data.column(name)) for name in data.column_names]
    plain = pa.Table.from_arrays(columns, data.column_names)
    try:
        parquet.write_table(plain, file)
    except pa.ArrowException as error:
        raise ColumnError(
            f"the table cannot be written as Parquet: {str(error).splitlines()[0]}",
            remedy="Convert its columns to text, numbers or lists.",
        ) from error


def cell_texts(column: pa.ChunkedArray, name: str, separators: Mapping[str, str] | None = None) -> pa.Array:
    """The cells of a column as text, as CSV holds them; null stays null, and not-a-number is null."""
    column = _decoded(column)
    if pa.types.is_nested(column.type):
        return _joined(column, name, (separators or {}).get(name))
    if pa.types.is_floating(column.type):
        column = compute.if_else(compute.is_nan(column), None, column)
    try:
        texts = column.cast(pa.string())
    except pa.ArrowException as error:
        raise ColumnError(
            f"columns of the type {column.type} cannot be written as text",
            remedy="Convert it to text, or write Parquet.",
            column=name,
        ) from error
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _joined(column: pa.ChunkedArray, name: str, separator: str | None) -> pa.Array:
    """Lists as texts, if the items can be told apart again."""
    if separator is None or not hasattr(column.type, "value_type"):
        raise ColumnError(
            f"columns of the type {column.type} cannot be written to CSV", remedy="Write Parquet.", column=name
        )

    def text(cell: list[Any] | None) -> str | None:
        if cell is None:
            return None
        items = sorted({str(item) for item in cell if item is not None} - {""})
        for item in items:
            if separator in item or item != item.strip():
                raise ColumnError(
                    f"the item {item!r} cannot stand in CSV with {separator!r} between items",
                    remedy="Declare another separator, or write Parquet.",
                    column=name,
                    value=item,
                )
        return separator.join(items)

    return pa.array(map(text, column.to_pylist()), pa.string())


def _distinct_texts(column: pa.ChunkedArray, name: str, separators: Mapping[str, str] | None) -> pa.DictionaryArray:
    """The cells of a column as texts, so that each distinct one is looked at once; null is one of them."""
    if not pa.types.is_dictionary(column.type):
        return cell_texts(column, name, separators).dictionary_encode(null_encoding="encode")
    encoded = column.unify_dictionaries().combine_chunks()
    texts = cell_texts(pa.chunked_array([encoded.dictionary]), name, separators)
    indices = encoded.indices.fill_null(len(texts))
    return pa.DictionaryArray.from_arrays(indices, pa.concat_arrays([texts, pa.nulls(1, pa.string())]))


def _quoted(cells: pa.Array) -> pa.Array:
    """Cells as they stand in the file."""
    cells = escape(cells)
    wrapped = compute.binary_join_element_wise("", compute.replace_substring(cells, '"', '""'), "", '"')
    return compute.if_else(compute.match_substring_regex(cells, _QUOTED), wrapped, cells)
