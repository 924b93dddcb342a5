"""A loss of the method lattice: the share of cells that are published as `*`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.full_domain import NodeCosts


class StarShare(NodeCosts):
    """The share of cells published as `*`, at the top of the hierarchy; a suppressed row counts in full."""

    name = "star-share"

    def costs(self) -> list[tuple[NDArray[np.int64], int]]:
        """Return 1 for every code at the top level, and 0 below: coarser nodes must not cost less."""
        found = []
        for column in self.cube.columns:
            cost = np.zeros_like(column.leaves)
            cost[-1] = 1
            found.append((cost, 1))
        return found
