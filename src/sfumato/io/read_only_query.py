"""Check that a query is one statement that only reads, before a database sees it.

Connections are read-only where the database offers that, but not all do, and some statements write files even then (ATTACH
of SQLite, COPY of PostgreSQL and DuckDB, INTO OUTFILE of MySQL).
"""

from __future__ import annotations

import re

from sfumato.errors import DatabaseError
from sfumato.io.database_uri import shown

_READING = ("select", "with", "values", "table")
"""The words that a query may begin with."""

_WRITING = frozenset(
    (
        "into", "insert", "update", "delete", "merge", "replace", "upsert", "create", "alter", "drop", "truncate",
        "rename", "grant", "revoke", "attach", "detach", "pragma", "vacuum", "copy", "load", "install", "call", "exec",
        "execute", "commit", "rollback", "begin", "savepoint", "release", "set", "use", "lock", "unlock", "backup",
        "restore",
    )
)  # fmt: skip
"""Words that a query for a database without read-only transactions may contain only in quotes."""

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*(?!!).*?\*/)"""  # MySQL executes comments that begin with /*!
    r"""|(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"""
    r"""|(?P<word>\w+)|(?P<mark>\S)""",
    re.DOTALL,
)


def checked_query(query: str, uri: str, enforced: bool = True) -> str:
    """Return a query without the semicolon at its end; raise an error if it is not one statement that only reads.

    `enforced`: the database refuses to write anyway. If it does not, words such as DELETE are errors anywhere in the query.

    >>> checked_query("select age from people; -- all", "sqlite:///people.db")
    'select age from people'
    >>> checked_query("drop table people", "sqlite:///people.db")
    Traceback (most recent call last):
    ...
    sfumato.errors.DatabaseError: sqlite:///people.db, query: the query begins with 'drop', and only queries that read are \
run. Write one SELECT.
    """
    first, end, written = None, None, None
    for token in _TOKEN.finditer(query):
        if token["comment"] is not None:
            continue
        text = token[0].lower()
        if end is not None:
            raise _refused("the query contains more than one statement", uri)
        if text == ";":
            end = token.start()
        elif first is None and text != "(":
            first = text
        if token["word"] is not None and (text == "into" or (text in _WRITING and not enforced)):
            written = written or text
    if first not in _READING:
        what = "is empty" if first is None else f"begins with {first!r}, and only queries that read are run"
        raise _refused(f"the query {what}", uri)
    if written is not None:
        remedy = "Write one SELECT; put names of columns such as this one in quotes."
        raise _refused(f"the query contains the word {written!r}, and only queries that read are run", uri, remedy)
    return query[:end].strip()


def _refused(problem: str, uri: str, remedy: str = "Write one SELECT.") -> DatabaseError:
    return DatabaseError(problem, remedy=remedy, file=shown(uri), key="query")
