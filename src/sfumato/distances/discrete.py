"""The discrete distance: equal or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.distances.distance import BoundDistance, Distance, Indices, Windows


@dataclass(frozen=True)
class Discrete(Distance):
    """0 between equal values, 1 between different ones; for values without a notion of nearness.

    >>> Discrete().is_metric
    True
    """

    name: ClassVar[str] = "discrete"
    is_metric: ClassVar[bool] = True

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to any attribute."""
        return _Bound(attribute)


class _Bound(BoundDistance):
    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        return np.asarray(rows[:, None] != columns[None, :], float)

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        return np.asarray((rows[:, None] == columns[None, :]) | (epsilon >= 1))

    def epsilon_steps(self) -> tuple[int, Callable[[int], Fraction]]:
        """Return 0 and 1."""
        return 2, Fraction

    def ball_as_clique(self, epsilon: Fraction) -> tuple[BoundDistance, Fraction]:
        """Return ε: around any value lies that value alone, or everything."""
        return self, epsilon

    def windows(self, epsilon: Fraction) -> Windows:
        size = len(self.attribute)
        rank = np.arange(size)
        if epsilon >= 1:
            return Windows(rank, np.zeros(size, np.int64), np.full(size, size))
        return Windows(rank, rank, rank + 1)
