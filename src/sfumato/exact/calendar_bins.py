"""Bins of dates and times, for histograms that a person reads: minutes, hours, days, weeks, months or years."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from sfumato.exact.date_numbers import DAY, EPOCH, SECOND, zone_of

_MINUTES = (1, 5, 15, 30, 60, 180, 360, 720)
"""The widths of bins below a day, in minutes."""
_DAYS = (1, 7)
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000)

_START = datetime(1970, 1, 1)
_MONDAY = 3
"""The days from 1970-01-01, a Thursday, back to Monday."""

Bins = tuple[tuple[Fraction, ...], tuple[str, ...], tuple[str, ...]]


class _Scale(NamedTuple):
    """A kind of bin: where the one starts that contains a time, where the next starts, and how a start is written."""

    start: Callable[[datetime], datetime]
    following: Callable[[datetime], datetime]
    text: Callable[[datetime], str]


def calendar_bins(low: Fraction, high: Fraction, most: int, zone: str | None, *, days: bool, shortest: int = 0) -> Bins:
    """Return at most `most` bins from a number of days since 1970-01-01 to another: edges, names, and texts of the edges.

    `zone`: whose clock is meant. `days`: the numbers are whole days. `shortest`: the least width of a bin, in days.

    >>> edges, names, texts = calendar_bins(Fraction(0), Fraction(800), 4, None, days=True)
    >>> [str(edge) for edge in edges], names
    (['0', '365', '730', '1096'], ('1970', '1971', '1972'))
    >>> calendar_bins(Fraction(31), Fraction(100), 5, None, days=True)[1]
    ('1970-02', '1970-03', '1970-04')
    """
    scales = [] if days else [_minutes(width) for width in _MINUTES]
    scales += [_days(width) for width in _DAYS if width >= shortest]
    scales += [_months(width) for width in _MONTHS]
    first = _clock(low, zone)
    scale, clocks = scales[-1], [first]
    for scale in scales:
        clocks = [scale.start(first)]
        # not by what clocks show: those that are put back may show an earlier time at the end than at the start
        while _number(clocks[-1], zone) <= high and len(clocks) <= most + 1:
            clocks.append(scale.following(clocks[-1]))
        if len(clocks) <= most + 1:
            break
    texts = [scale.text(clock) for clock in clocks]
    # the day before the next bin has the text of the last period of this one
    ends = texts[1:] if scale.text is _minute_text else [scale.text(clock - timedelta(days=1)) for clock in clocks[1:]]
    names = [one if one == other else f"{one} – {other}" for one, other in zip(texts, ends, strict=False)]
    # clocks that are put forward skip edges
    edges = accumulate((_number(clock, zone) for clock in clocks), max)
    return tuple(edges), tuple(names), tuple(texts)


def _minute_text(clock: datetime) -> str:
    return clock.isoformat("T", "minutes")


def _day_text(clock: datetime) -> str:
    return clock.date().isoformat()


def _month_text(clock: datetime) -> str:
    return clock.isoformat()[:7]


def _year_text(clock: datetime) -> str:
    return f"{clock.year:04}"


def _minutes(width: int) -> _Scale:
    step = timedelta(minutes=width)
    return _Scale(lambda clock: clock - (clock - datetime.min) % step, lambda edge: _later(edge, step), _minute_text)


def _days(width: int) -> _Scale:
    step, back = timedelta(days=width), timedelta(days=_MONDAY)

    def start(clock: datetime) -> datetime:
        past = (clock - _START + back) % step
        return clock - past if clock - datetime.min >= past else datetime.min

    return _Scale(start, lambda edge: _later(edge, step), _day_text)


def _months(width: int) -> _Scale:
    def at(number: int) -> datetime:
        year, month = divmod(max(number, 12), 12)
        return datetime(year, month + 1, 1) if year <= date.max.year else datetime.max

    def number(clock: datetime) -> int:
        return (clock.year * 12 + clock.month - 1) // width * width

    text = _year_text if width % 12 == 0 else _month_text
    return _Scale(lambda clock: at(number(clock)), lambda edge: at(number(edge) + width), text)


def _later(edge: datetime, step: timedelta) -> datetime:
    return edge + step if datetime.max - edge > step else datetime.max


def _clock(number: Fraction, zone: str | None) -> datetime:
    """Return what a clock shows, to the second."""
    nanoseconds = int(number * DAY)
    clock = datetime.fromordinal(nanoseconds // DAY + EPOCH) + timedelta(seconds=nanoseconds % DAY // SECOND)
    return clock if zone is None else clock.replace(tzinfo=UTC).astimezone(zone_of(zone)).replace(tzinfo=None)


def _number(clock: datetime, zone: str | None) -> Fraction:
    if zone is not None:
        clock = clock.replace(tzinfo=zone_of(zone)).astimezone(UTC).replace(tzinfo=None)
    return Fraction((clock - _START) // timedelta(microseconds=1) * 1000, DAY)
