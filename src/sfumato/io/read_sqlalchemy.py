"""Read other databases through SQLAlchemy, row by row, and never write to them. Each distinct cell is stored once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DatabaseError, FileError
from sfumato.io.database_names import TableName, only_table, unknown_table
from sfumato.io.database_uri import file_of, scheme, shown, without_secrets
from sfumato.io.optional_packages import import_extra
from sfumato.io.read_only_query import checked_query
from sfumato.io.typed_cells import ColumnBuilder

_BATCH = 1 << 14
"""The number of rows that are fetched at a time."""

_READ_ONLY = {
    "postgresql": "set transaction read only",
    "mysql": "set session transaction read only",
    "mariadb": "set session transaction read only",
    "oracle": "set transaction read only",
    "sqlite": "pragma query_only = 1",
    "duckdb": "select 1",  # it is opened read-only
}
"""For each dialect the statement after which a connection can only read."""


def read_other(uri: str, query: str | None, table: str | None) -> tuple[pa.Table, str]:
    """Read the result of a query, or a whole table, from any database that SQLAlchemy supports."""
    alchemy = import_extra("sqlalchemy", "sqlalchemy", f"databases of the kind {scheme(uri)!r}", shown(uri))
    engine = _engine(alchemy, uri)
    try:
        if query is None:
            known = alchemy.inspect(engine).get_table_names()
            name = TableName.parse(table or only_table(known, uri))
            if name.schema is None and name.name not in [*known, *alchemy.inspect(engine).get_view_names()]:
                raise unknown_table(name, known, uri)
            quote = engine.dialect.identifier_preparer.quote_identifier
            sql = f"select * from {'.'.join(quote(part) for part in (name.schema, name.name) if part is not None)}"
        else:
            name, sql = None, checked_query(query, uri, enforced=engine.dialect.name in _READ_ONLY)
        source = f"{shown(uri)}, {'query' if name is None else f'table {name}'}"
        return _read(engine, sql, uri), source
    except alchemy.exc.SQLAlchemyError as error:
        message = (str(getattr(error, "orig", None) or error).splitlines() or [""])[0]
        raise DatabaseError(
            f"the database reports an error: {without_secrets(message, uri)}",
            remedy="Fix the query or the URI, and check that the database is running.",
            file=shown(uri),
        ) from None
    finally:
        engine.dispose()


def _engine(alchemy: Any, uri: str) -> Any:
    path = file_of(uri)
    if path is not None and not Path(path).exists():
        raise DatabaseError(f"there is no file {path}", remedy="Name an existing database.", file=shown(uri))
    try:
        read_only = {"connect_args": {"read_only": True}} if scheme(uri).startswith("duckdb") and path is not None else {}
        return alchemy.create_engine(uri, **read_only)
    except alchemy.exc.NoSuchModuleError:
        raise FileError(
            f"databases of the kind {scheme(uri)!r} are not supported here",
            remedy="Install the package that adds it to SQLAlchemy, or fix the URI.",
            file=shown(uri),
        ) from None
    except ImportError as error:
        raise FileError(
            f"databases of the kind {scheme(uri)!r} need the package {error.name!r}",
            remedy=f"Install it with: pip install {error.name}",
            file=shown(uri),
        ) from None
    except (alchemy.exc.SQLAlchemyError, ValueError):
        raise DatabaseError("the URI cannot be parsed", remedy="Fix it.", file=shown(uri)) from None


def _refuse_writing(connection: Any) -> None:
    """Let a connection only read, as far as its database offers that."""
    statement = _READ_ONLY.get(connection.dialect.name)
    if statement is not None:
        connection.exec_driver_sql(statement)


def _read(engine: Any, sql: str, uri: str) -> pa.Table:
    options = {"stream_results": True, "yield_per": _BATCH, "no_parameters": True}
    with engine.connect() as connection:  # rolled back at the end
        _refuse_writing(connection)
        result = connection.execution_options(**options).exec_driver_sql(sql)
        if not result.returns_rows:
            raise DatabaseError("the query returns no columns", remedy="Write a SELECT.", file=shown(uri))
        names = list(result.keys())
        columns = [ColumnBuilder() for _ in names]
        for batch in result.partitions(_BATCH):
            for column, cells in zip(columns, zip(*batch, strict=True), strict=True):
                column.extend(cells)
    return pa.table([column.finish() for column in columns], names=names)
