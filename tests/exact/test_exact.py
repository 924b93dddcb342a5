"""Exact arithmetic against Python's own rationals."""

from __future__ import annotations

import math
import re
import sys
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
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
from sfumato.exact.shown_levels import level_shown, level_text
from sfumato.exact.thresholds import nearest_float

rationals = st.fractions(min_value=-5, max_value=5)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
def test_what_was_written_is_what_is_meant(decimal):
    assert as_fraction(str(decimal)) == as_fraction(decimal) == Fraction(decimal)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_decimal_it_prints_as(value):
    assert as_fraction(value) == as_fraction(np.float64(value)) == Fraction(repr(value))


def test_what_is_no_number():
    not_numbers = ("abc", "", None, True, float("nan"), float("inf"), Decimal("NaN"), Decimal("Infinity"), "1/0", [1])
    for value in (*not_numbers, Decimal("1e1001"), Decimal("1e-1001"), Decimal("1e999999"), 1j):
        with pytest.raises(sf.errors.ParameterError, match="not a number"):
            as_fraction(value)


def test_numbers_of_other_types_and_the_longest_ones():
    assert as_fraction(Decimal("1e1000")) == 10**1000
    assert as_fraction(Decimal("-1e-1000")) == Fraction(-1, 10**1000)
    assert as_fraction(np.float32("0.1")) == as_fraction(np.float16("0.1")) == Fraction(1, 10)
    assert as_fraction(np.int8(-3)) == as_fraction(Fraction(-3)) == -3
    assert as_fraction(" 1/3 ") == Fraction(1, 3)


@given(st.fractions())
def test_written_can_be_read(value):
    assert Fraction(written(value)) == value


@given(st.integers(-(10**12), 10**12), st.integers(0, 40), st.integers(0, 40))
def test_a_decimal_is_written_with_as_many_places_as_it_needs(number, twos, fives):
    value = Fraction(number, 2**twos * 5**fives)
    places = next(k for k in range(41) if (value * 10**k).denominator == 1)
    text = written(value)
    if places > 30:
        assert text == str(value)
    else:
        assert len(text.partition(".")[2]) == places
        assert ("." in text) == (places > 0)
        assert re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", text)
    assert written(value + Fraction(1, 3)) == str(value + Fraction(1, 3))


def test_a_decimal_of_thirty_places_is_the_longest():
    assert written(Fraction(1, 10**30)) == "0." + "0" * 29 + "1"
    assert written(Fraction(1, 10**31)) == f"1/{10**31}"


def test_floats_beyond_their_range():
    huge = Fraction(10) ** 400
    assert (nearest_float(huge), nearest_float(-huge)) == (math.inf, -math.inf)
    assert largest_float_at_most(huge) == sys.float_info.max
    assert largest_float_at_most(-huge) == -math.inf, "no finite float is at most a number below all of them"
    ratios = Ratios(np.array([10**400, -(10**400), 1, 5]), np.array([1, 1, 3, 0]))
    assert ratios.floats().tolist() == [math.inf, -math.inf, 1 / 3, math.inf]
    assert Ratios(np.array([1, 5]), np.array([3, 0])).floats().tolist() == [1 / 3, math.inf]


@given(st.fractions(min_value=-10, max_value=10), st.floats(-10, 10))
def test_largest_float_at_most(threshold, value):
    assert (value <= largest_float_at_most(threshold)) == (Fraction(repr(value)) <= threshold)


@given(st.floats(-10, 10))
def test_largest_float_at_a_tie(value):
    tiny = Fraction(1, 10**400)
    assert value <= largest_float_at_most(Fraction(repr(value)))
    assert not value <= largest_float_at_most(Fraction(repr(value)) - tiny)


big = st.one_of(st.integers(0, 9), st.sampled_from([10**6, 2**40, 2**61 - 1, 2**62, 10**30]))
far = st.sampled_from([10**30, -(10**30), Fraction(1, 10**30), Fraction(10**30, 7), 2**62])


@given(
    st.lists(st.tuples(big, big), min_size=1, max_size=5),
    st.one_of(st.fractions(0, 5, max_denominator=9), rationals, far.map(Fraction)),
    st.booleans(),
)
@example(pairs=[(3, 1)], threshold=Fraction(10**30), tie=False)
@example(pairs=[(1, 3), (0, 1)], threshold=Fraction(1, 5), tie=False)
@example(pairs=[(2, 3), (1, 3)], threshold=Fraction(2, 3), tie=False)
@example(pairs=[(2**40, 2**40)], threshold=Fraction(2**40), tie=False)
@example(pairs=[(1, 1), (1, 2**40)], threshold=Fraction(2**40), tie=False)
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
    # the first is larger, and its float is smaller
    one, other = (3562756425442160176, 2007917485139), (3569249870170226629, 2011577095747)
    numerators, denominators = np.array([one, other]).T
    assert np.argmax(Ratios(numerators, denominators).floats()) == 1
    assert Ratios(numerators, denominators).largest() == Fraction(*one) > Fraction(*other)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(1, 40)), max_size=6))
