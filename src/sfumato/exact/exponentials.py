"""Exact comparisons of sums of exponentials."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction


def exponentials_at_most(shares: Mapping[Fraction, Fraction], limit: Fraction) -> bool:
    """Return whether the sum of share·e^exponent is at most the limit; `shares` maps exponents to positive shares.

    The precision is doubled until the digits decide. This ends: with rational shares and an exponent other than 0 the sum
    is never rational (Lindemann–Weierstrass theorem).

    >>> exponentials_at_most({Fraction(0): Fraction(1, 2)}, Fraction(1, 2))
    True
    >>> exponentials_at_most({Fraction(1): Fraction(1)}, Fraction("2.71828182845904523536028747135266249775724709369995"))
    False
    """
    if not any(shares):  # e⁰ is 1
        return sum(shares.values()) <= limit
    precision = 60
    while True:
        context = Context(prec=precision)
        total = Decimal(0)
        for exponent, share in shares.items():
            power = context.exp(_decimal(exponent, context))
            total = context.add(total, context.multiply(_decimal(share, context), power))
        bound = _decimal(limit, context)
        # a rounded exponent x changes e^x by a factor of about |x| units in the last place; sums add one or two digits more
        largest = max(map(abs, shares)) + len(shares) + 10
        if abs(context.subtract(total, bound)) > (total + abs(bound)) * int(largest + 1) * Decimal(10) ** (2 - precision):
            return total < bound
        precision *= 2


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))
