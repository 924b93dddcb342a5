"""Read a query or a table of a database as Arrow, in batches: PostgreSQL and SQLite through ADBC, others by SQLAlchemy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from sfumato.errors import ColumnError, DatabaseError, ParameterError
from sfumato.io.connection import connected, is_adbc, is_sqlite, tables_of, told
from sfumato.io.database_columns import arrived
from sfumato.io.database_names import TableName, only_table, quoted, unknown_table
from sfumato.io.database_uri import checked, shown

_BATCH = 1 << 16
"""Rows of SQLite that come at a time; its types are told from the first batch."""

_EVERYTHING = 2**30
"""More rows than there are."""

_NO_TABLE = ("42P01", "3F000")
"""What PostgreSQL answers if there is no such table, or no such schema."""

_WHOLE = 2**53
"""Up to here every whole number is a float."""


def read_database(uri: str, query: str | None = None, table: str | None = None) -> tuple[pa.Table, str]:
    """Read what a query gives, or a whole table (the only one, if neither is said), and how it is called in messages.

    Nothing is changed in the database: the query runs in a transaction that cannot write.
    """
    uri = checked(uri)
    if query is not None and table is not None:
        raise ParameterError(
            "there is a query and a table", remedy="Give one of them.", file=shown(uri), key="query", value=query
        )
    if query is not None and not query.strip():
        raise ParameterError("the query is empty", remedy="Write a SELECT.", file=shown(uri), key="query", value=query)
    if not is_adbc(uri):
        from sfumato.io.read_sqlalchemy import read_other

        return read_other(uri, query, table)
    name = None if query is not None else TableName.parse(table or only_table(tables_of(uri), uri))
    source = f"{shown(uri)}, {'query' if name is None else f'table {name}'}"
    sql = f"select * from {name.sql}" if name is not None else str(query)
    with connected(uri) as connection:
        if name is not None:
            _refuse_unknown(uri, connection, name)
        return read_query(uri, connection, sql.strip().rstrip(";"), source), source


def _refuse_unknown(uri: str, connection: Any, name: TableName) -> None:
    """Raise if there is no such table; a driver would only say so, and not which there are."""
    from adbc_driver_manager import Error

    with connection.cursor() as cursor, told(uri, f"the table {name} cannot be read", "Mend that, or name another table."):
        try:
            cursor.execute(f"select * from {name.sql} where 1 = 0")
        except Error as error:
            if getattr(error, "sqlstate", None) in _NO_TABLE or "no such table" in str(error):
                raise unknown_table(name, tables_of(uri), uri) from None
            raise


def read_query(uri: str, connection: Any, sql: str, source: str) -> pa.Table:
    """What a query gives through ADBC, batch by batch."""
    if not is_sqlite(uri):
        return _run(uri, connection, sql, source)
    # where later rows do not fit the types of the first ones, all come in one batch that has the types of all
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
        with told(uri, "the query is refused", "Mend the query."):
            if batch is not None:
                cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(batch)})
            cursor.execute(sql)
            reader = cursor.fetch_record_batch()
        if not len(reader.schema):
            raise DatabaseError("the query gives no columns", remedy="Write a SELECT.", file=shown(uri))
        return arrived(_batches(uri, reader), reader.schema, source)


def _batches(uri: str, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    with told(uri, "reading broke off", "Mend what is named, or see that the database stays up, and try again."):
        yield from reader


def _refuse_mixed(uri: str, connection: Any, sql: str, data: pa.Table, source: str) -> None:
    """Raise for a column of several types whose cells lost digits when they were brought to one."""
    lost = {name: condition for name in data.column_names if (condition := _lost(data.schema.field(name)))}
    if not lost:
        return
    with connection.cursor() as cursor, told(uri, "the query is refused", "Mend the query."):
        cursor.execute(f"select {', '.join(f'max({condition})' for condition in lost.values())} from ({sql})")
        found = cursor.fetchone()
    for name, is_lost in zip(lost, found, strict=True):
        if is_lost:
            raise ColumnError(
                "it mixes types, and would lose digits if it were read as one",
                remedy="Cast it in the query, or read it cell by cell: write sqlite+pysqlite:/// in the URI.",
                file=source,
                column=name,
            )


def _lost(field: pa.Field) -> str | None:
    """What is true in SQLite of a cell that arrives in a column of this type and is another."""
    cell = quoted(field.name)
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_string(kind):
        return f"typeof({cell}) = 'real'"
    if pa.types.is_binary(kind):
        return f"typeof({cell}) not in ('blob', 'null')"
    if pa.types.is_floating(kind):
        return f"typeof({cell}) = 'integer' and ({cell} > {_WHOLE} or {cell} < -{_WHOLE})"
    return None
