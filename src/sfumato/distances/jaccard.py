"""The Jaccard distance of sets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attribute import Attribute
from sfumato.distances.base import BoundDistance, Distance, Indices, lone_missing, require
from sfumato.schema import Kind
from sfumato.table import Column


@dataclass(frozen=True)
class Jaccard(Distance):
    """1 − |A ∩ B| / |A ∪ B|; two empty sets are at distance 0.

    >>> Jaccard().is_metric
    True
    """

    name: ClassVar[str] = "jaccard"
    is_metric: ClassVar[bool] = True

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Apply to one set-valued column."""
        column = require(attribute.single(f"the distance {self.name!r}"), (Kind.SET,), self.name)
        return _Bound(attribute, column)


class _Bound(BoundDistance):
    def __init__(self, attribute: Attribute, column: Column) -> None:
        super().__init__(attribute)
        items = sorted(set().union(*column.sets))
        position = {item: i for i, item in enumerate(items)}
        self.column = column
        self.members = np.zeros((column.domain, len(items)), np.float64)
        for code, members in enumerate(column.sets):
            self.members[code, [position[item] for item in members]] = 1
        self.sizes = self.members.sum(axis=1).astype(np.int64)

    def _counts(self, rows: Indices, columns: Indices) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sizes of the symmetric difference and of the union of each pair (whole numbers, so floats add exactly)."""
        both = (self.members[rows] @ self.members[columns].T).astype(np.int64)
        union = self.sizes[rows][:, None] + self.sizes[columns][None, :] - both
        return union - both, union

    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        apart, union = self._counts(rows, columns)
        return np.where(lone_missing(self.column, rows, columns), np.inf, apart / np.maximum(union, 1))

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        apart, union = self._counts(rows, columns)
        # apart/union ≤ ε; unions are few small numbers, so the limit of each is found exactly
        limits = np.array([int(min(epsilon, Fraction(1)) * size) for size in range(int(union.max(initial=0)) + 1)])
        return np.asarray((apart <= limits[union]) & ~lone_missing(self.column, rows, columns))
