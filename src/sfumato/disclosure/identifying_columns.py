"""Columns that identify nearly every record by themselves."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
from pyarrow import compute

from sfumato.data.table import Table
from sfumato.exact.numbers import parse_decimal

_ROWS = 20
"""In a table with fewer rows, a name cannot be distinguished from a measurement."""

_SHARE = Fraction(95, 100)
"""A column with at least this many distinct values per row could identify each row by itself."""


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
