"""Exact arithmetic against Python's own rationals."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.exact import (
    Numbers,
    Ratios,
    as_fraction,
    compare_log,
    exponentials_at_most,
    largest_float_at_most,
    sign_of_log_sum,
    written,
)

rationals = st.fractions(min_value=-5, max_value=5)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
def test_what_was_written_is_what_is_meant(decimal):
    assert as_fraction(str(decimal)) == as_fraction(decimal) == Fraction(decimal)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_decimal_it_prints_as(value):
    assert as_fraction(value) == as_fraction(np.float64(value)) == Fraction(repr(value))


def test_what_is_no_number():
    for value in ("abc", "", None, True, float("nan"), float("inf"), Decimal("NaN"), "1/0", [1]):
        with pytest.raises(sf.errors.ParameterError, match="not a number"):
            as_fraction(value)


@given(st.fractions())
def test_written_can_be_read(value):
    assert Fraction(written(value)) == value


@given(st.fractions(min_value=-10, max_value=10), st.floats(-10, 10))
def test_largest_float_at_most(threshold, value):
    assert (value <= largest_float_at_most(threshold)) == (Fraction(repr(value)) <= threshold)


@given(st.floats(-10, 10))
def test_largest_float_at_a_tie(value):
    tiny = Fraction(1, 10**400)
    assert value <= largest_float_at_most(Fraction(repr(value)))
    assert not value <= largest_float_at_most(Fraction(repr(value)) - tiny)


big = st.sampled_from([0, 1, 2, 3, 7, 10**6, 2**40, 2**61 - 1, 2**62, 10**30])


@given(st.lists(st.tuples(big, big), min_size=1, max_size=5), st.one_of(rationals, st.fractions()), st.booleans())
def test_ratios(pairs, threshold, tie):
    numerators, denominators = zip(*pairs, strict=True)
    if tie and denominators[0]:
        threshold = Fraction(numerators[0], denominators[0])
    dtype = np.int64 if max(map(max, pairs)) < 2**62 else object
    ratios = Ratios(np.array(numerators, dtype), np.array(denominators, dtype))
    exact = [Fraction(n, d) if d else math.inf for n, d in pairs]
    assert ratios.at_most(threshold).tolist() == [r <= threshold for r in exact]
    assert ratios.at_least(threshold).tolist() == [r >= threshold for r in exact]
    assert ratios.below(threshold).tolist() == [r < threshold for r in exact]
    assert ratios.largest() == max(exact)
    assert ratios.smallest() == min(exact)
    assert [ratios[i] for i in range(len(pairs))] == exact


def test_extremes_that_floats_cannot_tell_apart():
    n = 2**60
    ratios = Ratios(np.array([n, n + 1, n - 1]), np.array([n + 1, n + 2, n]))
    assert ratios.largest() == Fraction(n + 1, n + 2)
    assert ratios.smallest() == Fraction(n - 1, n)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(1, 40)), max_size=6))
def test_sign_of_log_sum(terms):
    product = math.prod(Fraction(b) ** a for a, b in terms)
    assert sign_of_log_sum(terms) == (product > 1) - (product < 1)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 10**40))
def test_compare_log_beside_the_logarithm(a, b, far):
    """A bound that agrees with the logarithm to many digits is still told from it."""
    ratio = Fraction(a, b)
    from decimal import localcontext

    with localcontext() as context:
        context.prec = 60
        logarithm = Fraction(Decimal(a).ln() - Decimal(b).ln())
    gap = Fraction(1, 10**15 + far)
    assert compare_log(ratio, logarithm + gap) == -1
    assert compare_log(ratio, logarithm - gap) == 1
    assert compare_log(Fraction(1), Fraction(0)) == 0


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20), max_size=5))
def test_numbers(decimals):
    numbers = Numbers.of(decimals)
    assert [numbers[i] for i in range(len(decimals))] == [Fraction(d) for d in decimals]


@given(
    st.dictionaries(st.fractions(0, 600, max_denominator=50), st.fractions("1/1000", 100), min_size=1, max_size=4),
    st.integers(20, 150),
)
def test_exponentials_beside_a_limit_that_is_a_hair_off(shares, digits):
    wide = Context(prec=400)

    def decimal(value):
        return wide.divide(Decimal(value.numerator), Decimal(value.denominator))

    total = Fraction(0)
    for exponent, share in shares.items():
        total += Fraction(wide.multiply(decimal(share), wide.exp(decimal(exponent))))
    hair = Fraction(1, 10**digits)
    assert exponentials_at_most(shares, total * (1 + hair))
    assert not exponentials_at_most(shares, total * (1 - hair))
    if not any(shares):
        assert exponentials_at_most(shares, sum(shares.values()))
