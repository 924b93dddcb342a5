"""A method: sort the rows, and cut them into the smallest equal blocks in which every principle holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import sfumato as sf
from sfumato.anonymization import Grouping, Task


@dataclass(frozen=True)
class Blocks(sf.Method):
    """Sort the rows by their quasi-identifiers and cut them into blocks, doubling their size until all principles hold."""

    start: int = 2
    """The size of the first blocks."""

    name = "blocks"

    def __post_init__(self) -> None:
        self.check_whole("start")

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Find the groups. Nothing is random."""
        del seed
        rows = task.table.rows
        order = np.lexsort(task.places.T[::-1])
        of_row = np.zeros(rows, np.int64)
        size = self.start
        while size < rows:
            # the last block takes the rows that are left over
            of_row[order] = np.minimum(np.arange(rows) // size, max(rows // size, 1) - 1)
            if task.satisfied(of_row).all():
                return Grouping(of_row, (f"blocks of {size} rows",))
            size *= 2
        return Grouping(np.zeros(rows, np.int64))
