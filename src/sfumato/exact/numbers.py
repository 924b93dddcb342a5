"""The numbers of a column, exact: integers times one unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.exact.ratios import Integers
from sfumato.exact.thresholds import as_fraction, nearest_float, written
from sfumato.plurals import count_of

ROOM = 2**61
"""Integers of a column in 64 bits are below this, so that the sum of two cannot overflow."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)

_FRACTION = re.compile(r"-?\d+/0*[1-9]\d*", re.ASCII)

_LONGEST = 1000
"""The most characters of a number; a longer text is not read as one."""

_WIDE = Context(prec=5000)
"""Enough digits to shift the decimal point of every number that `parse_decimal` accepts without rounding."""


def parse_decimal(value: Any) -> Decimal | None:
    """Return the decimal that a cell contains, or None if it contains none.

    A float means the shortest decimal that denotes it.

    >>> parse_decimal(" 1.50 "), parse_decimal("1,5"), parse_decimal("nan")
    (Decimal('1.50'), None, None)
    """
    if isinstance(value, str):
        text = value.strip()
        return Decimal(text) if len(text) <= _LONGEST and _NUMBER.fullmatch(text) else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        value = Decimal(float.__repr__(value))
    return value if isinstance(value, Decimal) and value.is_finite() else None


def parse_number(text: str) -> Fraction | None:
    """Return the number that a text denotes: a decimal, or a fraction where the decimal would not end; None if none.

    >>> parse_number("0.25"), parse_number("1/3"), parse_number("n/a")
    (Fraction(1, 4), Fraction(1, 3), None)
    """
    if len(text) <= _LONGEST and _FRACTION.fullmatch(text):
        return Fraction(text)
    decimal = parse_decimal(text)
    return None if decimal is None else Fraction(decimal)


@dataclass(frozen=True, eq=False, repr=False)
class Numbers:
    """Exact numbers as integers times one unit: 0.5 and 12.25 are 50 and 1225 times 1/100.

    >>> numbers = Numbers.of([Decimal("0.5"), Decimal("12.25")])
    >>> numbers.integers.tolist(), numbers.unit, numbers[1]
    ([50, 1225], Fraction(1, 100), Fraction(49, 4))
    """

    integers: Integers
    unit: Fraction

    @classmethod
    def of(cls, decimals: Sequence[Decimal]) -> Numbers:
        """Convert decimals to multiples of their coarsest common unit, a power of ten at most 1."""
        places = 0
        for decimal in decimals:
            exponent = decimal.as_tuple().exponent
            if isinstance(exponent, int) and -exponent > places:
                places = -exponent
        integers = [int(decimal.scaleb(places, _WIDE)) if places else int(decimal) for decimal in decimals]
        return cls(packed(integers), Fraction(1, 10**places))

    def __len__(self) -> int:
        return len(self.integers)

    def __repr__(self) -> str:
        """Show the size, never the numbers: they are cells of a table."""
        return f"<Numbers: {count_of(len(self), 'value')}>"

    def take(self, positions: NDArray[np.int64]) -> Numbers:
        """Return the numbers at some positions, in 64 bits if they fit."""
        integers = self.integers[positions]
        return Numbers(packed(integers.tolist()) if integers.dtype == object else integers, self.unit)

    def __getitem__(self, index: int) -> Fraction:
        """Return one number, exactly."""
        number = int(self.integers[index])
        return Fraction(number) if self.unit == 1 else number * self.unit

    def label(self, index: int) -> str:
        """Return one number as it is written."""
        if self.unit == 1:
            return str(int(self.integers[index]))
        return self.write(self[index])

    def write(self, number: Fraction) -> str:
        """Return any number as this column would write it."""
        return written(number)

    def parse(self, text: str) -> Fraction | None:
        """Return the number that a text of this column denotes; None if it denotes none."""
        return parse_number(text)

    def value(self, index: int) -> Any:
        """Return one number as a Python object: a Fraction only where an integer or a float would round."""
        number = self[index]
        if number.denominator == 1:
            return int(number)
        nearest = nearest_float(number)
        return nearest if as_fraction(nearest) == number else number

    def steps(self, width: Fraction) -> int:
        """Return the whole units in a width: |x − y| ≤ width if and only if their integers differ by at most this."""
        return int(width // self.unit)


def packed(integers: Sequence[int]) -> Integers:
    """Pack Python integers into int64 where they leave room for sums, else keep them as they are.

    >>> packed([1, 2]).dtype, packed([1, 10**30]).dtype
    (dtype('int64'), dtype('O'))
    """
    if min(integers, default=0) > -ROOM and max(integers, default=0) < ROOM:
        return np.array(integers, dtype=np.int64)
    array = np.empty(len(integers), dtype=object)
    array[:] = integers
    return array
