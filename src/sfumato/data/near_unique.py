"""Columns whose values are near-unique, and prefixes for those of them that are codes of one shape."""

from __future__ import annotations

import numpy as np

from sfumato.data.column import Column
from sfumato.data.hierarchy_builders.prefix import Prefix
from sfumato.data.units import Units

_VALUES = 20
"""A column with fewer distinct values is not called near-unique, however few rows there are."""

ROWS_PER_VALUE = 4
"""A column is near-unique if its values have fewer rows than this on average, or if half of them have one row."""


def is_few_each(values: int, rows: int) -> bool:
    """Return whether so many values have very few rows each, on average.

    >>> is_few_each(30, 60), is_few_each(5, 10)
    (True, False)
    """
    return values >= _VALUES and values * ROWS_PER_VALUE > rows


def is_near_unique(column: Column, units: Units | None = None) -> bool:
    """Return whether most values of a column belong to very few rows each; if people have several rows, to very few people.

    Dates of birth, names, telephone numbers and full codes are near-unique. A set of such values lists who is in the table.
    `units`: whose row each row is.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> people = pa.table({"name": [f"n{i // 2}" for i in range(60)], "town": [f"t{i % 12}" for i in range(60)]})
    >>> table = Table(people, Schema(["name", "town"]))
    >>> is_near_unique(table.column("name")), is_near_unique(table.column("town"))
    (True, False)
    """
    if column.size < _VALUES:
        return False
    counts = column.counts[: column.size]
    if units is not None:  # a value that a person has in many rows is still that of one person
        known = column.codes < column.size
        pairs = np.unique(units.of_row[known].astype(np.int64) * column.domain + column.codes[known])
        counts = np.bincount(pairs % column.domain, minlength=column.size)
    # one frequent value, such as "unknown", must not hide that most others belong to one row each
    single = int((counts == 1).sum())
    return is_few_each(column.size, int(counts.sum())) or (single >= _VALUES and 2 * single >= column.size)


def automatic_prefix(column: Column, units: Units | None = None) -> Prefix | None:
    """Return the prefixes of all lengths for a near-unique column of codes of one shape, such as 02139; None for others.

    The shape is where letters, digits and other marks are. A code has at least three letters or digits, and a digit.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> table = Table(pa.table({"zip": [f"0{i:03}" for i in range(40)], "name": ["Ann" * i for i in range(40)]}), Schema())
    >>> automatic_prefix(table.column("zip")), automatic_prefix(table.column("name"))
    (Prefix(lengths=(3, 2, 1)), None)
    """
    if not column.texts or not is_near_unique(column, units):
        return None
    shapes = {tuple(map(_mark, text)) for text in column.texts}
    if len(shapes) != 1:
        return None
    (shape,) = shapes
    characters = sum(mark in "a9" for mark in shape)
    return Prefix(tuple(range(characters - 1, 0, -1))) if characters >= 3 and "9" in shape else None


def _mark(character: str) -> str:
    if character.isdigit():
        return "9"
    return "a" if character.isalpha() else character
