"""The total variation distance of distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.attribute import Attribute
from sfumato.data.schema import Kind
from sfumato.distances.coordinate_sums import Coordinate, SumDistance
from sfumato.distances.distance import BoundDistance, Distance, refuse_missing, require


@dataclass(frozen=True)
class TotalVariation(Distance):
    """½·Σ|pⱼ − qⱼ|: half the L¹ distance of two distributions over the attribute's columns.

    Source: Wang, Meng, Bamba, Liu & Pu (2009).

    >>> TotalVariation().is_metric
    True
    """

    name: ClassVar[str] = "total-variation"
    is_metric: ClassVar[bool] = True

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to numeric columns without missing values."""
        coordinates = []
        for j, column in enumerate(attribute.columns):
            require(column, (Kind.NUMERIC,), self.name)
            refuse_missing(column, f"the distance {self.name!r}")
            assert column.numbers is not None
            integers = column.numbers.integers[attribute.parts[:, j]]
            widest = (int(integers.max()) - int(integers.min())) * column.numbers.unit
            coordinates.append(Coordinate(integers, None, column.numbers.unit / 2, widest / 2, False))
        return SumDistance(attribute, coordinates, 1)
