"""Columns without a declared role: refused or left out; and columns that identify nearly every row by themselves."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from fractions import Fraction

import pyarrow as pa
from pyarrow import compute

from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.exact.numbers import parse_decimal

_ROWS = 20
"""In a table with fewer rows, a name cannot be distinguished from a measurement."""

_SHARE = Fraction(95, 100)
"""A column with at least this many distinct values per row could identify each row by itself."""


_LISTED = 12
"""How many columns a note lists by name."""


def refuse_undeclared(table: Table, apart: AbstractSet[str | None] = frozenset()) -> None:
    """Raise if columns have no role and the schema refuses such columns. `apart`: columns that need none.

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


def identifying_columns(table: Table) -> dict[str, int]:
    """Return the columns of texts or whole numbers that differ in nearly every row, with their numbers of distinct values.

    >>> from sfumato.data.schema import Schema
    >>> identifying_columns(Table(pa.table({"id": range(20), "age": [1] * 20}), Schema(["age"])))
    {'id': 20}
    """
    if table.rows < _ROWS:
        return {}
    counts = {name: _distinct(table.data.column(name), table.untyped) for name in table.data.column_names}
    return {name: distinct for name, distinct in counts.items() if distinct >= _SHARE * table.rows}


def _distinct(column: pa.ChunkedArray, untyped: bool) -> int:
    """Return the number of distinct values of a column of texts, bytes or whole numbers; 0 for any other type."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    types = pa.types
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    if not (text or binary or types.is_integer(kind)):
        return 0
    values = compute.unique(column.cast(kind)).drop_null()
    if untyped and text and _are_measurements(values):
        return 0
    return len(values)


def _are_measurements(values: pa.Array) -> bool:
    """Return whether the texts of a file without types are numbers, some of them with decimals."""
    whole = True
    for text in values.to_pylist():
        number = parse_decimal(text)
        if number is None and text != "":
            return False
        whole = whole and (number is None or number == number.to_integral_value())
    return not whole
