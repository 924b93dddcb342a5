"""Write a table as CSV or Parquet: the same table, the same bytes."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from pyarrow import compute

from sfumato.errors import ColumnError
from sfumato.io.empty_cells import mark_empty
from sfumato.io.plain_types import as_plain
from sfumato.io.spreadsheet_formulas import escape

_BATCH = 1 << 16
"""The most rows that are joined to lines at a time."""

_BATCH_BYTES = 1 << 30
"""The most bytes that are joined to lines at a time: an Arrow array holds at most two gigabytes of text."""

_QUOTED = '[",\\r\\n]|^[\\s\\x{FEFF}]|\\s$'
"""Matches a cell that must be quoted."""


def write_csv(
    data: pa.Table, file: BinaryIO, separators: Mapping[str, str] | None = None, unchanged: Container[str] = ()
) -> None:
    r"""Write CSV in UTF-8: a comma between cells, quotes only where needed, an empty cell for null.

    A column of lists is written as text with its separator between the items; it must be named in `separators`. Cells that
    a spreadsheet would run as a formula are escaped, see `spreadsheet_formulas`. `unchanged`: the columns whose empty texts
    are written as `""`, because an empty cell is missing; see `empty_cells`.

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
        cells = mark_empty(texts.dictionary) if name in unchanged else texts.dictionary.fill_null("")
        columns.append((_quoted(cells), texts.indices))
    if columns:
        cells, indices = columns[-1]
        columns[-1] = compute.binary_join_element_wise(cells, "", "\n"), indices
    widest = sum(1 + (compute.max(compute.binary_length(cells)).as_py() or 0) for cells, _ in columns)
    batch = max(min(_BATCH, _BATCH_BYTES // max(widest, 1)), 1)
    for start in range(0, data.num_rows, batch):
        lines = compute.binary_join_element_wise(*(c.take(i.slice(start, batch)) for c, i in columns), ",")
        _, ends, content = lines.buffers()
        file.write(memoryview(content)[: int(np.frombuffer(ends, np.int32)[len(lines)])])


def _refuse_nul(texts: pa.DictionaryArray, name: str) -> None:
    """Raise an error for the character NUL, which most readers of CSV take for the end of the text."""
    has_nul = compute.match_substring(texts.dictionary, "\0").fill_null(False)
    if not compute.any(has_nul).as_py():
        return
    used = texts.indices.filter(has_nul.take(texts.indices))  # a dictionary may contain values that no row has
    if len(used):
        cell = texts.dictionary[used[0].as_py()].as_py()
        raise ColumnError(
            f"the cell {cell!r} contains the character NUL, which is not allowed in CSV",
            remedy='Remove it from the data, or write format = "parquet".',
            column=name,
            value=cell,
        )


def write_parquet(data: pa.Table, file: BinaryIO) -> None:
    """Write Parquet. Dictionaries are decoded at every depth, so that the file contains no value that no row has."""
    from pyarrow import parquet

    columns = [as_plain(data.column(name)) for name in data.column_names]
    plain = pa.Table.from_arrays(columns, data.column_names)
    try:
        parquet.write_table(plain, file)
    except pa.ArrowException as error:
        raise ColumnError(
            f"the table cannot be written as Parquet: {str(error).splitlines()[0]}",
            remedy="Convert its columns to text, numbers or lists.",
        ) from error


def cell_texts(column: pa.ChunkedArray, name: str, separators: Mapping[str, str] | None = None) -> pa.Array:
    """Return the cells of a column as text, as in a CSV; null stays null, and not-a-number becomes null."""
    column = as_plain(column)
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


def _joined(column: pa.ChunkedArray, name: str, separator: str | None) -> pa.Array:
    """Return lists as texts; an item that contains the separator is an error."""
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
                    f"the item {item!r} cannot be written to CSV with the separator {separator!r}",
                    remedy="Declare another separator, or write Parquet.",
                    column=name,
                    value=item,
                )
        return separator.join(items)

    return pa.array(map(text, column.to_pylist()), pa.string())


def _distinct_texts(column: pa.ChunkedArray, name: str, separators: Mapping[str, str] | None) -> pa.DictionaryArray:
    """Return the cells of a column as dictionary-encoded texts; null is one of the values."""
    if pa.types.is_integer(column.type):  # each distinct number becomes a text once
        column = column.dictionary_encode()
    if not pa.types.is_dictionary(column.type):
        return cell_texts(column, name, separators).dictionary_encode(null_encoding="encode")
    encoded = column.unify_dictionaries().combine_chunks()
    texts = cell_texts(pa.chunked_array([encoded.dictionary]), name, separators)
    indices = encoded.indices.fill_null(len(texts))
    return pa.DictionaryArray.from_arrays(indices, pa.concat_arrays([texts, pa.nulls(1, pa.string())]))


def _quoted(cells: pa.Array) -> pa.Array:
    """Return cells as they are written to the file."""
    cells = escape(cells)
    wrapped = compute.binary_join_element_wise("", compute.replace_substring(cells, '"', '""'), "", '"')
    return compute.if_else(compute.match_substring_regex(cells, _QUOTED), wrapped, cells)
