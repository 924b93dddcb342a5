"""Exact comparisons of logarithms.

Callers decide the clear cases with floats, and near-ties here. Two facts make the loops end: a sum of integer multiples of
logarithms of integers is zero only if their factors cancel, and the logarithm of a rational other than 1 is never
rational.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from math import gcd

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
        if precision == 40 and _cancel(weights):  # factoring costs more than digits, so it comes second
            return 0
        precision *= 2


def _cancel(weights: Mapping[int, int]) -> bool:
    """Return whether the sum of a·ln(b) over the pairs b: a is exactly zero."""
    base = _coprime_base(weights)
    return all(sum(a * _exponent(b, factor) for b, a in weights.items()) == 0 for factor in base)


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


def _coprime_base(numbers: Iterable[int]) -> list[int]:
    """Return pairwise coprime factors of which all numbers are products; by greatest common divisors, without primes."""
    base: list[int] = []
    left = [number for number in numbers if number > 1]
    while left:
        number = left.pop()
        for place, factor in enumerate(base):
            common = gcd(number, factor)
            if common > 1:
                del base[place]
                left += [part for part in (common, number // common, factor // common) if part > 1]
                break
        else:
            base.append(number)
    return base


def _exponent(number: int, factor: int) -> int:
    """Return how often a factor divides a number."""
    exponent = 0
    while number % factor == 0:
        number //= factor
        exponent += 1
    return exponent
