"""A distance: the difference of two numbers around a circle, such as the hours of a day."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Attribute, Kind
from sfumato.distances import BoundDistance, Distance
from sfumato.distances.distance import refuse_missing, require
from sfumato.exact import as_fraction


@dataclass(frozen=True)
class Circular(Distance):
    """min(d, period − d) for the difference d of two numbers, modulo the period."""

    period: int = 24

    name = "circular"
    is_metric = True

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to one numeric column."""
        column = require(attribute.single(f"the distance {self.name!r}"), (Kind.NUMERIC,), self.name)
        refuse_missing(column, f"the distance {self.name!r}")
        return _BoundCircular(attribute, self.period)


class _BoundCircular(BoundDistance):
    def __init__(self, attribute: Attribute, period: int) -> None:
        super().__init__(attribute)
        self.period = period
        self.points = [as_fraction(attribute.value(value), attribute.name) for value in range(len(attribute))]

    def _gap(self, one: int, other: int) -> Fraction:
        gap = abs(self.points[one] - self.points[other]) % self.period
        return min(gap, self.period - gap)

    def distances(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance of each pair, as floats: for display."""
        return np.array([[float(self._gap(i, j)) for j in columns] for i in rows], float)

    def near(self, rows: NDArray[np.int64], columns: NDArray[np.int64], epsilon: Fraction) -> NDArray[np.bool_]:
        """Return for each pair whether its distance is at most ε, exactly."""
        return np.array([[self._gap(i, j) <= epsilon for j in columns] for i in rows], bool)
