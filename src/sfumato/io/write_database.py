"""Write a table to a database: to a staging table, which is read back, compared and renamed, in one transaction."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import combined
from sfumato.errors import DatabaseError
from sfumato.io.connection import connect, driver_errors, is_adbc, is_sqlite
from sfumato.io.database_names import TableName, quoted
from sfumato.io.database_types import storable
from sfumato.io.database_uri import checked, file_of, scheme, shown
from sfumato.io.read_database import read_query
from sfumato.io.read_spark import is_spark_uri
from sfumato.io.write_spark import check_spark_target
from sfumato.temporaries import keep, temporary

_KIND = {
    "sqlite": "select type from sqlite_master where name = ? collate nocase",
    "postgresql": "select relkind::text from pg_class where oid = to_regclass($1::text)",
}
"""The query for the type of the object that has a name: a table is `table` in SQLite and `r` in PostgreSQL."""

_COLUMNS = {
    "sqlite": "select name, type from pragma_table_info(?)",
    "postgresql": """
        select attname::text, atttypid::regtype::text from pg_attribute
        where attrelid = to_regclass($1::text) and attnum > 0 and not attisdropped order by attnum""",
}
"""The query for the columns of a table, and the type of each."""

_BATCH = 1 << 16
"""The number of rows that are sent at a time."""

_LONGEST_NAME = 63
"""The most bytes of a name; PostgreSQL truncates longer names silently."""

_PATIENCE = "30s"
"""How long to wait for a lock on a table that is replaced."""

_REMEDY = "The database is unchanged. Fix the problem, check that the database is running, and try again."


class PendingRows(Protocol):
    """Rows that are written and checked; others see them after `commit`."""

    def commit(self) -> None:
        """Make the rows visible to others."""


@dataclass
class PendingTable:
    """A table that is written and checked in an open transaction; others see it after `commit`."""

    connection: Any
    uri: str
    new_file: Path | None = None
    """The file of the database, if it did not exist before."""
    committed: bool = False

    def commit(self) -> None:
        """Make the table visible to others."""
        if self.new_file is not None:
            keep(self.new_file)
        with driver_errors(self.uri, "the table could not be committed", "Check whether it exists; if not, write it again."):
            self.connection.commit()
        self.committed = True


def check_target(uri: str, table: str, force: bool = False) -> None:
    """Raise an error if a table cannot be written: its name is used, or the database does not exist. Changes nothing."""
    if is_spark_uri(uri):
        check_spark_target(uri, table)
        return
    name, new_file = _target(uri, table)
    if new_file:
        return  # a file that does not exist yet contains no table
    with connect(uri) as connection, connection.cursor() as cursor:
        _is_used(uri, cursor, name, force)


@contextmanager
def pending_table(
    uri: str, table: str, data: pa.Table, *, force: bool = False, separators: Mapping[str, str] | None = None
) -> Iterator[PendingTable]:
    """Write a table and check it; `commit` of the result makes it visible.

    Without `commit`, or if anything fails, the database stays unchanged. An existing table is replaced only with `force`,
    and only if it has the same columns, the first of whole numbers, as an earlier release has. `separators`: the text
    between the items of a set, for databases without lists.
    """
    name, new_file = _target(uri, table)
    stored, types = storable(data, is_sqlite(uri), separators or {})
    staging = TableName(f"sfumato_{secrets.token_hex(8)}", name.schema)
    pending = None
    try:
        with _removed_if_stopped(new_file), connect(uri, writing=True) as connection, connection.cursor() as cursor:
            with driver_errors(uri, f"the table {name} cannot be written", _REMEDY):
                is_used = _is_used(uri, cursor, name, force)
                columns = ", ".join(f"{quoted(c)} {sql}" for c, sql in zip(stored.column_names, types, strict=True))
                cursor.execute(f"create table {staging.sql} ({columns})")
                batches = stored.to_reader(max_chunksize=_BATCH)
                cursor.adbc_ingest(staging.name, batches, mode="append", db_schema_name=staging.schema)
                _compare(uri, connection, staging, stored)
                if is_used:
                    _drop(uri, cursor, name, stored.column_names)
                cursor.execute(f"alter table {staging.sql} rename to {quoted(name.name)}")
            pending = PendingTable(connection, uri, new_file)
            yield pending
    finally:
        if new_file is not None and (pending is None or not pending.committed):
            new_file.unlink(missing_ok=True)


@contextmanager
def _removed_if_stopped(new_file: Path | None) -> Iterator[None]:
    """Have the file of a new SQLite database, and its journal, removed if the process is stopped before the commit."""
    with ExitStack() as stack:
        if new_file is not None:
            stack.enter_context(temporary(new_file))
            stack.enter_context(temporary(new_file.with_name(f"{new_file.name}-journal")))
        yield


def _target(uri: str, table: str) -> tuple[TableName, Path | None]:
    """Return the name of the table, and the file of a database that does not exist yet and would be created."""
    uri, name = checked(uri), TableName.parse(table)
    path = file_of(uri)
    problem = None
    if not is_adbc(uri):
        problem = f"writing to databases of the kind {scheme(uri)!r} is not supported"
        remedy = "Write to postgresql:// or sqlite:///, or load the data file of the release into it."
    elif is_sqlite(uri) and name.schema is not None:
        problem, remedy = (
            f"SQLite has no schemas, and the table is named {name}",
            "Name it without a dot, or in double quotes.",
        )
    elif not is_sqlite(uri) and len(name.name.encode()) > _LONGEST_NAME:
        problem, remedy = f"the name {name} has more than {_LONGEST_NAME} bytes", "Name a shorter one."
    elif path is not None and not path.parent.is_dir():
        problem, remedy = f"there is no folder {path.parent}", "Create it, or name a database elsewhere."
    if problem is not None:
        raise DatabaseError(problem, remedy=remedy, file=shown(uri), value=table)
    return name, path if path is not None and not path.exists() else None


def _look_up(uri: str, cursor: Any, queries: Mapping[str, str], name: TableName) -> list[Any]:
    kind, argument = ("sqlite", name.name) if is_sqlite(uri) else ("postgresql", name.sql)
    with driver_errors(uri, f"the table {name} cannot be looked up", "Name another table."):
        cursor.execute(queries[kind], (argument,))
        return list(cursor.fetchall())


def _is_used(uri: str, cursor: Any, name: TableName, force: bool) -> bool:
    """Return whether the name is used by a table that may be replaced; any other object is an error."""
    objects = _look_up(uri, cursor, _KIND, name)
    if not objects:
        return False
    if not force:
        problem, remedy = "a table of this name exists", "Name another, or use force to replace the release in it."
    elif objects[0][0] not in ("table", "r"):
        problem, remedy = (
            "the object of this name is not a plain table, and is not replaced",
            "Name another table, or drop it.",
        )
    else:
        return True
    raise DatabaseError(problem, remedy=remedy, file=f"{shown(uri)}, table {name}", value=str(name))


def _drop(uri: str, cursor: Any, name: TableName, names: list[str]) -> None:
    """Drop a table that contains an earlier release, and no other."""
    if not is_sqlite(uri):  # nobody can change it between the check and the drop
        cursor.execute(f"set local lock_timeout = '{_PATIENCE}'")
        cursor.execute(f"lock table {name.sql} in access exclusive mode")
    columns = _look_up(uri, cursor, _COLUMNS, name)
    existing = [column for column, _ in columns]
    if existing != names or columns[0][1].lower() not in ("bigint", "integer"):
        raise DatabaseError(
            f"the existing table has the columns {', '.join(map(repr, existing))}, and an earlier release would have "
            f"{', '.join(map(repr, names))}; so it is not replaced",
            remedy="Name another table, or drop it.",
            file=f"{shown(uri)}, table {name}",
            value=existing,
        )
    cursor.execute(f"drop table {name.sql}")


def _compare(uri: str, connection: Any, staging: TableName, stored: pa.Table) -> None:
    """Raise an error if the database does not return the rows that were written, in any order."""
    back = read_query(uri, connection, f"select * from {staging.sql}", shown(uri))
    if back.num_rows != stored.num_rows or back.column_names != stored.column_names or not _same_rows(back, stored):
        raise DatabaseError(
            "the database does not return what was written, so nothing is published there",
            remedy="Convert the columns to text, or remove output.database.",
            file=shown(uri),
        )


def _same_rows(one: pa.Table, other: pa.Table) -> bool:
    """Return whether two tables of the same length contain the same rows, each as often."""
    codes, domains = [], []
    for name in one.column_names:
        kind = other.schema.field(name).type
        found, domain = _codes([_distinct(table.column(name), kind) for table in (one, other)])
        codes.append(found)
        domains.append(domain)
    numbers, parts = combined(codes, domains)
    counts = [np.bincount(half, minlength=len(parts)) for half in (numbers[: one.num_rows], numbers[one.num_rows :])]
    return bool((counts[0] == counts[1]).all())


def _codes(columns: Sequence[pa.DictionaryArray]) -> tuple[NDArray[np.int32], int]:
    """Return a code for each cell of columns of one type, null included, and the number of codes."""
    known = pa.concat_arrays([column.dictionary for column in columns]).dictionary_encode()
    places = np.split(np.asarray(known.indices), [len(columns[0].dictionary)])
    codes = [
        np.append(place, np.int32(len(known.dictionary)))[np.asarray(column.indices.fill_null(len(column.dictionary)))]
        for place, column in zip(places, columns, strict=True)
    ]
    return np.concatenate(codes), len(known.dictionary) + 1


def _distinct(column: pa.ChunkedArray, kind: pa.DataType) -> pa.DictionaryArray:
    """Return a column as codes over its distinct cells, in the type that was written."""
    if not pa.types.is_dictionary(column.type):
        column = pa.chunked_array([_texts(column) if pa.types.is_list(column.type) else column.combine_chunks()])
        column = column.dictionary_encode()
    encoded = column.unify_dictionaries().combine_chunks()
    kind = kind.value_type if pa.types.is_dictionary(kind) else pa.string() if pa.types.is_list(kind) else kind
    cells = encoded.dictionary.cast(kind) if len(encoded.dictionary) else pa.nulls(0, kind)
    if pa.types.is_floating(kind):  # -0 is 0
        cells = pa.array(np.asarray(cells) + 0.0, kind)
    return pa.DictionaryArray.from_arrays(encoded.indices, cells)


def _texts(column: pa.ChunkedArray) -> pa.Array:
    return pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()], pa.string())
