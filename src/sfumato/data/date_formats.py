"""Formats of dates and times: declared by strptime directives, or detected where every cell allows only one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from sfumato.exact.date_numbers import DAY, SECOND, Moment, day_number, iso_moment, moment_or_none, time_of_day, zone_of

ISO = "ISO 8601"
"""The name of the format that needs no declaration."""
_ISO_TIME = f"{ISO} with a time"
ISO_SHAPES = frozenset({ISO, _ISO_TIME})

_PATTERNS = {
    "%Y": r"(?P<Y>\d{4})",
    "%m": r"(?P<m>\d{1,2})",
    "%d": r"(?P<d>\d{1,2})",
    "%H": r"(?P<H>\d{1,2})",
    "%M": r"(?P<M>\d{1,2})",
    "%S": r"(?P<S>\d{1,2})",
    "%f": r"(?P<f>\d{1,9})",
    "%%": "%",
}
"""Directives that are read here; a format with any other is read by strptime."""

_TRIPLE = re.compile(
    r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})"
    r"(?P<time>[ T]\d{1,2}:\d\d(?P<second>:\d\d(?P<fraction>\.\d{1,9})?)?(?P<half> ?[AaPp][Mm])?)?",
    re.ASCII,
)
"""A date of three numbers, perhaps with a time."""

_NAMED = (
    (re.compile(r"\d{1,2}([ -]?)[A-Za-z]{3,9}\1\d{4}", re.ASCII), ("%d{0}%b{0}%Y", "%d{0}%B{0}%Y")),
    (re.compile(r"[A-Za-z]{3,9} \d{1,2}(,?) \d{4}", re.ASCII), ("%b %d{0} %Y", "%B %d{0} %Y")),
)
"""Dates with the English name of a month."""

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

_SHORT_YEAR = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2}( \d{1,2}:\d\d(:\d\d)?)?", re.ASCII)
"""A date with a year of two digits: its century, and the order of its numbers, must be declared."""

_EXAMINED = 1000
"""How many texts decide whether most look like dates."""

_SAMPLES = tuple(
    datetime(year, month, day, 13, 45, 7, 250_000, UTC) for year, month, day in ((1999, 12, 31), (2001, 2, 3), (2024, 2, 29))
)


class AmbiguousFormatError(ValueError):
    """Every cell fits two formats."""

    def __init__(self, formats: Sequence[str]) -> None:
        super().__init__(" or ".join(formats))
        self.formats = tuple(formats)


def looks_like_date(text: str) -> bool:
    """Return whether a text has the shape of a date or a time with a year of four digits, whether or not it exists.

    >>> looks_like_date("2023-02-30"), looks_like_date("3/1/2024"), looks_like_date("3/1/24"), looks_like_date("192.168.1.1")
    (True, True, False, False)
    """
    return bool(shapes([text]))


def shapes(texts: Iterable[str]) -> set[str]:
    """Return the shapes of dates that texts have; empty as soon as one of them does not look like a date.

    Texts of one shape have one format; which one may depend on the numbers, as for 1/3/2024 and 13/3/2024.
    """
    found: set[str] = set()
    for text in texts:
        shape = _shape(text.strip())
        if shape is None:
            return set()
        found.add(shape)
    return found


def _shape(text: str) -> str | None:
    try:
        moment = iso_moment(text)
    except ValueError:
        moment = Moment(0, None if len(text) == 10 else 0, None)
    if moment is not None:
        return ISO if moment.time is None else _ISO_TIME
    match = _TRIPLE.fullmatch(text)
    if match is not None:
        first, separator, _, last = match.group(1, 2, 3, 4)
        if (len(first) == 4) == (len(last) == 4) or 3 in (len(first), len(last)):
            return None
        order = f"%Y{separator}%m{separator}%d" if len(first) == 4 else f"?{separator}?{separator}%Y"
        return order + _time_format(match)
    for pattern, formats in _NAMED:
        match = pattern.fullmatch(text)
        if match is not None and _month_named(text):
            return formats[0].format(match[1])
    return None


def _month_named(text: str) -> bool:
    word = "".join(filter(str.isalpha, text)).lower()
    return any(word in (name.lower(), name[:3].lower()) for name in _MONTHS)


def _time_format(match: re.Match[str]) -> str:
    if match["time"] is None:
        return ""
    hour = "%H" if match["half"] is None else "%I"
    second = "" if match["second"] is None else ":%S" + ("" if match["fraction"] is None else ".%f")
    half = "" if match["half"] is None else " %p" if match["half"].startswith(" ") else "%p"
    return f"{match['time'][0]}{hour}:%M{second}{half}"


def detected_format(texts: Sequence[str]) -> str | None:
    """Return the only format that texts of one shape fit; None for ISO 8601.

    AmbiguousFormatError: all fit two formats. Dots mean the day first.

    >>> detected_format(["1.3.2024"]), detected_format(["1/3/2024", "1/31/2024"]), detected_format(["2024-03-01"])
    ('%d.%m.%Y', '%m/%d/%Y', None)
    """
    (shape,) = {_shape(text.strip()) for text in texts}
    assert shape is not None
    if shape.startswith(ISO):
        return None
    if shape.startswith("%"):
        if "%b" in shape and not all(_fits(text, shape) for text in texts):
            return shape.replace("%b", "%B")
        return shape
    separator, time = shape[1], shape[len("?/?/%Y") :]
    day_first, month_first = (f"{a}{separator}{b}{separator}%Y{time}" for a, b in (("%d", "%m"), ("%m", "%d")))
    numbers = [[int(part) for part in re.split(r"[./-]", text.strip(), maxsplit=2)[:2]] for text in texts]
    if any(first > 12 for first, _ in numbers):
        return day_first
    if any(second > 12 for _, second in numbers):
        return month_first
    if separator == "." or all(first == second for first, second in numbers):
        return day_first
    raise AmbiguousFormatError((day_first, month_first))


def _fits(text: str, pattern: str) -> bool:
    try:
        datetime.strptime(text.strip(), pattern)
    except ValueError:
        return False
    return True


class DateDoubt(NamedTuple):
    """Why texts that are not read as dates may be dates, and the first that is not."""

    position: int
    reason: str


def date_doubt(texts: Sequence[str]) -> DateDoubt | None:
    """Return a doubt if most texts look like dates, or all look like dates with a year of two digits; else None.

    >>> date_doubt(["2024-03-01", "2024-03-02", "soon"]).position, date_doubt(["a", "b"])
    (2, None)
    """
    some = texts[:_EXAMINED]
    if all(_SHORT_YEAR.fullmatch(text.strip()) for text in texts):
        return DateDoubt(0, "its values look like dates with years of two digits")
    odd = [i for i, text in enumerate(some) if not looks_like_date(text)]
    if 2 * len(odd) >= len(some):
        return None
    position = odd[0] if odd else next((i for i, text in enumerate(texts) if not looks_like_date(text)), None)
    return None if position is None else DateDoubt(position, "most of its values are dates")


def timezone_problem(name: str) -> str | None:
    """Return why there is no time zone of a name; None if there is one.

    >>> timezone_problem("Europe/Rome"), timezone_problem("Rome")
    (None, "there is no time zone 'Rome'")
    """
    try:
        zone_of(name)
    except (ValueError, KeyError, OSError, TypeError):
        return f"there is no time zone {name!r}"
    return None


def format_problem(pattern: str) -> str | None:
    """Return why a format cannot be used: unknown directives, or it does not determine a day; None if it can be.

    >>> format_problem("%d/%m/%Y"), format_problem("%m/%Y")
    (None, 'it does not determine a day')
    """
    try:
        for sample in _SAMPLES:
            if datetime.strptime(sample.strftime(pattern), pattern).date() != sample.date():
                return "it does not determine a day"
    except (ValueError, re.error) as error:
        return str(error)
    return None


def parse_moment(text: str, pattern: str | None) -> Moment | None:
    """Read a date or a time by a format; None: ISO 8601. The result is None if the text does not have the format.

    ValueError: it has the format, but there is no such date or time.
    """
    if pattern is None:
        return iso_moment(text)
    compiled = _compiled(pattern)
    return _by_strptime(text, pattern) if compiled is None else _by_pattern(text, compiled)


def date_reader(texts: Sequence[str], pattern: str | None) -> Callable[[str], Fraction | None]:
    """Return a function that reads dates as days since 1970-01-01: in ISO 8601, or as texts of a column are written.

    `pattern`: the declared format of the texts; without one it is detected.

    >>> read = date_reader(["11.1.1970", "2.1.1970"], None)
    >>> read("2.1.1970"), read("1970-01-02"), read("soon")
    (Fraction(1, 1), Fraction(1, 1), None)
    """
    others = [text for text in texts if moment_or_none(text) is None and looks_like_date(text)]
    if pattern is None and others and len(shapes(others)) == 1:
        try:
            pattern = detected_format(others)
        except AmbiguousFormatError:
            pattern = None

    def read(text: str) -> Fraction | None:
        try:
            moment = iso_moment(text) or (None if pattern is None else parse_moment(text.strip(), pattern))
        except ValueError:
            return None
        return None if moment is None else Fraction(moment.nanoseconds, DAY)

    return read


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    parts = re.findall(r"%.|[^%]+", pattern, re.DOTALL)
    directives = [part for part in parts if part[0] == "%" and part != "%%"]
    if len(set(directives)) < len(directives) or not {"%Y", "%m", "%d"} <= set(directives) <= _PATTERNS.keys():
        return None
    return re.compile("".join(_PATTERNS.get(part) or re.escape(part) for part in parts), re.ASCII)


def _by_pattern(text: str, pattern: re.Pattern[str]) -> Moment | None:
    match = pattern.fullmatch(text)
    if match is None:
        return None
    fields = match.groupdict()
    day = day_number(int(fields["Y"]), int(fields["m"]), int(fields["d"]))
    if not fields.keys() & {"H", "M", "S", "f"}:
        return Moment(day, None, None)
    hour, minute, second = (int(fields.get(name, 0)) for name in "HMS")
    return Moment(day, time_of_day(hour, minute, second, fields.get("f")), None)


def _by_strptime(text: str, pattern: str) -> Moment | None:
    try:
        found = datetime.strptime(text, pattern)
    except ValueError as error:
        if "does not match format" in str(error) or "unconverted data" in str(error):
            return None
        raise
    offset = found.utcoffset()
    ahead = None if offset is None else int(offset.total_seconds())
    day = day_number(found.year, found.month, found.day)
    if not re.search("%[HIMSfpcXz]", pattern):
        return Moment(day, None, None)
    time = time_of_day(found.hour, found.minute, found.second, None) + found.microsecond * (SECOND // 10**6)
    return Moment(day, time, ahead)
