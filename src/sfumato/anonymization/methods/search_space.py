"""What a search minimises: the shares of cells, weighted, and lines along which associated values are kept apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.cell_share_arrays import share_arrays
from sfumato.anonymization.methods.method import Task
from sfumato.kernels.cell_shares import Shares


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """The attributes whose cells cost something in a search: the quasi-identifiers, in their order.

    The cost of a cell is its share (see `Domain.share`) times the weight of its column.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.kernels.cell_shares import share
    >>> people = sf.Table(pa.table({"age": [20, 60], "sex": ["f", "m"]}), sf.Schema(["age", "sex"], weights={"age": 3}))
    >>> space = SearchSpace.of(Task(people, ()))
    >>> share(space.shares, 0, 0, 1, 2), share(space.shares, 1, 0, 1, 2)
    (1.5, 0.5)
    """

    places: NDArray[np.int32]
    """For each row and attribute the place of its value."""
    shares: Shares

    @classmethod
    def of(cls, task: Task) -> SearchSpace:
        """Return the search space of a task."""
        return cls(task.places, share_arrays(task.domains, task.weights))
