"""The absolute difference of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.distances.distance import BoundDistance, Distance, Indices, Windows, lone_missing, require
from sfumato.exact import Numbers
from sfumato.exact.ratios import Integers


@dataclass(frozen=True)
class Absolute(Distance):
    """|x − y| in the column's own unit: ε = 5000 means 5000 dollars. Dates and times are compared in days: ε = 7 is a week.

    >>> Absolute().is_metric
    True
    """

    name: ClassVar[str] = "absolute"
    is_metric: ClassVar[bool] = True

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to one column of numbers or dates."""
        column = require(attribute.single(f"the distance {self.name!r}"), (Kind.NUMERIC, Kind.DATE), self.name)
        return _Bound(attribute, column)


def number_windows(numbers: Numbers, below: Fraction, above: Fraction) -> tuple[Indices, Indices]:
    """Return for each of some ascending numbers x the positions of those in [x − below, x + above]: first, one past last."""
    integers = numbers.integers
    reach = int(integers[-1]) - int(integers[0])
    down, up = min(numbers.steps(below), reach), min(numbers.steps(above), reach)
    low = np.searchsorted(integers, integers - down, side="left")
    high = np.searchsorted(integers, integers + up, side="right")
    return low, high


def with_missing(low: Indices, high: Indices, column: Column) -> tuple[Indices, Indices]:
    """Add the window of the missing value, which comes last and is near itself only."""
    if column.has_missing:
        size = column.size
        return np.append(low, size), np.append(high, size + 1)
    return low, high


class _Bound(BoundDistance):
    def __init__(self, attribute: Attribute, column: Column) -> None:
        super().__init__(attribute)
        assert column.numbers is not None
        self.column = column
        self.numbers = column.numbers

    def _steps(self, rows: Indices, columns: Indices) -> Integers:
        """Return how many units two values are apart; the number is meaningless for a missing value."""
        integers = np.append(self.numbers.integers, 0)
        return np.asarray(np.abs(integers[rows][:, None] - integers[columns][None, :]))

    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        gaps = self._steps(rows, columns).astype(float) * float(self.numbers.unit)
        return np.where(lone_missing(self.column, rows, columns), np.inf, gaps)

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        close = (self._steps(rows, columns) <= self.numbers.steps(epsilon)).astype(bool)
        return close & ~lone_missing(self.column, rows, columns)

    def ball_as_clique(self, epsilon: Fraction) -> tuple[BoundDistance, Fraction]:
        """Return 2ε: an interval of that width contains numbers exactly if no two of them are farther apart."""
        return self, 2 * epsilon

    def epsilon_steps(self) -> tuple[int, Callable[[int], Fraction]]:
        """Return all multiples of the unit up to the range of the numbers."""
        numbers = self.numbers
        reach = int(numbers.integers[-1]) - int(numbers.integers[0]) if len(numbers) else 0
        return reach + 1, lambda i: i * numbers.unit

    def windows(self, epsilon: Fraction) -> Windows:
        if not len(self.numbers):
            return Windows(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.int64))
        low, high = with_missing(*number_windows(self.numbers, epsilon, epsilon), self.column)
        return Windows(np.arange(len(self.attribute)), low, high)
