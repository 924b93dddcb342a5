"""Decisions about logarithms that no precision can get wrong.

A float decides the clear cases elsewhere; what is nearly a tie comes here. Two facts make the loops below end: a sum of
integer multiples of logarithms of integers is zero only if the prime factors cancel, and the logarithm of a rational
other than 1 is never rational.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

NEAR = 1e-9
"""Float logarithms that differ by more than this, relative to their size, are decided by the float."""


def sign_of_log_sum(terms: Iterable[tuple[int, int]]) -> int:
    """Return the sign (-1, 0, 1) of the sum of a·ln(b) over terms (a, b) with integers a and b ≥ 1.

    >>> sign_of_log_sum([(2, 8), (-3, 4)]), sign_of_log_sum([(2, 8), (-3, 3)])
    (0, 1)
    """
    weights: dict[int, int] = defaultdict(int)
    for a, b in terms:
        weights[b] += a
    powers: dict[int, int] = defaultdict(int)
    for b, a in weights.items():
        for prime, exponent in _factors(b):
            powers[prime] += a * exponent
    if not any(powers.values()):
        return 0
    precision = 40
    while True:
        context = Context(prec=precision)
        total = magnitude = Decimal(0)
        for b, a in weights.items():
            term = context.multiply(Decimal(a), context.ln(Decimal(b)))
            total = context.add(total, term)
            magnitude = context.add(magnitude, abs(term))
        if abs(total) > magnitude * (len(weights) + 2) * Decimal(10) ** (2 - precision):
            return 1 if total > 0 else -1
        precision *= 2


def compare_log(ratio: Fraction, bound: Fraction) -> int:
    """Return the sign of ln(ratio) - bound, for a positive rational ratio and a rational bound.

    >>> compare_log(Fraction(1), Fraction(0)), compare_log(Fraction(2), Fraction("0.6931471805599453"))
    (0, 1)
    """
    if ratio == 1 or bound == 0:
        difference = ratio - 1 if bound == 0 else -bound
        return (difference > 0) - (difference < 0)
    precision = 40
    while True:
        context = Context(prec=precision)
        logarithm = context.subtract(context.ln(Decimal(ratio.numerator)), context.ln(Decimal(ratio.denominator)))
        limit = context.divide(Decimal(bound.numerator), Decimal(bound.denominator))
        gap = context.subtract(logarithm, limit)
        scale = max(abs(limit), Decimal(ratio.numerator).ln(), Decimal(ratio.denominator).ln(), Decimal(1))
        if abs(gap) > scale * Decimal(10) ** (2 - precision):
            return 1 if gap > 0 else -1
        precision *= 2


@lru_cache(maxsize=65536)
def _factors(number: int) -> tuple[tuple[int, int], ...]:
    """Prime factors with exponents, by trial division (counts of rows: at most a few ten thousand divisions)."""
    found = []
    divisor = 2
    while divisor * divisor <= number:
        exponent = 0
        while number % divisor == 0:
            number //= divisor
            exponent += 1
        if exponent:
            found.append((divisor, exponent))
        divisor += 1 if divisor == 2 else 2
    if number > 1:
        found.append((number, 1))
    return tuple(found)
