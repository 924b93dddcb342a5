"""Counts of one column: kind, distinct values, missing cells, unique cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.errors import CellError, ColumnError
from sfumato.exact.numbers import Numbers

_SAMPLE = 4000
"""The number of cells of a column that are examined one by one, at regular intervals over the rows."""

_END = Fraction(10**300)
"""Numbers beyond this have no float, or differences that have none."""

_MOST_TEXTS = 100
"""Sets of a column with more texts than this are too long to read; such a column needs a hierarchy."""


@dataclass(frozen=True)
class Facts:
    """The counts of one column.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> facts = facts_of(Table(pa.table({"age": [30, 30, 41, None]}), Schema()), "age")
    >>> facts.distinct, facts.missing, facts.unique, facts.common, facts.whole
    (2, 1, 1, 2, True)
    """

    name: str
    rows: int
    kind: Kind | None
    """None if its cells cannot be read."""
    problem: str = ""
    """What to do about cells that cannot be read; it never contains cells."""
    distinct: int = 0
    """The number of distinct values, missing not included."""
    missing: int = 0
    """Rows without a value."""
    unique: int = 0
    """Rows whose value no other row has."""
    common: int = 0
    """Rows that have the most frequent value, which may be the missing one."""
    second: int = 0
    """Rows that have the second most frequent value."""
    entropy: float = 0.0
    """The entropy of the column, in bits."""
    whole: bool = False
    """Whether all its numbers are whole."""
    low: float = 0.0
    high: float = 0.0
    """The smallest and the largest number."""
    spread: float = 0.0
    """The width of the range of the middle nine tenths of the rows with a number."""
    length: float = 0.0
    """The mean number of words in a cell."""
    sample: tuple[str, ...] = field(default=(), repr=False)
    """Some cells, as text."""

    @property
    def uniqueness(self) -> float:
        """The share of rows whose value is unique."""
        return self.unique / self.rows

    @property
    def constant(self) -> bool:
        """Whether every row has the same value, or none."""
        return self.distinct + (self.missing > 0) <= 1

    @property
    def sequence(self) -> bool:
        """Whether the column numbers the rows without gaps."""
        return self.whole and self.distinct == self.rows > 1 and self.high - self.low == self.rows - 1

    @property
    def many_texts(self) -> bool:
        """Whether the column has so many different texts that a published set of them would be too long to read.

        Codes, such as postcodes, are short, and have prefixes.
        """
        codes = all(" " not in cell and any(letter.isdigit() for letter in cell) for cell in self.sample)
        return self.kind in (Kind.CATEGORICAL, Kind.TEXT) and self.distinct > _MOST_TEXTS and not codes

    @property
    def nearly_unique(self) -> bool:
        """Whether at least 95 % of the rows that have a value have a unique one."""
        present = self.rows - self.missing
        return present > self.rows / 2 and self.distinct >= 0.95 * present


def facts_of(table: Table, name: str) -> Facts:
    """Count one column of a table."""
    try:
        column = table.column(name)
    except (ColumnError, CellError) as error:
        where = "" if error.row is None else f" (row {error.row})"
        return Facts(name, table.rows, None, problem=f"{error.remedy.removesuffix('.')}{where}")
    counts = np.bincount(column.codes, minlength=column.domain)
    present = counts[: column.size]
    largest = np.sort(counts)[::-1][:2]
    shares = counts[counts > 0] / table.rows
    numbers = column.numbers
    if numbers is None or not len(numbers):
        low = high = spread = 0.0
    else:
        values = _floats(numbers)
        low, high = float(values[0]), float(values[-1])
        # a few extreme values must not determine the spread, so 5 % of the rows at each end do not count
        reached = np.cumsum(present) / max(int(present.sum()), 1)
        spread = float(values[np.searchsorted(reached, 0.95)] - values[np.searchsorted(reached, 0.05)])
    sample = _sample(column)
    return Facts(
        name=name,
        rows=table.rows,
        kind=column.kind,
        distinct=int((present > 0).sum()),
        missing=int(counts[column.size]) if column.has_missing else 0,
        unique=int((present == 1).sum()),
        common=int(largest[0]),
        second=int(largest[1]) if len(largest) > 1 else 0,
        entropy=float(-(shares * np.log2(shares)).sum()) + 0.0,
        whole=column.kind is Kind.NUMERIC and numbers is not None and _whole(numbers),
        low=low,
        high=high,
        spread=spread,
        length=sum(len(cell.split()) for cell in sample) / len(sample) if sample else 0.0,
        sample=sample,
    )


def _floats(numbers: Numbers) -> NDArray[np.float64]:
    """Return numbers as floats; those that have none are at the end of the range, as only magnitudes are compared."""
    if numbers.integers.dtype != object:
        return np.asarray(numbers.integers, float) * float(numbers.unit)
    return np.array([float(max(-_END, min(number * numbers.unit, _END))) for number in numbers.integers])


def _whole(numbers: Numbers) -> bool:
    """Return whether all numbers are whole, also where they are written as 47.0: pandas does so if cells are missing."""
    integers, one = numbers.integers, numbers.unit.denominator
    if one > np.iinfo(np.int64).max:  # 19 decimals: 1 has no place in 64 bits, though 0.0008643305627629161 has
        integers = integers.astype(object)
    return len(numbers) > 0 and not np.any(integers % one)


def _sample(column: Column) -> tuple[str, ...]:
    rows = np.flatnonzero(column.codes < column.size)
    if len(rows) > _SAMPLE:
        rows = rows[np.linspace(0, len(rows) - 1, _SAMPLE).astype(np.int64)]
    codes, times = np.unique(column.codes[rows], return_counts=True)
    return tuple(label for code, count in zip(codes, times, strict=True) for label in [column.label(int(code))] * int(count))
