"""Connections to PostgreSQL and SQLite through ADBC, with the errors of drivers as errors of this package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import pyarrow as pa

from sfumato.errors import DatabaseError
from sfumato.io.database_uri import checked, file_of, scheme, shown, without_secrets
from sfumato.io.optional_packages import import_extra

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
"""The prefix that drivers put before their message."""

_TIMEOUT = 30
"""Seconds to wait for a server that does not respond, unless the URI contains a timeout."""


def is_adbc(uri: str) -> bool:
    """Return whether a database is read through ADBC."""
    return scheme(uri) in (*POSTGRESQL, *SQLITE)


def is_sqlite(uri: str) -> bool:
    """Return whether a database is SQLite, read through ADBC."""
    return scheme(uri) in SQLITE


@contextmanager
def connect(uri: str, *, writing: bool = False) -> Iterator[Any]:
    """Open a connection in a transaction, which is rolled back at the end unless committed; read-only unless `writing`."""
    connection = _connection(checked(uri), writing)
    with closing(connection):
        try:
            yield connection
        finally:
            with suppress(Exception):  # the database may be disconnected; then there is nothing to roll back
                connection.rollback()


def _connection(uri: str, writing: bool) -> Any:
    what = "SQLite" if is_sqlite(uri) else "PostgreSQL"
    module = import_extra(f"adbc_driver_{what.lower()}.dbapi", "databases", f"{what} databases", shown(uri))
    with driver_errors(uri, "the database cannot be reached", "Check its address, its name, the user, and that it runs."):
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
    """Return the file of a SQLite database. The driver would create a missing one, so that is an error unless `writing`."""
    path = file_of(uri)
    if path is None:
        raise DatabaseError(
            "the URI contains no file", remedy="Write sqlite:///relative.db or sqlite:////absolute.db.", file=shown(uri)
        )
    required = path.parent if writing and not path.exists() else path
    if not required.exists():
        raise DatabaseError(
            f"there is no {'folder' if writing else 'file'} {required}",
            remedy="Name an existing database; a path after three slashes is relative, after four absolute.",
            file=shown(uri),
        )
    return path.absolute()


@contextmanager
def driver_errors(uri: str, problem: str, remedy: str) -> Iterator[None]:
    """Convert errors of a driver to DatabaseError, with the database, the problem and a remedy."""
    try:
        yield
    except Exception as error:
        if not _is_driver_error(error):
            raise
        # not chained: a driver may put parts of the URI into its message
        message = driver_message(error, uri)
        raise DatabaseError(f"{problem}: {message}" if message else problem, remedy=remedy, file=shown(uri)) from None


def _is_driver_error(error: Exception) -> bool:
    from adbc_driver_manager import Error

    return isinstance(error, Error | pa.ArrowException | OSError)


def driver_message(error: Exception, uri: str) -> str:
    """Return the message of a driver, in one line and without secrets."""
    lines = _PREFIX.sub("", str(error).strip(), count=1).splitlines()
    return without_secrets(lines[0].strip().rstrip(".") if lines else "", uri)


def tables_of(uri: str) -> list[str]:
    """Return the names of the tables and views of a database, as a config writes them."""
    query = _TABLES["sqlite" if is_sqlite(uri) else "postgresql"]
    listing = driver_errors(uri, "the tables cannot be listed", "Name one.")
    with connect(uri) as connection, connection.cursor() as cursor, listing:
        cursor.execute(query)
        return [str(name) for (name,) in cursor.fetchall()]
