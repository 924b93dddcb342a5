"""Connections to PostgreSQL and SQLite through ADBC, and their errors in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import pyarrow as pa

from sfumato.errors import DatabaseError
from sfumato.io.database_uri import checked, file_of, scheme, shown, without_secrets
from sfumato.io.optional_packages import needed

POSTGRESQL = ("postgresql", "postgres")
SQLITE = ("sqlite",)

_TABLES = {
    "sqlite": "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'",
    "postgresql": """
        select case when pg_table_is_visible(c.oid) then relname else nspname || '.' || relname end
        from pg_class c join pg_namespace n on n.oid = relnamespace
        where relkind in ('r', 'v', 'm', 'p', 'f') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
        order by 1""",
}
"""For each kind of database the query that lists its tables."""

_PREFIX = re.compile(r"^(?:[A-Z_]+: )?(?:\[\w+\] )?(?:.*?ERROR: +|.*?FATAL: +)?", re.DOTALL)
"""What drivers put before what they have to say."""

_TIMEOUT = 30
"""Seconds to wait for a server that does not answer, unless the URI says otherwise."""


def is_adbc(uri: str) -> bool:
    """Whether a database is read through ADBC."""
    return scheme(uri) in (*POSTGRESQL, *SQLITE)


def is_sqlite(uri: str) -> bool:
    """Whether a database is SQLite, through ADBC."""
    return scheme(uri) in SQLITE


@contextmanager
def connected(uri: str, *, writing: bool = False) -> Iterator[Any]:
    """A connection in a transaction that is rolled back at the end unless it was committed; one to read cannot write."""
    connection = _connection(checked(uri), writing)
    with closing(connection):
        try:
            yield connection
        finally:
            with suppress(Exception):  # the database may have gone away, and then there is nothing to roll back
                connection.rollback()


def _connection(uri: str, writing: bool) -> Any:
    what = "SQLite" if is_sqlite(uri) else "PostgreSQL"
    module = needed(f"adbc_driver_{what.lower()}.dbapi", "databases", f"{what} databases", shown(uri))
    with told(uri, "the database cannot be reached", "Check where it is, its name and the user, and that it is up."):
        if not is_sqlite(uri):
            connection = module.connect(uri if "connect_timeout=" in uri else _with_timeout(uri))
            begin = None if writing else "set transaction read only"
        else:
            connection = module.connect(str(_file(uri, writing)))
            begin = None if writing else "pragma query_only = 1"
        if begin is not None:
            with connection.cursor() as cursor:
                cursor.execute(begin)
        return connection


def _with_timeout(uri: str) -> str:
    return f"{uri}{'&' if '?' in uri else '?'}connect_timeout={_TIMEOUT}"


def _file(uri: str, writing: bool) -> Any:
    """The file of a SQLite database; one that is not there would be made, and so is refused unless it is to be written."""
    path = file_of(uri)
    if path is None:
        raise DatabaseError(
            "the URI names no file", remedy="Write sqlite:///relative.db or sqlite:////absolute.db.", file=shown(uri)
        )
    there = path.parent if writing and not path.exists() else path
    if not there.exists():
        raise DatabaseError(
            f"there is no {'folder' if writing else 'file'} {there}",
            remedy="Name a database that is there; a path after three slashes is relative, after four absolute.",
            file=shown(uri),
        )
    return path.absolute()


@contextmanager
def told(uri: str, problem: str, remedy: str) -> Iterator[None]:
    """Raise what a driver raises as an error that says where, what, and what to do."""
    try:
        yield
    except Exception as error:
        if not _of_driver(error):
            raise
        # not chained: a driver may put parts of the URI into its message
        said = said_by(error, uri)
        raise DatabaseError(f"{problem}: {said}" if said else problem, remedy=remedy, file=shown(uri)) from None


def _of_driver(error: Exception) -> bool:
    from adbc_driver_manager import Error

    return isinstance(error, Error | pa.ArrowException | OSError)


def said_by(error: Exception, uri: str) -> str:
    """What a driver says, in one line and without secrets."""
    lines = _PREFIX.sub("", str(error).strip(), count=1).splitlines()
    return without_secrets(lines[0].strip().rstrip(".") if lines else "", uri)


def tables_of(uri: str) -> list[str]:
    """The names of the tables and views of a database, as a config may write them."""
    query = _TABLES["sqlite" if is_sqlite(uri) else "postgresql"]
    with connected(uri) as connection, connection.cursor() as cursor, told(uri, "the tables cannot be listed", "Name one."):
        cursor.execute(query)
        return [str(name) for (name,) in cursor.fetchall()]
