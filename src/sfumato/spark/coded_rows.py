"""A table on executors whose distinct cells the driver knows: there, a row is a number for each of its cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.io.cell_counts import from_bytes
from sfumato.spark.cell_counting import CountedColumns, add_up_cells, count_cells
from sfumato.spark.cluster_frames import ClusterFrames
from sfumato.spark.cluster_parts import opened
from sfumato.spark.group_entries import CellCodes, EntryPlan, count_entries
from sfumato.spark.row_sources import RowSource

_ROWS_PER_PARTITION = 1 << 20
_ROWS_OF_ONE_PARTITION = 1 << 16
"""Rows of a table that are brought together in one partition, although the cluster has more cores."""


def count_columns(frames: ClusterFrames, rows: RowSource, names: Sequence[str]) -> list[tuple[pa.Array, NDArray[np.int64]]]:
    """Return the distinct cells of some columns in their order, null last, with the number of rows of each.

    A table without rows is an error.
    """
    shared = CountedColumns(tuple(names), rows.source)
    counted = frames.spread(rows.mapped(frames, names, count_cells, shared), len(names))
    contents = frames.mapped(counted, add_up_cells, shared)
    found = {number: from_bytes(opened(content)) for number, content in frames.collected(contents, "count the cells")}
    total = int(found[0][1].to_numpy().sum()) if found else 0
    Table.elsewhere(rows.names, total, {}, Schema(), rows.source)  # the error of a table without rows
    return [(found[number][0], found[number][1].to_numpy()) for number in range(len(names))]


def partitions_for(rows: int, cluster_cores: int) -> int:
    """Return in how many partitions executors bring together so many rows.

    >>> partitions_for(1000, 8), partitions_for(1 << 25, 8)
    (1, 32)
    """
    return 1 if rows <= _ROWS_OF_ONE_PARTITION else max(cluster_cores, math.ceil(rows / _ROWS_PER_PARTITION))


class CodedRows:
    """Some columns of a table whose rows are on executors, as entries of cell numbers."""

    def __init__(self, frames: ClusterFrames, rows: RowSource, names: Sequence[str]) -> None:
        self.frames, self.source, self.names = frames, rows, tuple(names)
        counted = count_columns(frames, rows, self.names)
        self.cells = {name: cells for name, (cells, _) in zip(self.names, counted, strict=True)}
        """The distinct cells of each column; the number of a cell is its position."""
        self.counts = {name: counts for name, (_, counts) in zip(self.names, counted, strict=True)}
        """The number of rows of each cell."""
        self.rows = int(counted[0][1].sum())

    @property
    def partitions(self) -> int:
        """In how many partitions rows are brought together."""
        return partitions_for(self.rows, int(self.frames.cluster.context.defaultParallelism))

    @property
    def plan(self) -> EntryPlan:
        """How rows become entries, in the partition in which they are."""
        columns = []
        for name in self.names:
            known = self.cells[name].drop_null()
            columns.append(CellCodes(known, np.arange(len(known), dtype=np.int32), len(known), len(self.cells[name])))
        return EntryPlan(tuple(columns), (), 1)

    @cached_property
    def entries(self) -> Any:
        """The combinations of cells that occur in each piece of the rows, with the number of rows of each."""
        return self.frames.kept(self.source.mapped(self.frames, self.names, count_entries, self.plan))

    def places(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return which columns of the entries some columns are."""
        return tuple(self.names.index(name) for name in names)
