"""Thresholds as exact rational numbers: a threshold means the decimal that the user wrote."""

from __future__ import annotations

import math
import numbers
import re
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sfumato.errors import ParameterError

_WRITTEN = re.compile(r"[+-]?(\d{1,500}/\d{1,500}|(\d{1,500}(\.\d{0,500})?|\.\d{1,500})([eE][+-]?\d{1,3})?)", re.ASCII)
"""A decimal or a fraction that is short enough to compute with."""

Number = str | int | float | Decimal | Fraction
"""What a user may write for a number: text such as "0.1" or "1/3", or any Python number."""


def as_fraction(value: Number, name: str = "number") -> Fraction:
    """Return the rational number that was written.

    A float means the shortest decimal that denotes it, which is what the user typed.

    >>> as_fraction("0.1") == as_fraction(0.1) == Fraction(1, 10)
    True
    >>> as_fraction("1/3")
    Fraction(1, 3)
    """
    try:
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, numbers.Rational):
            return Fraction(int(value.numerator), int(value.denominator))
        if isinstance(value, str) and not _WRITTEN.fullmatch(value.strip()):
            raise ValueError
        if isinstance(value, Decimal) and not (value.is_finite() and abs(value.adjusted()) <= 1000):
            raise ValueError
        if isinstance(value, Decimal | str):
            return Fraction(value)
        if isinstance(value, float):  # repr of a subclass may contain its name
            return Fraction(float.__repr__(value))
        if isinstance(value, numbers.Real):  # numpy's float32 and float16: the shortest decimal depends on the width
            return Fraction(str(value))
        raise ValueError
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise ParameterError(
            f"{name} = {str(value) if isinstance(value, Decimal) else repr(value)} is not a number",
            remedy='Write a decimal such as "0.1" or a fraction such as "1/3".',
            key=name,
            value=value,
        ) from error


def written(value: Fraction) -> str:
    """Write a rational as a decimal if it has a finite one of at most 30 places, else as a fraction.

    >>> written(Fraction(1, 8)), written(Fraction(1, 3)), written(Fraction(5))
    ('0.125', '1/3', '5')
    """
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 30:
        return str(value)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"


def as_parameter(value: Any) -> Any:
    """Return a parameter as a config writes it: exact numbers as text, everything else unchanged.

    >>> as_parameter({"weights": (Fraction(1, 10), 2)})
    {'weights': ['0.1', 2]}
    """
    if isinstance(value, Fraction):
        return written(value)
    if isinstance(value, dict):
        return {key: as_parameter(inner) for key, inner in value.items()}
    return [as_parameter(inner) for inner in value] if isinstance(value, tuple) else value


def nearest_float(value: Fraction) -> float:
    """Return the float nearest to a rational; infinity beyond the range of floats.

    >>> nearest_float(Fraction(1, 4)), nearest_float(Fraction(10) ** 400)
    (0.25, inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def largest_float_at_most(threshold: Fraction) -> float:
    """Return the float t such that, for every float x, `x <= t` if and only if x as written is at most the threshold.

    Floats below the one nearest to the threshold denote decimals below it, and floats above it decimals above it. Only
    the nearest one must be compared exactly.

    >>> 0.1 <= largest_float_at_most(Fraction(1, 10)), 0.1 + 0.2 <= largest_float_at_most(Fraction(3, 10))
    (True, False)
    """
    nearest = nearest_float(threshold)
    if math.isinf(nearest):
        return sys.float_info.max if nearest > 0 else nearest
    return nearest if Fraction(repr(nearest)) <= threshold else math.nextafter(nearest, -math.inf)
