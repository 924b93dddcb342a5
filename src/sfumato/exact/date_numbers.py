"""The dates and times of a column, exact: days since 1970-01-01, a time of day as a fraction of a day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from sfumato.exact.numbers import Numbers, packed

EPOCH = date(1970, 1, 1).toordinal()
"""The ordinal of the day with the number 0."""

SECOND = 10**9
"""Nanoseconds of a second."""
DAY = 86400 * SECOND
"""Nanoseconds of a day."""

_STEPS = (DAY, SECOND, 10**6, 10**3, 1)
"""The units of a column, in nanoseconds: the coarsest in which all its times are whole."""

_FIRST, _LAST = ((end.toordinal() - EPOCH) * DAY for end in (date.min, date.max))
"""The first and the last day that are written."""

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?)?",
    re.ASCII,
)


class Moment(NamedTuple):
    """A date or a time as it is written: on the clock of the place where it was written."""

    day: int
    """Days since 1970-01-01."""
    time: int | None
    """Nanoseconds since midnight; None if there is only a date."""
    offset: int | None
    """Seconds that the clock is ahead of UTC; None if that is not written."""

    @property
    def nanoseconds(self) -> int:
        """Nanoseconds since 1970-01-01; by UTC if the offset is written."""
        return self.day * DAY + (self.time or 0) - (self.offset or 0) * SECOND


def iso_moment(text: str) -> Moment | None:
    """Read a date or a time in ISO 8601; None if the text is none. ValueError: it is one that does not exist.

    >>> iso_moment("1970-01-02"), iso_moment("1970-01-01T01:00:00+01:00").nanoseconds, iso_moment("1 May")
    (Moment(day=1, time=None, offset=None), 0, None)
    """
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = match.groups()
    number = day_number(int(year), int(month), int(day))
    if hour is None:
        return Moment(number, None, None)
    time = time_of_day(int(hour), int(minute), int(second or 0), fraction)
    return Moment(number, time, None if offset is None else offset_seconds(offset))


def day_number(year: int, month: int, day: int) -> int:
    """Return the number of a day: 0 is 1970-01-01. ValueError: there is no such day."""
    return date(year, month, day).toordinal() - EPOCH


def time_of_day(hour: int, minute: int, second: int, fraction: str | None) -> int:
    """Return nanoseconds since midnight; `fraction`: the digits after the second. ValueError: there is no such time."""
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError("hours are below 24, minutes and seconds below 60")
    return (hour * 3600 + minute * 60 + second) * SECOND + (int(fraction.ljust(9, "0")) if fraction else 0)


def offset_seconds(text: str) -> int:
    """Return the seconds that an offset such as +01:00 is ahead of UTC. ValueError: there is no such offset."""
    if text in ("Z", "z"):
        return 0
    digits = text[1:].replace(":", "").ljust(6, "0")
    hours, minutes, seconds = (int(digits[i : i + 2]) for i in (0, 2, 4))
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError("an offset is less than 24 hours")
    ahead = hours * 3600 + minutes * 60 + seconds
    return -ahead if text[0] == "-" else ahead


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo:
    """Return a time zone by its name, such as Europe/Rome. ValueError or KeyError: there is none."""
    return ZoneInfo(name)


@dataclass(frozen=True, eq=False, repr=False)
class DateNumbers(Numbers):
    """Exact dates or times, as integers times one unit: a day, a second, or a power of ten of a second.

    Times of a column with a time zone are points in time: their numbers count from 1970-01-01 in UTC, and their labels are
    the clock of the zone with its offset. All others are what a clock or a calendar showed.

    >>> dates = DateNumbers.of_days(np.array([0, 1]), np.array([0, 43_200 * SECOND]), None)
    >>> dates.integers.tolist(), dates.unit, dates[1], dates.label(1)
    ([0, 129600], Fraction(1, 86400), Fraction(3, 2), '1970-01-02T12:00:00')
    """

    zone: str | None = None
    """The time zone of a column of points in time."""

    @classmethod
    def of_days(cls, days: NDArray[np.int64], times: NDArray[np.int64], zone: str | None) -> DateNumbers:
        """Convert days and nanoseconds since midnight to multiples of their coarsest common unit."""
        step = next(step for step in _STEPS if not (times % step).any())
        per_day = DAY // step
        if len(days) and max(abs(int(days.min())), abs(int(days.max()))) * per_day + per_day < 2**61:
            integers = days.astype(np.int64) * per_day + times // step
        else:
            rest = (times // step).tolist()
            integers = packed([day * per_day + more for day, more in zip(days.tolist(), rest, strict=True)])
        return cls(integers, Fraction(step, DAY), zone)

    def take(self, positions: NDArray[np.int64]) -> DateNumbers:
        """Return the numbers at some positions."""
        fewer = super().take(positions)
        return DateNumbers(fewer.integers, fewer.unit, self.zone)

    @cached_property
    def timed(self) -> bool:
        """Whether labels contain the time of day: unless every time is midnight of a clock without a zone."""
        per_day = self.unit.denominator
        return self.zone is not None or (per_day > 1 and bool((self.integers % per_day).any()))

    def write(self, number: Fraction) -> str:
        """Return a number of days as an ISO date or time; rounded down to the column's unit, and to the years 1 to 9999."""
        nanoseconds = int(number // self.unit * self.unit * DAY)
        return self._write(min(max(nanoseconds, _FIRST + DAY), _LAST - DAY))

    def label(self, index: int) -> str:
        """Return one date or time in ISO 8601. OverflowError or ValueError: its year is not from 1 to 9999."""
        return self._write(int(self[index] * DAY))

    def _write(self, nanoseconds: int) -> str:
        if not self.timed:
            return date.fromordinal(nanoseconds // DAY + EPOCH).isoformat()
        return _iso(nanoseconds, self.zone)

    def parse(self, text: str) -> Fraction | None:
        """Return the number of days that an ISO text denotes; None if it denotes none.

        In a column with a zone the text must have an offset, in others not.

        >>> DateNumbers.of_days(np.array([0]), np.array([0]), None).parse("1970-01-11")
        Fraction(10, 1)
        """
        moment = moment_or_none(text)
        if moment is None or (moment.offset is None) != (self.zone is None):
            return None
        return Fraction(moment.nanoseconds, DAY)

    def value(self, index: int) -> Any:
        """Return a date, or a datetime where labels contain the time; a label where a datetime would round."""
        nanoseconds = int(self[index] * DAY)
        if not self.timed:
            return date.fromordinal(nanoseconds // DAY + EPOCH)
        return self.label(index) if nanoseconds % 1000 else _datetime(nanoseconds, self.zone)


def moment_or_none(text: str) -> Moment | None:
    """Read a date or a time in ISO 8601; None if the text is none or does not exist.

    >>> moment_or_none("2023-02-30") is None
    True
    """
    try:
        return iso_moment(text)
    except ValueError:
        return None


def date_end(text: str) -> Fraction | None:
    """Return the days of an ISO date or time, by UTC if its offset is written; None if it is none.

    >>> date_end("1970-01-02T12:00:00"), date_end("12")
    (Fraction(3, 2), None)
    """
    moment = moment_or_none(text)
    return None if moment is None else Fraction(moment.nanoseconds, DAY)


def _datetime(nanoseconds: int, zone: str | None) -> datetime:
    naive = datetime.fromordinal(nanoseconds // DAY + EPOCH) + timedelta(microseconds=nanoseconds % DAY // 1000)
    return naive if zone is None else naive.replace(tzinfo=UTC).astimezone(zone_of(zone))


def _iso(nanoseconds: int, zone: str | None) -> str:
    """Write a time, with as many digits after the second as it needs."""
    moment = _datetime(nanoseconds, zone)
    fraction = f"{nanoseconds % SECOND:09}".rstrip("0")
    text = moment.replace(microsecond=0, tzinfo=None).isoformat() + ("." + fraction if fraction else "")
    return text if zone is None else text + moment.replace(microsecond=0).isoformat()[19:]


def utc_days(moments: Sequence[Moment]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the days and the nanoseconds since midnight of moments; by UTC where offsets are written."""
    days = np.array([moment.day for moment in moments], np.int64)
    seconds = np.array([moment.offset or 0 for moment in moments], np.int64)
    times = np.array([moment.time or 0 for moment in moments], np.int64) - seconds * SECOND
    return days + times // DAY, times % DAY
