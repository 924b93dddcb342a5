"""The smallest coordinate difference, as in the running example of Wang & Liu (2010)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.schema import Kind
from sfumato.distances.distance import BoundDistance, Distance, Indices, refuse_missing, require
from sfumato.exact import Numbers


@dataclass(frozen=True)
class MinCoordinate(Distance):
    """min |pⱼ − qⱼ| over the attribute's columns. Source: Wang & Liu (2010), Example 2.

    Not a metric, not even a pseudo-metric, although the source calls it one: (0,0) is at 0 from (0,1), and (0,1) at 0 from
    (1,1), which is at 1 from (0,0).

    >>> MinCoordinate().is_metric
    False
    """

    name: ClassVar[str] = "min-coordinate"
    is_metric: ClassVar[bool] = False

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to numeric columns without missing values."""
        numbers = []
        for column in attribute.columns:
            require(column, (Kind.NUMERIC, Kind.DATE), self.name)
            refuse_missing(column, f"the distance {self.name!r}")
            assert column.numbers is not None
            numbers.append(column.numbers)
        return _Bound(attribute, numbers)


class _Bound(BoundDistance):
    def __init__(self, attribute: Attribute, numbers: list[Numbers]) -> None:
        super().__init__(attribute)
        self.numbers = numbers

    def _gaps(self, j: int, rows: Indices, columns: Indices) -> NDArray[np.int64]:
        integers = self.numbers[j].integers
        parts = self.attribute.parts[:, j]
        return np.asarray(np.abs(integers[parts[rows]][:, None] - integers[parts[columns]][None, :]))

    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        gaps = [self._gaps(j, rows, columns).astype(float) * float(numbers.unit) for j, numbers in enumerate(self.numbers)]
        return np.asarray(np.minimum.reduce(gaps))

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        close = np.zeros((len(rows), len(columns)), bool)
        for j, numbers in enumerate(self.numbers):
            close |= (self._gaps(j, rows, columns) <= numbers.steps(epsilon)).astype(bool)
        return close
