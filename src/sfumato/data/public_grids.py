"""Public grids: hierarchies of intervals whose ends depend on no row, in place of intervals that end at values of rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sfumato.data.column import Column
from sfumato.data.hierarchy import HierarchyBuilder, Intervals
from sfumato.data.hierarchy_builders.dates import Dates
from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.exact import as_fraction, written

_FINEST = 20
"""A column has about this many of the narrowest intervals."""

_FEWEST = 5
"""The narrowest interval contains at least this many values that could occur."""

_PERIODS = ("month", "quarter", "year", "decade")


def with_public_grids(table: Table) -> Table:
    """Return the table with a public grid for each quasi-identifier that would be published as intervals of its values.

    A hierarchy that is declared is used in place of a grid.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> schema = with_public_grids(Table(pa.table({"age": [17, 44, 90]}), Schema(["age"]))).schema
    >>> schema.hierarchies["age"], schema.recodings["age"]
    (Intervals(widths=('5', '20', '100'), origin='15'), 'ancestor')
    """
    schema = table.schema
    hierarchies, recodings = dict(schema.hierarchies), dict(schema.recodings)
    for name in schema.quasi_identifiers:
        column = table.column(name)
        if column.kind not in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL) or recodings.get(name) in ("set", "ancestor"):
            continue
        if recodings.get(name) == "interval" or (column.kind is Kind.ORDINAL and column.hierarchy is None):
            raise ColumnError(
                'resist = ["ends"] publishes no interval that ends at values of rows, and this column would have some',
                remedy='Declare a hierarchy for it, and no recoding = "interval"; or remove "ends" from resist.',
                column=name,
                file=table.source,
            )
        if column.hierarchy is None:
            hierarchies[name] = public_grid(column)
        recodings[name] = "ancestor"
    return table.with_schema(replace(schema, hierarchies=hierarchies, recodings=recodings))


def public_grid(column: Column) -> HierarchyBuilder:
    """Return nested intervals for a column of numbers, and periods of the calendar for one of dates.

    The narrowest width is 1, 2 or 5 times a power of ten, the next four times that, then five, four, five times, up to one
    interval that contains all numbers. The smallest and the largest number determine them, roughly.
    """
    if column.kind is Kind.DATE:
        return Dates(_PERIODS)
    assert column.numbers is not None
    low, high = (column.numbers[0], column.numbers[column.size - 1]) if column.size else (Fraction(0), Fraction(0))
    width = _round_width(max((high - low) / _FINEST, column.numbers.unit * _FEWEST))
    origin = low // width * width
    widths = [width]
    while origin + widths[-1] <= high:
        widths.append(widths[-1] * (4 if len(widths) % 2 else 5))
    return Intervals(tuple(map(written, widths)), written(origin))


def _round_width(least: Fraction) -> Fraction:
    """Return the smallest of 1, 2 and 5 times a power of ten that is at least a positive number.

    >>> _round_width(Fraction(73, 16)), _round_width(Fraction(3, 100))
    (Fraction(5, 1), Fraction(1, 20))
    """
    power = Fraction(1)
    while power >= least:
        power /= 10
    while power * 10 < least:
        power *= 10
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)


def fewest_parts(builder: Any, column: Column) -> int:
    """Return how many parts each node of a public grid has at least, whatever occurs; 0 for any other hierarchy.

    Whoever sees a node with three possible parts or more knows of none that somebody is in it.
    """
    if isinstance(builder, Dates):
        return 3  # months of a quarter; all other periods have more
    if not isinstance(builder, Intervals) or column.numbers is None:
        return 0
    widths = [column.numbers.unit, *map(as_fraction, builder.widths)]
    return min(int(wide / narrow) for narrow, wide in pairwise(widths))
