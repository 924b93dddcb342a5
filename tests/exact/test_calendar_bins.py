"""Bins of dates: few, in order, without gaps, and named by what they contain."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.exact.calendar_bins import calendar_bins

START = date(1970, 1, 1)


@given(st.dates(date(2, 1, 1), date(9990, 1, 1)), st.integers(0, 40_000), st.integers(2, 40), st.integers(0, 2))
def test_bins_of_dates_contain_the_days_that_they_name(first, more, most, shortest):
    low, high = Fraction((first - START).days), Fraction((first - START).days + more)
    edges, names, texts = calendar_bins(low, high, most, None, days=True, shortest=shortest)
    assert 1 <= len(names) == len(edges) - 1 == len(texts) - 1 <= most
    assert edges[0] <= low
    assert high < edges[-1]
    for (a, b), name in zip(pairwise(edges), names, strict=True):
        assert a.denominator == b.denominator == 1
        assert b - a >= shortest
        one, _, other = name.partition(" – ")
        begin, end = START + timedelta(days=int(a)), START + timedelta(days=int(b) - 1)
        assert str(begin).startswith(one)
        assert str(end).startswith(other or one)
        # no day before or after has the names of the ends
        assert a == edges[0] or not str(begin - timedelta(days=1)).startswith(one)


@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)), st.integers(1, 10**8), st.sampled_from([None, "Europe/Rome"])
)
@example(datetime(1991, 9, 29, 0, 59), 60, "Europe/Rome")  # the clock goes from 02:59 back to 02:00
def test_bins_of_times_cover_all_times_in_order(first, seconds, zone):
    low = Fraction(int((first - datetime(1970, 1, 1)).total_seconds()), 86400)
    high = low + Fraction(seconds, 86400)
    edges, names, _ = calendar_bins(low, high, 40, zone, days=False)
    assert len(names) <= 40
    assert edges[0] <= low < edges[-1]
    assert high < edges[-1] or edges[-1] == edges[-2]
    assert all(a <= b for a, b in pairwise(edges))
