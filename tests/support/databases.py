"""What the tests of databases share: tables that are filled, and looked at, past the code under test."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa


def run(uri, *statements):
    """Run SQL on PostgreSQL, and return the rows of the last statement."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def fill(uri, name, data: pa.Table):
    """Make a table of a database from Arrow."""
    if uri.startswith("sqlite"):
        with closing(sqlite3.connect(sqlite_path(uri))) as connection, connection:
            columns = ", ".join('"' + column.replace('"', '""') + '"' for column in data.column_names)
            connection.execute(f"create table {name} ({columns})")
            rows = zip(*(data.column(column).to_pylist() for column in data.column_names), strict=True)
            connection.executemany(f"insert into {name} values ({', '.join('?' * data.num_columns)})", rows)
        return
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(name, data, mode="create")
        connection.commit()


def tables(uri):
    """The names of all tables."""
    if uri.startswith("sqlite"):
        if not Path(sqlite_path(uri)).exists():
            return []
        with closing(sqlite3.connect(sqlite_path(uri))) as connection:
            return sorted(name for (name,) in connection.execute("select name from sqlite_master"))
    return sorted(name for (name,) in run(uri, "select tablename from pg_tables where schemaname = 'public'"))


def sqlite_path(uri):
    return uri.partition(":///")[2]
