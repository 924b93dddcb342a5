"""The published transformation of a release: which group covers a new row, and which columns of a row no group covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.analysis.released_column import ReleasedColumn
from sfumato.data.column import Column
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.releases.cell_coverage import CellReader
from sfumato.releases.models import GroupedTable

_AT_ONCE = 1 << 24
"""The number of pairs of a row and a group that are compared at a time; bounds memory."""


@dataclass(frozen=True, eq=False)
class Transformation:
    """The cells of the groups of a release, the most specific group first.

    A group is as specific as the mean loss of its cells is low: 0 for a value, the share of the published range or values
    for anything else, 1 for `*`. Groups that are equally specific are in the order of their numbers.
    """

    columns: tuple[ReleasedColumn, ...]
    """The quasi-identifiers."""
    recodings: tuple[str, ...]
    numbers: NDArray[np.int64]
    """The published numbers of the groups."""
    cells: NDArray[np.int64]
    """For each column and group the number of the cell."""

    @classmethod
    def of(cls, document: GroupedTable, released: Table, declared: Schema) -> Transformation:
        """Read the transformation from the table of a release."""
        published = [column for column in document.columns if column.role == "quasi-identifier"]
        columns = tuple(ReleasedColumn.read(column, released, declared) for column in published)
        group = released.column(document.group)
        first = np.zeros(group.size, np.int64)
        first[group.codes[::-1]] = np.arange(released.rows - 1, -1, -1)
        cells = np.array([column.of_row[first] for column in columns], np.int64).reshape(len(columns), -1)
        losses = np.zeros(group.size)
        for column, of_group in zip(columns, cells, strict=True):
            losses += cell_losses(column)[of_group]
        numbers = np.array([int(group.label(code)) for code in range(group.size)], np.int64)
        order = np.lexsort((numbers, np.round(losses, 12)))
        return cls(columns, tuple(str(column.recoding) for column in published), numbers[order], cells[:, order])

    def assign(self, table: Table) -> Assignment:
        """Find for each row the most specific group whose cells cover all its quasi-identifiers."""
        encoded = [table.column(column.name) for column in self.columns]
        codes = np.array([column.codes for column in encoded], np.int64).reshape(len(encoded), table.rows)
        distinct, of_row = np.unique(codes, axis=1, return_inverse=True)
        covered = [self._covered(position, column) for position, column in enumerate(encoded)]
        chosen = np.full(distinct.shape[1], -1, np.int64)
        nearest = np.zeros(distinct.shape[1], np.int64)
        step = max(1, _AT_ONCE // max(1, len(self.numbers)))
        for start in range(0, distinct.shape[1], step):
            part = distinct[:, start : start + step]
            fits = np.zeros((part.shape[1], len(self.numbers)), np.int16)
            for of_code, column_codes in zip(covered, part, strict=True):
                fits += of_code[column_codes]
            nearest[start : start + step] = fits.argmax(axis=1)
            whole = fits.max(axis=1) == len(self.columns)
            chosen[start : start + step][whole] = nearest[start : start + step][whole]
        return Assignment(self, chosen[of_row.ravel()], nearest[of_row.ravel()], covered, codes)

    def _covered(self, position: int, column: Column) -> NDArray[np.bool_]:
        """Return for each code of a column of the new rows, and each group, whether the cell of the group covers it."""
        cells = self.columns[position].cells
        reader = CellReader([cell.text for cell in cells], column, self.recodings[position])
        found = reader.covers(np.arange(len(cells))[None, :], np.arange(column.domain)[:, None])
        return np.asarray(found[:, self.cells[position]])


@dataclass(frozen=True, eq=False)
class Assignment:
    """The group of each new row, by its position in the transformation; −1 for a row that fits no group."""

    transformation: Transformation
    group: NDArray[np.int64]
    nearest: NDArray[np.int64]
    """The group that covers most of the columns of a row."""
    covered: Sequence[NDArray[np.bool_]]
    codes: NDArray[np.int64]

    def misses(self, row: int) -> tuple[str, ...]:
        """Return the columns of a row that its nearest group does not cover."""
        at = self.nearest[row]
        columns = self.transformation.columns
        return tuple(
            column.name
            for position, column in enumerate(columns)
            if not self.covered[position][self.codes[position, row], at]
        )

    def published(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """Return the cells of some rows that have a group, column by column."""
        of_group = self.group[rows]
        columns = {}
        for position, column in enumerate(self.transformation.columns):
            texts = pa.array([cell.text or None for cell in column.cells], pa.string())
            columns[column.name] = texts.take(pa.array(self.transformation.cells[position, of_group]))
        return columns


def cell_losses(column: ReleasedColumn) -> NDArray[np.float64]:
    """Return the loss of each cell of a column: 0 for a value, 1 for `*`, else its share of what is published."""
    values = len({value for cell in column.cells for value in cell.values})
    ends = [end for cell in column.cells for end in (cell.low, cell.high) if end is not None]
    width = max(ends) - min(ends) if ends else 0
    losses = []
    for cell in column.cells:
        if cell.exact:
            losses.append(0.0)
        elif cell.withheld:
            losses.append(1.0)
        elif cell.low is not None and cell.high is not None and width:
            losses.append(float((cell.high - cell.low) / width))
        else:
            losses.append(len(cell.values) / max(1, values))
    return np.array(losses)
