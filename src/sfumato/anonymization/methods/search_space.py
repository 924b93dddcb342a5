"""What a search minimises: the shares of cells, weighted, and lines along which associated values are kept apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.association_lines import association_lines
from sfumato.anonymization.methods.cell_share_arrays import line_places, set_lines, share_arrays
from sfumato.anonymization.methods.method import Task
from sfumato.kernels.cell_shares import Shares
from sfumato.storage import stored


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """The attributes whose cells cost something in a search: the quasi-identifiers in their order, then lines of sets.

    The cost of a cell is its share (see `Domain.share`) times the weight of its column. A group also costs, for each
    association that the schema preserves, how far apart the usual outcomes of its values are.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.kernels.cell_shares import share
    >>> people = sf.Table(pa.table({"age": [20, 60], "sex": ["f", "m"]}), sf.Schema(["age", "sex"], weights={"age": 3}))
    >>> space = SearchSpace.of(Task(people, ()))
    >>> [float(share(space.shares, j, 0, 1, 2)) for j in (0, 1)]
    [1.5, 0.5]
    """

    places: NDArray[np.int32]
    """For each row and attribute the place of its value."""
    shares: Shares

    @classmethod
    def of(cls, task: Task) -> SearchSpace:
        """Return the search space of a task."""
        k = max((principle.implied_k or 1 for principle in task.principles), default=1)
        lines = association_lines(task.table, task.domains, k)
        columns: list[NDArray[np.int32]] = [task.places]
        for line in set_lines(task.domains, lines):
            j = task.table.schema.quasi_identifiers.index(line.column)
            columns.append(line_places(line)[1][task.places[:, j : j + 1]])
        places = columns[0] if len(columns) == 1 else stored(np.concatenate(columns, axis=1))
        return cls(places, share_arrays(task.domains, task.weights, lines))
