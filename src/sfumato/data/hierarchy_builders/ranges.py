"""Ranges of numbers with ends that the user chooses."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder, number_of
from sfumato.data.hierarchy_builders.built_tree import built_tree
from sfumato.errors import HierarchyError, ParameterError
from sfumato.exact import Number, as_fraction, written

End = Fraction | float
"""The end of a range: exact, or an infinity."""


@dataclass(frozen=True)
class Range:
    """One range: from `low` to `high`, which belongs to it only if it is the highest of its level."""

    label: str
    low: End
    high: End
    closed: bool

    def contains(self, other: Range) -> bool:
        """Return whether another range lies in this one."""
        inside = self.low <= other.low and other.high <= self.high
        return inside and (self.closed or not other.closed or other.high < self.high)


@dataclass(frozen=True)
class Ranges(HierarchyBuilder):
    """Builds ranges of numbers, one level per list of their ends, from narrow to wide.

    A level is a list of ends, or names with two ends each. A range contains its lower end and not its upper one; the
    highest range of a level contains both. `"-inf"` and `"inf"` leave an end open. Every range lies in one of the next
    level. A number outside all ranges of a level is an error.

    >>> Ranges([[0, 18, 65, 120], {"minor": [0, 18], "adult": [18, 120]}]).build(["17", "65"], "age").rows()
    [['17', '[0, 18)', 'minor', '*'], ['65', '[65, 120]', 'adult', '*']]
    >>> Ranges([["-inf", 18, "inf"]]).build(["17", "18"], "age").rows()
    [['17', '< 18', '*'], ['18', '>= 18', '*']]
    """

    levels: tuple[tuple[Any, ...], ...]
    """For each level the ends, or the name and both ends of each range."""

    key: ClassVar[str] = "ranges"

    def __post_init__(self) -> None:
        if not isinstance(self.levels, list | tuple) or not self.levels:
            raise self._invalid("there are no ranges", self.levels)
        # one level does not need a list of its own
        declared = self.levels if isinstance(self.levels[0], list | tuple | Mapping) else (self.levels,)
        object.__setattr__(self, "levels", tuple(map(_frozen, declared)))
        for lower, upper in pairwise(self._ranges):
            for each in lower:
                if not any(one.contains(each) for one in upper):
                    raise self._invalid(f"the range {each.label!r} does not lie in one range of the next level", declared)

    def _invalid(self, problem: str, value: object) -> ParameterError:
        return ParameterError(
            f"invalid ranges: {problem}",
            remedy="Write rising ends level by level, such as [[0, 18, 65, 120], [0, 65, 120]], or named ranges such as "
            '[{ young = [0, 40], old = [40, 120] }]; "-inf" and "inf" leave an end open.',
            key="ranges",
            value=value,
        )

    @cached_property
    def _ranges(self) -> tuple[tuple[Range, ...], ...]:
        """The ranges of each level, rising."""
        return tuple(map(self._level, self.levels))

    def _level(self, declared: tuple[Any, ...]) -> tuple[Range, ...]:
        named = bool(declared) and isinstance(declared[0], tuple)
        if named and any(len(each) != 3 for each in declared):
            raise self._invalid("a named range needs two ends", declared)
        pairs = [(each[1], each[2]) for each in declared] if named else list(pairwise(declared))
        ends = sorted((_end(low), _end(high), index) for index, (low, high) in enumerate(pairs))
        if not ends:
            raise self._invalid("a level has no range", declared)
        rising = all(low < high for low, high, _ in ends) and all(one[1] <= next_[0] for one, next_ in pairwise(ends))
        if not rising or (not named and [index for *_, index in ends] != list(range(len(ends)))):
            raise self._invalid("the ends of a level do not rise, or ranges overlap", declared)
        ranges = []
        for low, high, index in ends:
            closed = high == ends[-1][1]
            label = str(declared[index][0]) if named else _label(low, high, closed)
            ranges.append(Range(label, low, high, closed))
        if len({each.label for each in ranges}) < len(ranges):
            raise self._invalid("two ranges of a level have the same name", declared)
        return tuple(ranges)

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.levels) + 1

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values."""
        return built_tree(
            values, [self._path(value, number_of(value, column, "ranges"), column) for value in values], column
        )

    def _path(self, value: str, number: Fraction, column: str) -> list[str]:
        path = []
        for ranges in self._ranges:
            index = bisect_right([each.low for each in ranges], number) - 1
            found = ranges[index] if index >= 0 else None
            if found is None or not (number < found.high or (found.closed and number == found.high)):
                raise HierarchyError(
                    f"{value!r} lies in none of the ranges of a level ({', '.join(each.label for each in ranges)})",
                    remedy='Add a range that contains it; "-inf" and "inf" leave an end open.',
                    column=column,
                    value=value,
                )
            path.append(found.label)
        return path

    def is_node(self, label: str, level: int) -> bool:
        """Return whether a label is one of the ranges of a level."""
        return any(each.label == label for each in self._ranges[level - 1])

    def section(self) -> dict[str, Any]:
        """Return the builder as plain data: a level of named ranges is a table."""
        levels: list[Any] = []
        for declared in self.levels:
            if isinstance(declared[0], tuple):
                levels.append({name: [low, high] for name, low, high in declared})
            else:
                levels.append(list(declared))
        return {self.key: levels}


def _frozen(level: Any) -> tuple[Any, ...]:
    """Return a level as a tuple of its ends, or of the name and the ends of each range; equal numbers become equal."""
    if isinstance(level, Mapping):
        level = [(name, *ends) if isinstance(ends, list | tuple) else (name,) for name, ends in level.items()]
    if not isinstance(level, list | tuple):
        raise ParameterError(
            f"invalid level {level!r} of ranges", remedy="Write a list of ends, or named ranges.", key="ranges", value=level
        )
    return tuple(
        (str(each[0]), *map(_plain, each[1:])) if isinstance(each, list | tuple) else _plain(each) for each in level
    )


def _end(value: Number) -> End:
    text = str(value).strip().lower()
    if text in ("inf", "infinity", "-inf", "-infinity"):
        return -math.inf if text.startswith("-") else math.inf
    return as_fraction(value, "ranges")


def _plain(value: Number) -> int | str:
    """Return an end as a config states it."""
    end = _end(value)
    if isinstance(end, float):
        return "-inf" if end < 0 else "inf"
    return int(end) if end.denominator == 1 else written(end)


def _label(low: End, high: End, closed: bool) -> str:
    if isinstance(low, float):
        return "any number" if isinstance(high, float) else f"{'<=' if closed else '<'} {written(high)}"
    if isinstance(high, float):
        return f">= {written(low)}"
    return f"[{written(low)}, {written(high)}{']' if closed else ')'}"


def simple_number_between(low: Fraction, high: Fraction) -> Fraction:
    """Return a decimal with the fewest digits of those that are above `low` and at most `high`; of several the lowest.

    >>> simple_number_between(Fraction(34), Fraction(37)), simple_number_between(Fraction(96), Fraction(104))
    (Fraction(35, 1), Fraction(100, 1))
    """
    step = Fraction(1)
    while step <= high - low:
        step *= 10
    while True:
        number = (math.floor(low / step) + 1) * step
        if number <= high:
            return number
        step /= 10