def test_sign_of_log_sum(terms):
    product = math.prod(Fraction(b) ** a for a, b in terms)
    assert sign_of_log_sum(terms) == (product > 1) - (product < 1)


@given(
    st.lists(st.tuples(st.integers(1, 4), st.sampled_from([2, 3, 6, 10, 12, 35])), min_size=1, max_size=3),
    st.integers(1, 4),
    st.integers(-1, 1),
)
def test_logarithms_that_cancel(terms, times, more):
    """Powers and products on one side, their factors on the other: the sum is zero, or off by one logarithm."""
    whole = math.prod(b**a for a, b in terms)
    cancelling = [(-times, whole), *((a * times, b) for a, b in terms)]
    assert sign_of_log_sum([*cancelling, (more, 7)]) == more
    assert sign_of_log_sum([*cancelling, (more * 10**50, 7), (more, 5)]) == more
    assert sign_of_log_sum([*cancelling, (1, 10**45 + more), (-1, 10**45)]) == more


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
    assert compare_log(Fraction(1), gap) == -1
    assert compare_log(Fraction(1), -gap) == 1
    assert compare_log(1 + gap, Fraction(0)) == 1
    assert compare_log(1 - gap, Fraction(0)) == -1


@pytest.mark.parametrize("zeros", [45, 60, 90, 200])
def test_compare_log_of_a_ratio_close_to_one(zeros):
    """ln(1 + h) lies between h − h²/2 and h, whatever digits agree."""
    h = Fraction(1, 10**zeros)
    assert compare_log(1 + h, h) == -1
    assert compare_log(1 + h, h - h * h / 2) == 1
    assert compare_log(1 - h, -h) == -1


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20), max_size=5))
def test_numbers(decimals):
    numbers = Numbers.of(decimals)
    assert [numbers[i] for i in range(len(decimals))] == [Fraction(d) for d in decimals]


@given(
    st.dictionaries(st.fractions(0, 600, max_denominator=50), st.fractions("1/1000", 100), min_size=1, max_size=4),
    st.integers(20, 150),
)
@example({Fraction(1, 3): Fraction(1, 10**9), Fraction(30_001, 3): Fraction(2, 3)}, 56)
@example({Fraction(0): Fraction(1, 7), Fraction(60_002, 3): Fraction(2, 3)}, 56)
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


@pytest.mark.parametrize("zeros", [3, 59, 61, 70, 130])
def test_exponentials_of_small_exponents(zeros):
    """e^h lies between 1 + h and 1 + h + h² for 0 < h < 1, and a sum of many between the sums."""
    h = Fraction(1, 10**zeros)
    assert exponentials_at_most({h: Fraction(1)}, 1 + h + h * h)
    assert not exponentials_at_most({h: Fraction(1)}, 1 + h)
    many = {k * h: Fraction(1, 20) for k in range(20)}
    middle = 1 + sum(many) / 20
    assert not exponentials_at_most(many, middle)
    assert exponentials_at_most(many, middle + 400 * h * h)
    assert not exponentials_at_most({-h: Fraction(1)}, 1 - h)
    assert exponentials_at_most({-h: Fraction(1)}, 1 - h + h * h)


levels = st.one_of(
    st.fractions(0, 10**7), st.fractions(0, 2, max_denominator=40), st.floats(0, 10**7), st.integers(0, 10**7)
)


@given(levels, st.one_of(st.none(), st.fractions(0, 10**7), st.fractions(0, 2, max_denominator=40)), st.booleans())
def test_a_level_in_few_digits_is_on_its_side_of_the_threshold(level, threshold, near):
    exact = Fraction(level)
    if near and threshold is not None and not (isinstance(level, float) and threshold <= 1):
        # a float is shown as the shortest decimal that denotes it, which is not quite what it is: it has no equal
        threshold = exact + Fraction(1, 10**9) * (threshold > 1)
    text = level_shown(level if isinstance(level, float) else exact, threshold)
    shown = Fraction(text.replace(",", ""))
    assert (shown.denominator == 1) == (exact.denominator == 1)
    if threshold is not None:
        assert (shown > threshold, shown < threshold) == (exact > threshold, exact < threshold)
    elif exact.denominator > 1 and exact > 1e-4:
        assert abs(shown - exact) <= exact / 1000
    assert (level_shown(math.inf), level_shown(Fraction(1, 3)), level_shown(12345)) == ("∞", "0.3333", "12,345")
    assert level_text(exact) == written(exact)
    assert level_text(0.1) == "0.1"


def test_a_level_that_no_float_of_few_digits_tells_from_the_threshold_is_shown_exactly():
    """17 digits would be on the right side of 0.1, but are those of a float."""
    assert level_shown(Fraction("0.10000000000000000001"), Fraction("0.1")) == "0.10000000000000000001"
