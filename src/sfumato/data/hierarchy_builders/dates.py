"""Calendar periods of dates: days, weeks, months, quarters, years, decades."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, NamedTuple

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.hierarchy_builders.built_tree import built_tree
from sfumato.errors import HierarchyError, ParameterError
from sfumato.exact.date_numbers import EPOCH, moment_or_none


class _Period(NamedTuple):
    """A kind of period: how one is written, and the first day of the one that contains a day."""

    label: Callable[[date], str]
    start: Callable[[date], date]
    step: int
    """So many days after its first day, the next period has begun and not ended."""
    pattern: re.Pattern[str]
    upper: tuple[str, ...]
    """The periods that consist of whole ones of this kind."""


def _week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def _monday(day: date) -> date:
    return date.fromordinal(max(1, day.toordinal() - day.weekday()))


def _decade(day: date) -> int:
    return day.year // 10 * 10


PERIODS: dict[str, _Period] = {
    "day": _Period(date.isoformat, lambda day: day, 1, re.compile(r"\d{4}-\d\d-\d\d", re.ASCII),
                   ("week", "month", "quarter", "year", "decade")),
    "week": _Period(_week, _monday, 7, re.compile(r"\d{4}-W(0[1-9]|[1-4]\d|5[0-3])", re.ASCII), ()),
    "month": _Period(lambda day: f"{day.year:04}-{day.month:02}", lambda day: day.replace(day=1), 31,
                     re.compile(r"\d{4}-(0[1-9]|1[0-2])", re.ASCII), ("quarter", "year", "decade")),
    "quarter": _Period(lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
                       lambda day: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1), 92,
                       re.compile(r"\d{4}-Q[1-4]", re.ASCII), ("year", "decade")),
    "year": _Period(lambda day: f"{day.year:04}", lambda day: day.replace(month=1, day=1), 366,
                    re.compile(r"\d{4}", re.ASCII), ("decade",)),
    "decade": _Period(lambda day: f"{_decade(day):04}s", lambda day: date(max(1, _decade(day)), 1, 1), 3653,
                      re.compile(r"\d{3}0s", re.ASCII), ()),
}  # fmt: skip
"""The periods of the calendar, from short to long. A week may belong to two months and two years, so it nests in none."""


@dataclass(frozen=True)
class Dates(HierarchyBuilder):
    """Builds calendar periods of dates, from short to long: `2024-03-01` is in `2024-03`, `2024-Q1`, `2024`, `2020s`.

    Weeks are those of ISO 8601, from Monday to Sunday: `2024-W09`. A time belongs to the day that its own clock shows.

    >>> Dates(("month", "quarter", "year")).build(["2024-03-01"], "seen").rows()
    [['2024-03-01', '2024-03', '2024-Q1', '2024', '*']]
    """

    periods: tuple[str, ...]

    key: ClassVar[str] = "dates"

    def __post_init__(self) -> None:
        periods = (self.periods,) if isinstance(self.periods, str) else tuple(self.periods)
        object.__setattr__(self, "periods", periods)
        unknown = [period for period in periods if period not in PERIODS]
        if unknown or not periods:
            problem = f"there is no period {unknown[0]!r}" if unknown else "a hierarchy of dates has no periods"
            raise ParameterError(
                problem,
                remedy=f"Write some of: {', '.join(PERIODS)}; from short to long.",
                key=self.key,
                value=self.periods,
            )
        for short, long in pairwise(periods):
            if long not in PERIODS[short].upper:
                raise ParameterError(
                    f"the periods {short!r} and {long!r} do not nest",
                    remedy='Write them from short to long, such as ["month", "quarter", "year"]; no period follows a week.',
                    key=self.key,
                    value=self.periods,
                )

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.periods) + 1

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values: dates or times in ISO 8601."""
        nodes = []
        for value in values:
            if moment_or_none(value) is None:
                raise HierarchyError(
                    f"calendar periods need dates, and {value!r} is not one",
                    remedy='Declare kind = "date", or another hierarchy.',
                    column=column,
                    value=value,
                )
            day = date.fromisoformat(value[:10])
            nodes.append([PERIODS[period].label(day) for period in self.periods])
        return built_tree(values, nodes, column)

    def is_node(self, label: str, level: int) -> bool:
        """Return whether a label is a period of a level.

        >>> Dates(("month", "year")).is_node("2024-02", 1), Dates(("month", "year")).is_node("2024-13", 1)
        (True, False)
        """
        return PERIODS[self.periods[level - 1]].pattern.fullmatch(label) is not None

    def days_of(self, label: str) -> tuple[Fraction, Fraction] | None:
        """Return the days of a period by its label: its first, and the one after its last; None if there is no such period.

        >>> Dates(("quarter",)).days_of("1970-Q2"), Dates(("year",)).days_of("1970-Q2")
        ((Fraction(90, 1), Fraction(181, 1)), None)
        """
        for level, period in enumerate(self.periods, start=1):
            if self.is_node(label, level):
                day = _first_day(period, label)
                return None if day is None else self.span(Fraction(day.toordinal() - EPOCH), level)
        return None

    def span(self, number: Fraction, level: int) -> tuple[Fraction, Fraction]:
        """Return the days since 1970-01-01 of the period that contains a day: its first, and the one after its last.

        >>> Dates(("month",)).span(Fraction(40), 1)
        (Fraction(31, 1), Fraction(59, 1))
        """
        period = PERIODS[self.periods[level - 1]]
        day = date.fromordinal(int(number // 1) + EPOCH)
        first = period.start(day)
        following = period.start(date.fromordinal(min(first.toordinal() + period.step, date.max.toordinal())))
        return Fraction(first.toordinal() - EPOCH), Fraction(following.toordinal() - EPOCH)


def _first_day(period: str, label: str) -> date | None:
    """Return the first day of a period; None if the calendar has no such period."""
    year = int(label[:4])
    try:
        if period == "day":
            return date.fromisoformat(label)
        if period == "week":
            return date.fromisocalendar(year, int(label[6:]), 1)
        month = {"month": lambda: int(label[5:]), "quarter": lambda: 3 * int(label[6:]) - 2}.get(period, lambda: 1)()
        return date(max(year, 1), month, 1)
    except ValueError:
        return None
