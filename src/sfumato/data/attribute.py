"""The sensitive attribute as a whole: one column, or several taken together, over its distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import combined
from sfumato.data.table import Column, Table
from sfumato.errors import ColumnError


@dataclass(frozen=True, eq=False)
class Attribute:
    """Distinct values of one or several columns, with how often each occurs.

    Value v is made of the codes `parts[v]`, one per column; `codes[row]` is the row's value. Only values that occur have
    a number, in the order of their parts; so over one column that is not ordinal, v is just the column's code.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"x": [1, 1, 2], "y": ["a", "a", "b"]}), Schema(sensitive=["x", "y"]))
    >>> attribute = Attribute.of(table, ["x", "y"])
    >>> attribute.name, attribute.counts.tolist(), attribute.label(1)
    ('x + y', [2, 1], '2 + b')
    """

    name: str
    columns: tuple[Column, ...]
    codes: NDArray[np.int64]
    parts: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, names: Sequence[str], name: str | None = None) -> Attribute:
        """Take columns of a table together."""
        columns = tuple(table.column(column) for column in names)
        codes, parts = combined([column.codes for column in columns], [column.domain for column in columns])
        counts = np.bincount(codes, minlength=len(parts))
        return cls(name or " + ".join(names), columns, codes, parts, counts)

    def __len__(self) -> int:
        return len(self.parts)

    def label(self, value: int) -> str:
        """A value as it is shown."""
        return " + ".join(column.label(int(code)) for column, code in zip(self.columns, self.parts[value], strict=True))

    def told(self, value: int) -> str | None:
        """A value as a release tells it: as it is shown, and None if it is missing, for a text may read the same."""
        missing = len(self.columns) == 1 and self.parts[value, 0] == self.columns[0].size
        return None if missing else self.label(value)

    def value(self, value: int) -> Any:
        """A value as Python sees it; a tuple if there are several columns."""
        parts = tuple(column.value(int(code)) for column, code in zip(self.columns, self.parts[value], strict=True))
        return parts[0] if len(parts) == 1 else parts

    def single(self, wanted_by: str) -> Column:
        """The one column of this attribute; several are an error."""
        if len(self.columns) != 1:
            raise ColumnError(
                f"{wanted_by} speaks of one column, and the attribute has {len(self.columns)}",
                remedy="Apply it to each column alone, or use a distance over several columns.",
                column=self.name,
            )
        return self.columns[0]
