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


@given(st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)), st.integers(60, 86_400), st.integers(2, 200))
def test_bins_below_a_day_divide_it(first, seconds, most):
    """They are equally wide, start at midnight, and are as narrow as the number of bins allows."""
    low = Fraction(int((first - datetime(1970, 1, 1)).total_seconds()), 86400)
    edges, names, texts = calendar_bins(low, low + Fraction(seconds, 86400), most, None, days=False)
    widths = {b - a for a, b in pairwise(edges)}
    assert len(names) == len(edges) - 1 == len(texts) - 1
    (width,) = widths
    if width < 1:
        assert (1 / width).denominator == 1
        assert all((edge / width).denominator == 1 for edge in edges)
        narrower = [w for w in (1, 5, 15, 30, 60, 180, 360, 720) if Fraction(w, 1440) < width]
        assert all(Fraction(seconds, 86400) / Fraction(w, 1440) > most - 2 for w in narrower)


@given(st.dates(date(1000, 1, 1), date(3000, 1, 1)), st.integers(60, 1_000_000), st.integers(2, 30))
def test_bins_of_months_and_years_start_on_a_first(first, days, most):
    low = Fraction((first - START).days)
    edges, _, _ = calendar_bins(low, low + days, most, None, days=True)
    starts = [START + timedelta(days=int(edge)) for edge in edges]
    months = [day.year * 12 + day.month - 1 for day in starts]
    steps = {b - a for a, b in pairwise(months)}
    if all(day.day == 1 for day in starts) and min(steps) > 0 and len(starts) > 2:
        (step,) = steps
        assert step in (1, 3, 6) or step % 12 == 0
        assert all(month % step == 0 for month in months[1:])
    elif all(b - a == 7 for a, b in pairwise(edges)):
        assert all(day.weekday() == 0 for day in starts)


def test_the_widths_that_bins_may_have():
    """Ten bins of a width; twelve of the next smaller width would not suffice."""
    for minutes in (1, 5, 15, 30, 60, 180, 360, 720, 1440, 7 * 1440):
        edges, _, _ = calendar_bins(Fraction(0), Fraction(10 * minutes - 1, 1440), 12, None, days=False)
        assert {(b - a) * 1440 for a, b in pairwise(edges)} == {minutes}
    for months in (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000):
        high = (date(1970 + 10 * months // 12, 1 + 10 * months % 12, 1) - START).days - 1
        edges, _, _ = calendar_bins(Fraction(0), Fraction(high), 12, None, days=True, shortest=28)
        starts = [START + timedelta(days=int(edge)) for edge in edges]
        assert {(b.year - a.year) * 12 + b.month - a.month for a, b in pairwise(starts)} == {months}
