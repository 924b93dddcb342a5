"""The Jaccard distance of sets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.distances.distance import BoundDistance, Distance, Indices, PairwiseDistance, lone_missing, require


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


class _Bound(PairwiseDistance):
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

    @cached_property
    def _flat(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All items, set after set, and where each set begins."""
        return np.concatenate([*self.items, np.empty(0, np.int64)]), np.append(0, np.cumsum(self.sizes))

    def _common(self, ones: Indices, others: Indices) -> NDArray[np.int64]:
        """Return how many items the two sets of each listed pair have in common."""
        from sfumato.kernels.set_overlaps import set_overlaps

        common = np.empty(len(ones), np.int64)
        set_overlaps(*self._flat, ones, others, common)
        return common

    def _parts(self, ones: Indices, others: Indices) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return numerator and denominator of the distance of each listed pair."""
        common = self._common(ones, others)
        union = self.sizes[ones] + self.sizes[others] - common
        lone = (ones == self.column.size) != (others == self.column.size)
        return np.where(lone, 1, union - common), np.where(lone, 1, np.maximum(union, 1))

    def of_pairs(self, ones: Indices, others: Indices) -> NDArray[np.float64]:
        apart, union = self._parts(ones, others)
        return np.asarray(apart / union)

    def exactly(self, ones: Indices, others: Indices) -> list[Fraction]:
        apart, union = self._parts(ones, others)
        return [_ratio(*pair) for pair in zip(apart.tolist(), union.tolist(), strict=True)]


@lru_cache(maxsize=1 << 16)
def _ratio(apart: int, union: int) -> Fraction:
    """Return a distance; cached, since the same few sizes recur."""
    return Fraction(apart, union)
