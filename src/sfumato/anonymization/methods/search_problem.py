"""The rows of one search as arrays: what a search needs to know, and nothing of the table that they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.search_constraints import SearchConstraints
from sfumato.kernels.cell_shares import Shares
from sfumato.progress import Progress, silent


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """Some rows of a table, the cost of their cells, and what every group must satisfy.

    Domains, distances, thresholds and the distributions that groups are compared with are those of the whole table, also
    where the problem has only some of its rows. A problem holds arrays only, so it can be sent to another process.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [30, 61, 31, 60]}), sf.Schema(["age"]))
    >>> problem = SearchProblem.of(Task(table, (sf.KAnonymity(2),)))
    >>> problem.rows, problem.restricted(np.array([0, 2])).places.tolist()
    (4, [[0], [1]])
    """

    places: NDArray[np.int32]
    """For each row and attribute the place of its value in the domain."""
    shares: Shares
    """The cost of the cells of each attribute."""
    constraints: SearchConstraints
    columns: int
    """The number of quasi-identifiers: the first attributes; those after them are lines of sets (see `SearchSpace`)."""
    progress: Progress = silent

    @classmethod
    def of(cls, task: Task) -> SearchProblem:
        """Return the problem of a task."""
        space = task.search_space
        return cls(space.places, space.shares, task.search_constraints, len(task.domains), task.progress)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.places)

    def restricted(self, rows: NDArray[np.int64], progress: Progress = silent) -> SearchProblem:
        """Return the problem of some of the rows."""
        return replace(self, places=self.places[rows], constraints=self.constraints.restricted(rows), progress=progress)
