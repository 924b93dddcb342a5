"""What a new person costs in a group: by how much the loss of the group rises."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.search_space import SearchSpace
from sfumato.kernels.cell_shares import shares_of

Integers = NDArray[np.int64]


class GroupCosts:
    """The costs of rows in groups, whose cells are given by the rows that they contain."""

    def __init__(self, space: SearchSpace) -> None:
        self.places = space.places.astype(np.int64)
        self.shares = space.shares
        self.width = self.places.shape[1]
        """The loss of a row whose cells are all `*`: weights have the mean 1."""

    def of_joining(self, groups: list[list[int]], rows: Integers) -> NDArray[np.float64]:
        """Return for each group and each of some rows by how much the total loss rises if the row joins the group."""
        out = np.empty((len(groups), len(rows)))
        for at, members in enumerate(groups):
            own = self.places[members]
            low, high = own.min(axis=0), own.max(axis=0)
            before = self._cost(low[None], high[None], len(members))[0] * len(members)
            wide = self.places[rows]
            after = self._cost(np.minimum(low, wide), np.maximum(high, wide), len(members) + 1)
            out[at] = after * (len(members) + 1) - before
        return out

    def _cost(self, low: Integers, high: Integers, distinct: int) -> NDArray[np.float64]:
        """Return the loss of a row for each pair of ends; `distinct`: at most so many values are in a cell."""
        cost = np.empty(low.shape)
        shares_of(self.shares, low, high, np.full(low.shape, distinct), cost)
        return np.asarray(cost.sum(axis=1))
