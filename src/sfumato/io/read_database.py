"""Read a query or a table of a database as Arrow, in batches: PostgreSQL and SQLite with ADBC, others with SQLAlchemy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from sfumato.errors import ColumnError, DatabaseError, ParameterError
from sfumato.io.connection import connect, driver_errors, is_adbc, is_sqlite, tables_of
from sfumato.io.database_columns import read_batches
from sfumato.io.database_names import TableName, only_table, quoted, unknown_table
from sfumato.io.database_uri import checked, scheme, shown
from sfumato.io.read_only_query import checked_query
from sfumato.io.read_spark import SCHEME, read_spark

_BATCH = 1 << 16
"""The number of rows that SQLite sends at a time; the driver infers types from the first batch."""

_EVERYTHING = 2**30
"""A batch size that is larger than any table."""

_NO_TABLE = ("42P01", "3F000")
"""The SQLSTATE codes of PostgreSQL for an unknown table and an unknown schema."""

_WHOLE = 2**53
"""Every whole number up to this is exactly a float."""


def read_database(uri: str, query: str | None = None, table: str | None = None) -> tuple[pa.Table, str]:
    """Read the result of a query, or a whole table (the only one, if neither is given). Also return its name for messages.

    The query must be one statement that reads, and runs in a read-only transaction.
    """
    uri = checked(uri)
    if query is not None and table is not None:
        raise ParameterError(
            "both a query and a table are given", remedy="Give one of them.", file=shown(uri), key="query", value=query
        )
    if query is not None and not query.strip():
        raise ParameterError("the query is empty", remedy="Write a SELECT.", file=shown(uri), key="query", value=query)
    if scheme(uri) == SCHEME:
        return read_spark(uri, query, table)
    if not is_adbc(uri):
        from sfumato.io.read_sqlalchemy import read_other

        return read_other(uri, query, table)
    name = None if query is not None else TableName.parse(table or only_table(tables_of(uri), uri))
    source = f"{shown(uri)}, {'query' if name is None else f'table {name}'}"
    sql = f"select * from {name.sql}" if name is not None else checked_query(str(query), uri)
    with connect(uri) as connection:
        if name is not None:
            _refuse_unknown(uri, connection, name)
        return read_query(uri, connection, sql, source), source


def _refuse_unknown(uri: str, connection: Any, name: TableName) -> None:
    """Raise an error that lists the existing tables if there is no such table."""
    from adbc_driver_manager import Error

    with (
        connection.cursor() as cursor,
        driver_errors(uri, f"the table {name} cannot be read", "Fix that, or name another table."),
    ):
        try:
            cursor.execute(f"select * from {name.sql} where 1 = 0")
        except Error as error:
            if getattr(error, "sqlstate", None) in _NO_TABLE or "no such table" in str(error):
                raise unknown_table(name, tables_of(uri), uri) from None
            raise


def read_query(uri: str, connection: Any, sql: str, source: str) -> pa.Table:
    """Return the result of a query through ADBC, read batch by batch."""
    if not is_sqlite(uri):
        return _run(uri, connection, sql, source)
    # if later rows do not fit the types of the first batch, read all rows as one batch, so that the types fit all
    try:
        data = _run(uri, connection, sql, source, _BATCH)
    except DatabaseError as error:
        if "Type mismatch" not in error.problem:
            raise
        data = _run(uri, connection, sql, source, _EVERYTHING)
    _refuse_mixed(uri, connection, sql, data, source)
    return data


def _run(uri: str, connection: Any, sql: str, source: str, batch: int | None = None) -> pa.Table:
    with connection.cursor() as cursor:
        with driver_errors(uri, "the query fails", "Fix the query."):
            if batch is not None:
                cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(batch)})
            cursor.execute(sql)
            reader = cursor.fetch_record_batch()
        if not len(reader.schema):
            raise DatabaseError("the query returns no columns", remedy="Write a SELECT.", file=shown(uri))
        return read_batches(_batches(uri, reader), reader.schema, source)


def _batches(uri: str, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    with driver_errors(uri, "reading failed", "Fix the problem, check that the database is running, and try again."):
        yield from reader


def _refuse_mixed(uri: str, connection: Any, sql: str, data: pa.Table, source: str) -> None:
    """Raise an error for a column of several types whose cells lost digits in the conversion to one type."""
    lost = {name: condition for name in data.column_names if (condition := _lost(data.schema.field(name)))}
    if not lost:
        return
    with connection.cursor() as cursor, driver_errors(uri, "the query fails", "Fix the query."):
        cursor.execute(f"select {', '.join(f'max({condition})' for condition in lost.values())} from ({sql})")
        flags = cursor.fetchone()
    for name, is_lost in zip(lost, flags, strict=True):
        if is_lost:
            raise ColumnError(
                "the column mixes types, and would lose digits if it were read as one type",
                remedy="Cast it in the query, or read it cell by cell: write sqlite+pysqlite:/// in the URI.",
                file=source,
                column=name,
            )


def _lost(field: pa.Field) -> str | None:
    """Return the SQL condition for a cell that loses digits in a column of this type; None if none can."""
    cell = quoted(field.name)
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_string(kind):
        return f"typeof({cell}) = 'real'"
    if pa.types.is_binary(kind):
        return f"typeof({cell}) not in ('blob', 'null')"
    if pa.types.is_floating(kind):
        return f"typeof({cell}) = 'integer' and ({cell} > {_WHOLE} or {cell} < -{_WHOLE})"
    return None
