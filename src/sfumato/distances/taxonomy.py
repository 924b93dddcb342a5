"""The distance of two values in a hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.column import Column
from sfumato.distances.distance import BoundDistance, Distance, Indices, Windows
from sfumato.errors import ColumnError


@dataclass(frozen=True)
class Taxonomy(Distance):
    """The level of the lowest common ancestor over the height of the column's hierarchy: 0 for equal, 1 at the root.

    >>> Taxonomy().is_metric
    True
    """

    name: ClassVar[str] = "taxonomy"
    is_metric: ClassVar[bool] = True

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to one column that has a hierarchy."""
        column = attribute.single(f"the distance {self.name!r}")
        return _Bound(attribute, hierarchy_paths(column, f"the distance {self.name!r}")[attribute.parts[:, 0]])


def hierarchy_paths(column: Column, required_by: str) -> NDArray[np.int32]:
    """Return for each code of a column its nodes from the leaf to the root; a column without a hierarchy is an error."""
    if column.paths is None:
        raise ColumnError(
            f"{required_by} requires a hierarchy, and the column has none",
            remedy='Declare one, such as hierarchy = "hierarchies/disease.csv".',
            column=column.name,
        )
    return column.paths


class _Bound(BoundDistance):
    def __init__(self, attribute: Attribute, paths: NDArray[np.int32]) -> None:
        super().__init__(attribute)
        self.paths = paths
        self.height = paths.shape[1] - 1

    def _levels(self, rows: Indices, columns: Indices) -> NDArray[np.int64]:
        """Return the level of the lowest common ancestor of each pair; paths are ordered from the leaf to the root."""
        level = np.full((len(rows), len(columns)), self.height)
        for depth in range(self.height - 1, -1, -1):
            level[self.paths[rows, depth][:, None] == self.paths[columns, depth][None, :]] = depth
        return level

    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        return np.asarray(self._levels(rows, columns) / self.height)

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        return np.asarray(self._levels(rows, columns) <= int(epsilon * self.height))

    def epsilon_steps(self) -> tuple[int, Callable[[int], Fraction]]:
        """Return the levels of the hierarchy over its height."""
        return self.height + 1, lambda i: Fraction(i, self.height)

    def ball_as_clique(self, epsilon: Fraction) -> tuple[BoundDistance, Fraction]:
        """Return ε: a node covers values exactly if no two of them have a higher common ancestor."""
        return self, epsilon

    def windows(self, epsilon: Fraction) -> Windows:
        # Sorted from the root down, the values under one node are consecutive: they are the window at the node's level.
        order = np.lexsort(self.paths.T)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        level = min(int(epsilon * self.height), self.height)
        node = self.paths[order, level]
        first = np.flatnonzero(np.concatenate([[True], node[1:] != node[:-1]]))
        sizes = np.diff(np.append(first, len(node)))
        return Windows(rank, np.repeat(first, sizes), np.repeat(first + sizes, sizes))
