"""The rows of one search as arrays: what a search needs to know, and nothing of the table that they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.search_constraints import ConstraintValues, SearchConstraints
from sfumato.kernels.cell_shares import Shares
from sfumato.progress import Progress, silent


class ProblemRows(NamedTuple):
    """What a problem knows of some of its rows, as arrays."""

    places: NDArray[np.int32]
    values: ConstraintValues


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
        return self.with_rows(self.rows_of(rows), progress)

    def rows_of(self, rows: NDArray[np.int64]) -> ProblemRows:
        """Return what is known of some of the rows: `with_rows` makes the problem of these rows again."""
        return ProblemRows(self.places[rows], self.constraints.values_of(rows))

    def without_rows(self) -> SearchProblem:
        """Return what all parts of the problem share: everything but the rows."""
        none = self.rows_of(np.zeros(0, np.int64))
        return replace(self, places=none.places, constraints=self.constraints.with_values(none.values), progress=silent)

    def with_rows(self, rows: ProblemRows, progress: Progress = silent) -> SearchProblem:
        """Return the problem of other rows, with domains, distances and distributions as they are."""
        constraints = self.constraints.with_values(rows.values)
        constraints = replace(constraints, least=constraints.smallest_size(len(rows.places)))
        return replace(self, places=rows.places, constraints=constraints, progress=progress)
