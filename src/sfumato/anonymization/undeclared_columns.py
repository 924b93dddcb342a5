"""Columns without a declared role: refused or left out."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from sfumato.data.table import Table
from sfumato.errors import ColumnError

_LISTED = 12
"""How many columns a note lists by name."""


def refuse_undeclared(table: Table, apart: AbstractSet[str | None] = frozenset()) -> None:
    """Raise if columns have no role and the schema refuses such columns. `apart`: columns that need none.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> try:
    ...     refuse_undeclared(Table(pa.table({"age": [1], "x": [2]}), Schema(["age"], undeclared="refuse")))
    ... except ColumnError as error:
    ...     error.column, error.problem
    ('x', 'the column has no role')
    """
    schema = table.schema
    names = [name for name in schema.columns_without_role(table.data.column_names) if name not in apart]
    if schema.undeclared != "refuse" or not names:
        return
    several = len(names) > 1
    raise ColumnError(
        f"{len(names)} columns have no role: {', '.join(map(repr, names))}" if several else "the column has no role",
        remedy=f'Give {"each" if several else "it"} a role: "identifier" leaves it out, "other" publishes it unchanged, and '
        'there are "quasi-identifier" and "sensitive". Or write undeclared = "drop".',
        file=table.source,
        column=names[0],
        value=names,
    )


def undeclared_note(table: Table, apart: AbstractSet[str | None] = frozenset()) -> str | None:
    """Return the note that names the columns that are left out because they have no role; None if there are none.

    `apart`: columns without a role that are published, or that are left out for another reason.
    """
    schema = table.schema
    names = schema.columns_without_role(table.data.column_names) if schema.undeclared == "drop" else []
    names = [name for name in names if name not in apart]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"not published, because they have no role: {', '.join(map(repr, names[:_LISTED]))}{more}" if names else None
