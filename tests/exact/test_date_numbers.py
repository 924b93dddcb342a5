"""Dates and times as numbers: exact, in the coarsest unit in which all are whole, and read again as written."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.exact.date_numbers import (
    DAY,
    SECOND,
    DateNumbers,
    date_end,
    iso_moment,
    moment_or_none,
    offset_seconds,
    utc_days,
)

steps = st.sampled_from([1, 10**3, 10**6, SECOND, 60 * SECOND, DAY])


@given(st.lists(st.tuples(st.integers(-(10**9), 10**9), st.integers(0, DAY - 1)), min_size=1, max_size=6), steps)
def test_numbers_are_days_and_parts_of_days(pairs, step):
    """Far days in nanoseconds are beyond 64 bits."""
    days, times = np.array([day for day, _ in pairs]), np.array([time // step * step for _, time in pairs])
    numbers = DateNumbers.of_days(days, times, None)
    exact = [int(day) + Fraction(int(time), DAY) for day, time in zip(days, times, strict=True)]
    assert [numbers[i] for i in range(len(pairs))] == exact
    coarsest = next(unit for unit in (DAY, SECOND, 10**6, 10**3, 1) if not (times % unit).any())
    assert numbers.unit == Fraction(coarsest, DAY)
    assert numbers.timed == bool(times.any())


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)), st.integers(-86399, 86399), st.sampled_from(["T", " "]))
def test_a_written_time_is_the_time_by_utc(moment, ahead, between):
    hours, rest = divmod(abs(ahead), 3600)
    offset = f"{'-' if ahead < 0 else '+'}{hours:02}:{rest // 60:02}:{rest % 60:02}"
    assert offset_seconds(offset) == ahead
    text = moment.isoformat(between, "microseconds")
    since = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1) * 1000
    assert iso_moment(text).nanoseconds == since
    assert iso_moment(text).offset is None
    assert iso_moment(text + offset).nanoseconds == since - ahead * SECOND
    assert date_end(text + offset) == Fraction(since - ahead * SECOND, DAY)
    assert iso_moment(text + "Z").nanoseconds == since
    assert iso_moment(text + "Z").offset == 0
    assert date_end(text[:10]) == (moment.date() - date(1970, 1, 1)).days


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), st.sampled_from([None, "Europe/Rome", "America/St_Johns"]))
def test_what_is_written_is_read_again_with_an_offset_only_under_a_zone(moment, zone):
    since = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1) * 1000
    numbers = DateNumbers.of_days(np.array([since // DAY]), np.array([since % DAY]), zone)
    label = numbers.label(0)
    assert numbers.parse(label) == numbers[0] == Fraction(since, DAY)
    assert numbers.write(numbers[0]) == label
    other = DateNumbers(numbers.integers, numbers.unit, None if zone else "Europe/Rome")
    assert other.parse(label) is None
    if zone is not None:
        assert numbers.value(0) == moment.replace(tzinfo=UTC)


def test_what_is_no_time():
    for text in (
        "2023-02-30",
        "2023-13-01",
        "2023-01-01T24:00",
        "2023-01-01T23:60",
        "2023-01-01T23:59:60",
        "12",
        "2023-01-01T1",
    ):
        assert moment_or_none(text) is None
        assert date_end(text) is None
    for text in ("2023-01-01T10:00+24:00", "2023-01-01T10:00+10:60", "2023-01-01T10:00+10:00:60"):
        assert moment_or_none(text) is None
    assert moment_or_none("2023-01-01T23:59:59+23:59:59") is not None


def test_days_and_times_by_utc():
    texts = ["1970-01-02", "1970-01-02T01:00:00+02:00", "1970-01-02T23:30:00.000000001-01:00", "1969-12-31T12:00"]
    days, times = utc_days([iso_moment(text) for text in texts])
    assert days.tolist() == [1, 0, 2, -1]
    assert times.tolist() == [0, 23 * 3600 * SECOND, 1800 * SECOND + 1, 12 * 3600 * SECOND]
