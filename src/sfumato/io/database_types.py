"""A table in the types of a database: each column in its own type, or as text if the database has none for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
from pyarrow import compute
from pyarrow import types as kinds

from sfumato.errors import ColumnError
from sfumato.io.write_files import cell_texts

_LONGEST_NAME = 63
"""The most bytes of a name; PostgreSQL truncates longer names silently."""


def storable(data: pa.Table, sqlite: bool, separators: Mapping[str, str]) -> tuple[pa.Table, list[str]]:
    """Return the table in types that the database stores without loss, and the SQL type of each column.

    >>> storable(pa.table({"group": [1], "age": ["[20, 30]"]}), False, {})[1]
    ['bigint', 'text']
    """
    columns, types = [], []
    for name in data.column_names:
        if not name or "\0" in name or (not sqlite and len(name.encode()) > _LONGEST_NAME):
            raise ColumnError(
                "the name is not possible for a column of a database",
                remedy="Rename it, with at most 63 bytes.",
                column=name,
            )
        column, sql = (_sqlite if sqlite else _postgresql)(_plain(data.column(name)), name, separators)
        columns.append(column)
        types.append(sql)
    return pa.table(columns, names=data.column_names), types


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without views, without dictionaries except of texts, and with null for not-a-number."""
    if kinds.is_dictionary(column.type) and not kinds.is_string(column.type.value_type):
        column = column.cast(column.type.value_type)
    if kinds.is_string_view(column.type) or kinds.is_large_string(column.type):
        column = column.cast(pa.string())
    if kinds.is_floating(column.type):
        column = compute.if_else(compute.is_nan(column), None, column)
    return column


_Stored = tuple[pa.ChunkedArray, str]

_POSTGRESQL: tuple[tuple[Callable[[pa.DataType], bool], pa.DataType | None, str], ...] = (
    (lambda kind: kinds.is_string(kind) or kinds.is_dictionary(kind), None, "text"),
    (kinds.is_int64, None, "bigint"),
    (kinds.is_uint64, pa.decimal128(20), "numeric(20)"),
    (kinds.is_uint32, pa.int64(), "bigint"),
    (lambda kind: kinds.is_int32(kind) or kinds.is_uint16(kind), pa.int32(), "integer"),
    (kinds.is_integer, pa.int16(), "smallint"),
    (kinds.is_float64, None, "double precision"),
    (kinds.is_floating, pa.float32(), "real"),
    (kinds.is_boolean, None, "boolean"),
    (kinds.is_date, pa.date32(), "date"),
    (lambda kind: kinds.is_timestamp(kind) and kind.tz is None, pa.timestamp("us"), "timestamp"),
    (kinds.is_timestamp, pa.timestamp("us", "UTC"), "timestamptz"),
    (kinds.is_time, pa.time64("us"), "time"),
    (lambda kind: kinds.is_binary(kind) or kinds.is_large_binary(kind), pa.binary(), "bytea"),
)
"""Test for an Arrow type, the type to cast to (None: no cast), and its name in PostgreSQL; the first match applies."""

_ITEMS = ("text", "bigint", "integer", "smallint", "double precision", "real", "boolean", "date")
"""The item types of arrays that are written as such."""


def _postgresql(column: pa.ChunkedArray, name: str, separators: Mapping[str, str]) -> _Stored:
    kind = column.type
    if kinds.is_decimal(kind) and kind.scale >= 0:
        return column, f"numeric({kind.precision}, {kind.scale})"
    if kinds.is_list(kind) or kinds.is_large_list(kind):
        item = next(((to, sql) for test, to, sql in _POSTGRESQL if test(kind.value_type)), None)
        if item is not None and item[1] in _ITEMS:
            return column.cast(pa.list_(item[0] or kind.value_type)), f"{item[1]}[]"
    for test, to, sql in _POSTGRESQL:
        if test(kind):
            try:
                return column if to is None else column.cast(to), sql
            except pa.ArrowInvalid:  # the cast would lose nanoseconds
                break
    return _texts(column, name, separators)


def _sqlite(column: pa.ChunkedArray, name: str, separators: Mapping[str, str]) -> _Stored:
    """Convert for SQLite, which has whole numbers, floats, text and bytes; a decimal stays exact as text."""
    kind = column.type
    if kinds.is_boolean(kind) or (kinds.is_integer(kind) and not kinds.is_uint64(kind)):
        return column.cast(pa.int64()), "integer"
    if kinds.is_floating(kind):
        return column.cast(pa.float64()), "real"
    if kinds.is_binary(kind) or kinds.is_large_binary(kind):
        return column.cast(pa.binary()), "blob"
    if kinds.is_dictionary(kind):
        return column, "text"
    return _texts(column, name, separators)


def _texts(column: pa.ChunkedArray, name: str, separators: Mapping[str, str]) -> _Stored:
    return pa.chunked_array([cell_texts(column, name, separators)]), "text"
