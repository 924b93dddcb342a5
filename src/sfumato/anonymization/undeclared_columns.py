"""Refuse to publish a column that nobody decided on and that tells every row by itself."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
from pyarrow import compute

from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.exact.numbers import parse_decimal

_ROWS = 20
"""Tables with fewer rows are too small to tell a name from a measurement."""
_SHARE = Fraction(95, 100)
"""A column with so many distinct values per row could tell each row by itself."""


def check_unnamed(table: Table) -> None:
    """Raise if a column without a role is text or whole numbers and differs in nearly every row.

    Numbers with decimals are measurements, and are published as they are, as is every column that the schema calls other.

    >>> from sfumato.data.schema import Schema
    >>> check_unnamed(Table(pa.table({"age": [1] * 20, "x": [i / 8 for i in range(20)]}), Schema(["age"])))
    """
    schema = table.schema
    decided = {*schema.identifiers, *schema.quasi_identifiers, *schema.sensitive_columns(), *schema.other}
    for name, distinct in telling_columns(table).items():
        if name not in decided:
            raise ColumnError(
                f"the column has no role and differs in nearly every row ({distinct:,} values in {table.rows:,} rows): "
                "published as it is, it would tell each row by itself",
                remedy='Give it a role: "identifier" to drop it, "other" (Schema(other=[…])) to publish it on purpose.',
                file=table.source,
                column=name,
            )


def telling_columns(table: Table) -> dict[str, int]:
    """The columns of text or whole numbers that differ in nearly every row, with how many values they have.

    >>> from sfumato.data.schema import Schema
    >>> telling_columns(Table(pa.table({"id": range(20), "age": [1] * 20}), Schema(["age"])))
    {'id': 20}
    """
    if table.rows < _ROWS:
        return {}
    counts = {name: _distinct(table.data.column(name), table.untyped) for name in table.data.column_names}
    return {name: distinct for name, distinct in counts.items() if distinct >= _SHARE * table.rows}


def _distinct(column: pa.ChunkedArray, untyped: bool) -> int:
    """How many distinct values a column of texts, bytes or whole numbers has; 0 for one of any other type."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    types = pa.types
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    if not (text or binary or types.is_integer(kind)):
        return 0
    values = compute.unique(column.cast(kind)).drop_null()
    if untyped and text and _measured(values):
        return 0
    return len(values)


def _measured(values: pa.Array) -> bool:
    """Whether the texts of a file without types are numbers, some of them with decimals."""
    whole = True
    for text in values.to_pylist():
        number = parse_decimal(text)
        if number is None and text != "":
            return False
        whole = whole and (number is None or number == number.to_integral_value())
    return not whole
