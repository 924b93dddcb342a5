"""Read the dates and times of a column as exact numbers of days."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.data.date_formats import ISO_SHAPES, AmbiguousFormatError, detected_format, parse_moment, shapes
from sfumato.exact.date_numbers import DAY, EPOCH, SECOND, DateNumbers, Moment, iso_moment, utc_days, zone_of

_DIRECTIVE = re.compile("%.", re.DOTALL)
_OF_TIME = {"%H", "%M", "%S", "%f"}

_LAST = 9999
"""The last year that is read."""


class DateProblemError(Exception):
    """Cells that cannot be read as dates: `position` is the first of them, or None if the column as a whole is meant."""

    def __init__(self, position: int | None, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.position = position
        self.problem = problem
        self.remedy = remedy


class ParsedDates(NamedTuple):
    """The dates of distinct cells, in the order of the cells."""

    numbers: DateNumbers
    format: str | None
    """The format that the cells have, declared or detected; None: ISO 8601."""


def parse_dates(texts: Sequence[str], pattern: str | None, zone: str | None, local: str | None = None) -> ParsedDates:
    """Read dates or times, each distinct cell once. Cost: about a microsecond for each cell in ISO 8601.

    `pattern`: the declared format. `zone`: the declared time zone, in which times without an offset are read and all are
    displayed. `local`: the zone in which times with an offset are displayed if none is declared. Raises DateProblemError.

    >>> parsed = parse_dates(["1.3.2024", "29.2.2024"], None, None)
    >>> parsed.format, [parsed.numbers.label(i) for i in range(2)]
    ('%d.%m.%Y', ['2024-03-01', '2024-02-29'])
    """
    if pattern is None and not (texts and shapes(texts[:1]) <= ISO_SHAPES):
        pattern = _detected(texts)
    moments = _moments(texts, pattern)
    _refuse_mixed(texts, moments)
    if not moments or moments[0].time is None:
        days = np.array([moment.day for moment in moments], np.int64)
        return ParsedDates(DateNumbers.of_days(days, np.zeros(len(days), np.int64), None), pattern)
    if moments[0].offset is None and zone is not None:
        moments = _in_zone(moments, zone)
    aware = moments[0].offset is not None
    days, times = utc_days(moments)
    result = DateNumbers.of_days(days, times, (zone or local or "UTC") if aware else None)
    if aware:
        _refuse_out_of_range(result)
    return ParsedDates(result, pattern)


def _detected(texts: Sequence[str]) -> str | None:
    """Return the format of all texts; None for ISO 8601."""
    positions = _representatives(texts)
    some = [texts[i] for i in positions]
    found = shapes(some)
    if not found:
        odd = next((i for i, text in zip(positions, some, strict=True) if not shapes([text])), None)
        if odd is None:
            return None
        raise DateProblemError(
            odd,
            f"{texts[odd]!r} is not a date",
            "Fix the cell, list it under missing.values, or declare the format, such as %d/%m/%Y.",
        )
    if len(found) > 1:
        first = shapes(texts[:1])
        odd = next(i for i, text in zip(positions, some, strict=True) if shapes([text]) != first)
        raise DateProblemError(
            odd,
            f"dates are written in several formats: {texts[odd]!r} here, {texts[0]!r} elsewhere",
            "Write all cells of the column in one format, or list those that mean missing under missing.values.",
        )
    try:
        return detected_format(some)
    except AmbiguousFormatError as error:
        raise DateProblemError(
            None,
            f"it is not clear whether {texts[0]!r} names the day or the month first",
            f'Declare the format: "{error.formats[0]}" or "{error.formats[1]}".',
        ) from error


def _moments(texts: Sequence[str], pattern: str | None) -> list[Moment]:
    """Read each text; dates and times of day that recur are read once."""
    read = _reader(pattern)
    result = []
    for i, text in enumerate(texts):
        cell = text.strip()
        try:
            moment = read(cell)
        except ValueError as error:
            remedy = "Fix the cell, or list it under missing.values."
            raise DateProblemError(i, f"there is no date {cell!r}: {error}", remedy) from error
        if moment is None:
            if pattern is None:
                _detected(texts)  # raises: some cells are not ISO dates
            remedy = "Fix the cell, list it under missing.values, or declare another format."
            raise DateProblemError(i, f"{cell!r} does not have the format {pattern}", remedy)
        result.append(moment)
    return result


def _reader(pattern: str | None) -> Callable[[str], Moment | None]:
    """Return a function that reads cells of a format.

    A time in ISO 8601, or in a format of a date, a blank and a time, is read in two parts: there are far fewer distinct days
    and times of day than points in time.
    """
    date_pattern, blank, time_pattern = ("", "", "") if pattern is None else pattern.partition(" ")
    day_of = cache(lambda text: iso_moment(text) if pattern is None else parse_moment(text, date_pattern))
    time_of = cache(
        lambda text: (
            iso_moment("1970-01-01" + text)
            if pattern is None
            else parse_moment("1970-01-01 " + text, "%Y-%m-%d " + time_pattern)
        )
    )

    def in_parts(cell: str) -> Moment | None:
        day, rest = (cell[:10], cell[10:]) if pattern is None else cell.split(" ", 1) if " " in cell else (cell, "")
        moment = day_of(day)
        if moment is None or not (rest or blank):
            return moment
        clock = time_of(rest)
        return None if clock is None else Moment(moment.day, clock.time, clock.offset)

    in_order = {*_DIRECTIVE.findall(date_pattern)} == {"%Y", "%m", "%d"} and {*_DIRECTIVE.findall(time_pattern)} <= _OF_TIME
    return in_parts if pattern is None or (blank and in_order) else partial(parse_moment, pattern=pattern)


def _representatives(texts: Sequence[str]) -> list[int]:
    """Return positions of texts that have every beginning up to the first blank, and every rest, of all texts.

    They have as many formats as all.
    """
    heads, tails = set[str](), set[str]()
    found = []
    for i, text in enumerate(texts):
        head, _, tail = text.partition(" ")
        if head not in heads or tail not in tails:
            heads.add(head)
            tails.add(tail)
            found.append(i)
    return found


def _refuse_mixed(texts: Sequence[str], moments: Sequence[Moment]) -> None:
    if not moments:
        return
    for i, moment in enumerate(moments):
        if (moment.time is None) != (moments[0].time is None):
            raise DateProblemError(
                i,
                f"dates and times are mixed: {texts[i]!r} here, {texts[0]!r} elsewhere",
                "Write the time in every cell of the column, or in none.",
            )
        if (moment.offset is None) != (moments[0].offset is None):
            raise DateProblemError(
                i,
                f"times with and without an offset from UTC are mixed: {texts[i]!r} here, {texts[0]!r} elsewhere",
                "Write the offset in every cell of the column, or in none and declare the time zone.",
            )


def _in_zone(moments: Sequence[Moment], name: str) -> list[Moment]:
    """Give times the offset that the clocks of a zone have; the first of two if clocks go back over them.

    The offset of a day is looked up once if it is the same at its beginning and its end.
    """
    zone = zone_of(name)
    of_day: dict[int, int | None] = {}
    result = []
    for i, moment in enumerate(moments):
        if moment.day not in of_day:
            ends = {_offset(zone, moment.day * DAY), _offset(zone, (moment.day + 1) * DAY)}
            of_day[moment.day] = ends.pop() if len(ends) == 1 else None
        offset = of_day[moment.day]
        if offset is None:
            at = moment.nanoseconds
            offset = _offset(zone, at)
            # a time that clocks skip is another time when it is converted to UTC and back
            if _utc_offset(zone, at - offset * SECOND) != offset:
                raise DateProblemError(
                    i,
                    f"there is no such time in the time zone {name!r}: its clocks are put forward over it",
                    "Fix the cell, list it under missing.values, or declare another time zone.",
                )
        result.append(moment._replace(offset=offset))
    return result


def _offset(zone: object, nanoseconds: int) -> int:
    """Return the seconds that the clocks of a zone are ahead of UTC when they show a time."""
    return _seconds(_clock(nanoseconds).replace(tzinfo=zone))  # type: ignore[arg-type]


def _utc_offset(zone: object, nanoseconds: int) -> int:
    """Return the seconds that the clocks of a zone are ahead of UTC at a point in time."""
    return _seconds(_clock(nanoseconds).replace(tzinfo=UTC).astimezone(zone))  # type: ignore[arg-type]


def _clock(nanoseconds: int) -> datetime:
    day = min(max(nanoseconds // DAY + EPOCH, 2), datetime.max.toordinal() - 1)
    return datetime.fromordinal(day) + timedelta(seconds=nanoseconds % DAY // SECOND)


def _seconds(moment: datetime) -> int:
    offset = moment.utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


def _refuse_out_of_range(numbers: DateNumbers) -> None:
    """Raise an error for a point in time whose year in UTC or in its zone is not from 1 to 9999."""
    ends: NDArray[np.int64] = np.array([int(np.argmin(numbers.integers)), int(np.argmax(numbers.integers))])
    for position in ends.tolist():
        try:
            numbers.label(position)
        except (ValueError, OverflowError) as error:
            raise DateProblemError(
                position,
                f"the year is not from 1 to {_LAST} in UTC and in the zone of the column",
                "Fix the cell, or list it under missing.values.",
            ) from error
