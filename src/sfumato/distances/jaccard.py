"""The Jaccard distance of sets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.distances.distance import BoundDistance, Distance, Indices, lone_missing, require


@dataclass(frozen=True)
class Jaccard(Distance):
    """1 − |A ∩ B| / |A ∪ B|; two empty sets are at distance 0.

    >>> Jaccard().is_metric
    True
    """

    name: ClassVar[str] = "jaccard"
    is_metric: ClassVar[bool] = True

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to one set-valued column."""
        column = require(attribute.single(f"the distance {self.name!r}"), (Kind.SET,), self.name)
        return _Bound(attribute, column)


class _Bound(BoundDistance):
    costly = True

    def __init__(self, attribute: Attribute, column: Column) -> None:
        super().__init__(attribute)
        self.column = column
        position = {item: i for i, item in enumerate(sorted(set().union(*column.sets)))}
        self.items = [np.array(sorted(position[item] for item in members), np.int64) for members in column.sets]
        self.items += [np.empty(0, np.int64)] * column.has_missing
        self.sizes = np.array([len(items) for items in self.items], np.int64)

    def _members(self, values: Indices, of_items: Indices) -> NDArray[np.float32]:
        """Return which of some items each of some sets contains, as 0 and 1."""
        sizes = self.sizes[values]
        everything = np.concatenate([self.items[value] for value in values]) if len(values) else np.empty(0, np.int64)
        place = np.searchsorted(of_items, everything)
        place[place == len(of_items)] = 0
        present = of_items[place] == everything if len(of_items) else np.zeros(len(everything), bool)
        members = np.zeros((len(values), len(of_items)), np.float32)
        members[np.repeat(np.arange(len(values)), sizes)[present], place[present]] = 1
        return members

    def _counts(self, rows: Indices, columns: Indices) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sizes of the symmetric difference and of the union of each pair.

        The product of 0-1 matrices sums small whole numbers, which floats add exactly.
        """
        items = np.unique(np.concatenate([self.items[row] for row in rows])) if len(rows) else np.empty(0, np.int64)
        both = (self._members(rows, items) @ self._members(columns, items).T).astype(np.int64)
        union = self.sizes[rows][:, None] + self.sizes[columns][None, :] - both
        return union - both, union

    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        apart, union = self._counts(rows, columns)
        return np.where(lone_missing(self.column, rows, columns), 1.0, apart / np.maximum(union, 1))

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        apart, union = self._counts(rows, columns)
        # apart/union ≤ ε: unions are few small numbers, so the largest `apart` for each is computed exactly
        limits = np.array([int(min(epsilon, Fraction(1)) * size) for size in range(int(union.max(initial=0)) + 1)])
        return np.where(lone_missing(self.column, rows, columns), epsilon >= 1, apart <= limits[union])
