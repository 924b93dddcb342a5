"""One column of a released table: its distinct cells, which of them each row has, and its values for frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.analysis.cell_values import CellParser, PublishedCell
from sfumato.analysis.model_column import Codes
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.releases.models import PublishedColumn


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A column as it is published."""

    name: str
    role: str
    kind: Kind
    cells: Sequence[PublishedCell]
    """The distinct cells."""
    of_row: Codes
    """For each row the number of its cell."""
    order: tuple[str, ...] = ()
    """The values of an ordinal column, from lowest to highest."""
    sets: Sequence[frozenset[str]] = ()
    """The values of the cells of a set-valued column that is published unchanged."""

    @classmethod
    def read(cls, column: PublishedColumn, table: Table, declared: Schema) -> ReleasedColumn:
        """Read a column of a published table."""
        encoded = table.column(column.name)
        codes = encoded.codes.astype(np.int64)
        order = tuple(declared.orders.get(column.name, ()))
        if column.role == "quasi-identifier":
            texts = [encoded.label(code) if code < encoded.size else None for code in range(encoded.domain)]
            kind = Kind(column.kind or Kind.CATEGORICAL)
            return cls(column.name, column.role, kind, CellParser(column, declared, texts).parse(), codes, order)
        cells = []
        for code in range(encoded.domain):
            number = encoded.numbers[code] if encoded.numbers is not None and code < encoded.size else None
            text = encoded.label(code) if code < encoded.size else None
            cells.append(PublishedCell(text, () if text is None else (text,), number, number, missing=text is None))
        return cls(column.name, column.role, encoded.kind, cells, codes, order, encoded.sets)

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers; dates are numbers of days."""
        return self.kind in (Kind.NUMERIC, Kind.DATE)

    @property
    def exact(self) -> bool:
        """Whether every cell stands for one value."""
        return all(cell.exact for cell in self.cells)

    def texts(self) -> pa.Array:
        """Return the cells as they are published; null where the value is missing."""
        return self._spread([None if cell.missing else cell.text for cell in self.cells], pa.string())

    def values(self) -> dict[str, pa.Array]:
        """Return the columns of a frame: exact values, and the ends and the middle of ranges."""
        if self.sets:
            return {self.name: self._spread([sorted(items) for items in self.sets], pa.list_(pa.string()))}
        if not self.numeric:
            exact = [
                cell.values[0] if cell.exact and cell.values else None if cell.missing else cell.text for cell in self.cells
            ]
            return {self.name: self._spread(exact, pa.string())}
        columns = {self.name: self._numbers([cell.low if cell.exact else None for cell in self.cells])}
        if not self.exact:
            columns[f"{self.name}_lo"] = self._numbers([cell.low for cell in self.cells])
            columns[f"{self.name}_hi"] = self._numbers([cell.high for cell in self.cells])
            columns[f"{self.name}_mid"] = self._numbers([cell.mid for cell in self.cells])
        return columns

    def _numbers(self, numbers: Sequence[Fraction | None]) -> pa.Array:
        """Return numbers as whole numbers if all are, else as floats; days as dates if all are whole, else as times."""
        if self.kind is Kind.DATE:
            return days_as_dates(self._spread([None if n is None else float(n) for n in numbers], pa.float64()))
        whole = all(number is None or (number.denominator == 1 and abs(number) < 2**63) for number in numbers)
        if whole:
            return self._spread([None if number is None else int(number) for number in numbers], pa.int64())
        return self._spread([None if number is None else float(number) for number in numbers], pa.float64())

    def _spread(self, of_cell: Sequence[Any], kind: pa.DataType) -> pa.Array:
        values = list(of_cell) + [None] * (len(self.cells) - len(of_cell))
        return pa.array(values, kind).take(pa.array(self.of_row))


def days_as_dates(days: pa.Array) -> pa.Array:
    """Return days since 1970 as dates if all are whole, otherwise as times in microseconds.

    >>> days_as_dates(pa.array([16436.0, None])).to_pylist()
    [datetime.date(2015, 1, 1), None]
    """
    numbers = np.asarray(days.fill_null(0.0))
    mask = np.asarray(days.is_null())
    if (numbers == np.floor(numbers)).all():
        return pa.array(numbers.astype(np.int32), pa.int32(), mask=mask).cast(pa.date32())
    return pa.array(np.round(numbers * 86_400_000_000).astype(np.int64), mask=mask).cast(pa.timestamp("us"))
