"""Write a table into a database: into a staging table, read back and compared, and renamed, all in one transaction."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import combined
from sfumato.errors import DatabaseError
from sfumato.io.connection import connected, is_adbc, is_sqlite, told
from sfumato.io.database_names import TableName, quoted
from sfumato.io.database_types import storable
from sfumato.io.database_uri import checked, file_of, scheme, shown
from sfumato.io.read_database import read_query

_KIND = {
    "sqlite": "select type from sqlite_master where name = ? collate nocase",
    "postgresql": "select relkind::text from pg_class where oid = to_regclass($1::text)",
}
"""What sort of thing has a name: a table is `table` in SQLite and `r` in PostgreSQL."""

_COLUMNS = {
    "sqlite": "select name, type from pragma_table_info(?)",
    "postgresql": """
        select attname::text, atttypid::regtype::text from pg_attribute
        where attrelid = to_regclass($1::text) and attnum > 0 and not attisdropped order by attnum""",
}
"""The columns of a table, and the type of each."""

_BATCH = 1 << 16
"""Rows that are sent at a time."""

_LONGEST_NAME = 63
"""Bytes of a name; PostgreSQL cuts what is longer without a word."""

_PATIENCE = "30s"
"""How long a table may be in use by others before it is given up to replace it."""

_REMEDY = "The database is as it was. Mend what is named, or see that the database stays up, and try again."


@dataclass
class Pending:
    """A table that is filled and checked in a transaction that waits; it is there for others once it is committed."""

    connection: Any
    uri: str
    committed: bool = False

    def commit(self) -> None:
        """Let the table take its place."""
        with told(self.uri, "the table could not be put in place", "See whether it is there, and else write it again."):
            self.connection.commit()
        self.committed = True


def refuse_taken(uri: str, table: str, force: bool = False) -> None:
    """Raise if a table cannot be written here: the name is taken, or the database is not there. Changes nothing."""
    name, made = _target(uri, table)
    if made:
        return  # a file that is not there yet holds nothing
    with connected(uri) as connection, connection.cursor() as cursor:
        _taken(uri, cursor, name, force)


@contextmanager
def filled(
    uri: str, table: str, data: pa.Table, *, force: bool = False, separators: Mapping[str, str] | None = None
) -> Iterator[Pending]:
    """Write a table, check what was written, and wait: `commit` of what is yielded puts it in place.

    Without that, or if anything fails, the database is left as it was. A table that is there already is replaced only with
    `force`, and only if it has the same columns, the first of whole numbers: a release of before. `separators`: what stands
    between the items of a set where the database has no lists.
    """
    name, made = _target(uri, table)
    stored, types = storable(data, is_sqlite(uri), separators or {})
    staging = TableName(f"sfumato_{secrets.token_hex(8)}", name.schema)
    pending = None
    try:
        with connected(uri, writing=True) as connection, connection.cursor() as cursor:
            with told(uri, f"the table {name} cannot be written", _REMEDY):
                taken = _taken(uri, cursor, name, force)
                columns = ", ".join(f"{quoted(c)} {sql}" for c, sql in zip(stored.column_names, types, strict=True))
                cursor.execute(f"create table {staging.sql} ({columns})")
                batches = stored.to_reader(max_chunksize=_BATCH)
                cursor.adbc_ingest(staging.name, batches, mode="append", db_schema_name=staging.schema)
                _compare(uri, connection, staging, stored)
                if taken:
                    _drop(uri, cursor, name, stored.column_names)
                cursor.execute(f"alter table {staging.sql} rename to {quoted(name.name)}")
            pending = Pending(connection, uri)
            yield pending
    finally:
        if made is not None and (pending is None or not pending.committed):
            made.unlink(missing_ok=True)


def _target(uri: str, table: str) -> tuple[TableName, Path | None]:
    """The name of the table, and the file that would be made for it, if the database is a file that is not there yet."""
    uri, name = checked(uri), TableName.parse(table)
    path = file_of(uri)
    problem = None
    if not is_adbc(uri):
        problem = f"tables are not written to databases of the kind {scheme(uri)!r}"
        remedy = "Write to postgresql:// or sqlite:///, or load the data file of the folder there."
    elif is_sqlite(uri) and name.schema is not None:
        problem, remedy = (
            f"SQLite has no schemas, and the table is called {name}",
            "Name it without a dot, or in double quotes.",
        )
    elif not is_sqlite(uri) and len(name.name.encode()) > _LONGEST_NAME:
        problem, remedy = f"the name {name} has more than {_LONGEST_NAME} bytes", "Name a shorter one."
    elif path is not None and not path.parent.is_dir():
        problem, remedy = f"there is no folder {path.parent}", "Make it, or name a database elsewhere."
    if problem is not None:
        raise DatabaseError(problem, remedy=remedy, file=shown(uri), value=table)
    return name, path if path is not None and not path.exists() else None


def _looked_up(uri: str, cursor: Any, queries: Mapping[str, str], name: TableName) -> list[Any]:
    kind, called = ("sqlite", name.name) if is_sqlite(uri) else ("postgresql", name.sql)
    with told(uri, f"the table {name} cannot be looked up", "Name another table."):
        cursor.execute(queries[kind], (called,))
        return list(cursor.fetchall())


def _taken(uri: str, cursor: Any, name: TableName, force: bool) -> bool:
    """Whether the name is taken, by a table that may be replaced; anything else is refused."""
    found = _looked_up(uri, cursor, _KIND, name)
    if not found:
        return False
    if not force:
        problem, remedy = "there is a table of this name already", "Name another, or force the release in it to be replaced."
    elif found[0][0] not in ("table", "r"):
        problem, remedy = "what has this name is no plain table, and is not replaced", "Name another table, or drop it."
    else:
        return True
    raise DatabaseError(problem, remedy=remedy, file=f"{shown(uri)}, table {name}", value=str(name))


def _drop(uri: str, cursor: Any, name: TableName, names: list[str]) -> None:
    """Drop a table that is a release of before, and no other."""
    if not is_sqlite(uri):  # nobody changes it between the look and the drop
        cursor.execute(f"set local lock_timeout = '{_PATIENCE}'")
        cursor.execute(f"lock table {name.sql} in access exclusive mode")
    found = _looked_up(uri, cursor, _COLUMNS, name)
    there = [column for column, _ in found]
    if there != names or found[0][1].lower() not in ("bigint", "integer"):
        raise DatabaseError(
            f"the table that is there has the columns {', '.join(map(repr, there))}, and a release of before would have "
            f"{', '.join(map(repr, names))}; so it is not replaced",
            remedy="Name another table, or drop it.",
            file=f"{shown(uri)}, table {name}",
            value=there,
        )
    cursor.execute(f"drop table {name.sql}")


def _compare(uri: str, connection: Any, staging: TableName, stored: pa.Table) -> None:
    """Raise if the database does not hold what was written, row for row in any order."""
    back = read_query(uri, connection, f"select * from {staging.sql}", shown(uri))
    if back.num_rows != stored.num_rows or back.column_names != stored.column_names or not _same_rows(back, stored):
        raise DatabaseError(
            "the database does not give back what was written, so nothing is published there",
            remedy="Convert the columns to text, or leave output.database out.",
            file=shown(uri),
        )


def _same_rows(one: pa.Table, other: pa.Table) -> bool:
    """Whether two tables of as many rows hold the same rows, each as often."""
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
    """One number for each cell of columns of one type, null included, and how many numbers there are."""
    known = pa.concat_arrays([column.dictionary for column in columns]).dictionary_encode()
    places = np.split(np.asarray(known.indices), [len(columns[0].dictionary)])
    codes = [
        np.append(place, np.int32(len(known.dictionary)))[np.asarray(column.indices.fill_null(len(column.dictionary)))]
        for place, column in zip(places, columns, strict=True)
    ]
    return np.concatenate(codes), len(known.dictionary) + 1


def _distinct(column: pa.ChunkedArray, kind: pa.DataType) -> pa.DictionaryArray:
    """A column as codes over its distinct cells, those in the type that was written."""
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
