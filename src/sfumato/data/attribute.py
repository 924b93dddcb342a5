"""A sensitive attribute: one column, or several combined, over its distinct values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.cache_lock import CacheLock
from sfumato.data.column import Column
from sfumato.data.groups import combined, joint_ranks
from sfumato.errors import ColumnError
from sfumato.plurals import count_of
from sfumato.storage import stored


@dataclass(frozen=True, eq=False, repr=False)
class Attribute:
    """Distinct values of one or several columns, with the number of rows of each. Made by `Table.attribute`.

    Value v consists of the codes `parts[v]`, one per column; `codes[row]` is the row's value. Only values that occur are
    numbered, in the order of their parts. Over one column that is not ordinal, v is therefore the column's code.

    >>> import sfumato as sf
    >>> import pyarrow as pa
    >>> table = sf.Table(pa.table({"x": [1, 1, 2], "y": ["a", "a", "b"]}), sf.Schema(sensitive=["x", "y"]))
    >>> attribute = table.attribute(["x", "y"])
    >>> attribute.name, attribute.counts.tolist(), attribute.label(1)
    ('x + y', [2, 1], '2 + b')
    """

    name: str
    columns: tuple[Column, ...]
    codes: NDArray[np.int64]
    parts: NDArray[np.int64]
    counts: NDArray[np.int64]
    graphs: list[Any] = field(default_factory=list)
    """Neighbour graphs of this attribute, the last used last; filled and bounded by `sfumato.distances.neighbour_graph`."""
    lock: Any = field(default_factory=CacheLock)
    """Guards `graphs`; attributes that share the list share the lock."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", stored(self.codes))

    @classmethod
    def of(cls, columns: Sequence[Column], name: str) -> Attribute:
        """Combine columns of one table."""
        codes, parts = combined([column.codes for column in columns], [column.domain for column in columns])
        return cls(name, tuple(columns), codes, parts, np.bincount(codes, minlength=len(parts)))

    @classmethod
    def counted(cls, columns: Sequence[Column], name: str, parts: NDArray[np.int64], counts: NDArray[np.int64]) -> Attribute:
        """Return the attribute of rows that are elsewhere: its values by their codes, in order, and how many rows have each.

        >>> from sfumato.data.schema import Kind
        >>> column = Column("x", Kind.NUMERIC, np.zeros(0, np.int32), "abc".__getitem__, 3, False)
        >>> Attribute.counted([column], "x", np.array([[0], [2]]), np.array([5, 1])).label(1)
        'c'
        """
        return cls(name, tuple(columns), np.zeros(0, np.int64), parts, counts)

    def numbers_of(self, codes: Sequence[NDArray[np.integer[Any]]]) -> NDArray[np.int64]:
        """Return the value of each combination of codes, one array per column; every one must be among the values."""
        domains = [column.domain for column in self.columns]
        if len(domains) == 1:
            position = np.zeros(domains[0], np.int64)
            position[self.parts[:, 0]] = np.arange(len(self.parts))
            return np.asarray(position[codes[0]])
        # only the values themselves occur, so their numbers are their ranks
        own = [np.concatenate([part, code]) for part, code in zip(self.parts.T, codes, strict=True)]
        return joint_ranks(zip(own, domains, strict=True))[len(self.parts) :]

    def reordered(self, columns: Sequence[Column], rows: NDArray[np.int64]) -> Attribute | None:
        """Return the attribute of the same rows in another order, with its graphs; None if they are not the same rows.

        A neighbour graph depends on the values and their counts, not on the order of the rows.
        """
        codes = self.codes[rows]
        counts = np.bincount(codes, minlength=len(self.parts))
        if not np.array_equal(counts, self.counts):
            return None
        return Attribute(self.name, tuple(columns), codes, self.parts, self.counts, self.graphs, self.lock)

    @cached_property
    def sorted_by_value(self) -> Attribute:
        """The same values with the rows sorted by value: it has the values and their counts, not the order of the rows.

        A neighbour graph holds this attribute, because tables whose rows are in different orders share the graph, and a
        published table must not lead to the order of the original. Cost: linear in the rows. An attribute whose rows are
        elsewhere has no order of rows, and is returned itself.
        """
        if not len(self.codes):
            return self
        codes = np.repeat(np.arange(len(self.parts)), self.counts)
        columns = [
            replace(column, codes=part.astype(column.codes.dtype)[codes])
            for column, part in zip(self.columns, self.parts.T, strict=True)
        ]
        result = Attribute(self.name, tuple(columns), codes, self.parts, self.counts, self.graphs, self.lock)
        result.__dict__["sorted_by_value"] = result
        return result

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        """Show the sizes, never values."""
        return f"<Attribute {self.name!r}: {count_of(len(self), 'distinct value')}, {count_of(len(self.codes), 'row')}>"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the caches and the lock."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("graphs", "lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, graphs=[], lock=CacheLock())

    def label(self, value: int) -> str:
        """Return a value as it is displayed."""
        return " + ".join(column.label(int(code)) for column, code in zip(self.columns, self.parts[value], strict=True))

    def label_or_none(self, value: int) -> str | None:
        """Return a value as release.json writes it: its label, or None if it is missing (a text may read the same)."""
        missing = len(self.columns) == 1 and self.parts[value, 0] == self.columns[0].size
        return None if missing else self.label(value)

    def value(self, value: int) -> Any:
        """Return a value as a Python object; a tuple if there are several columns."""
        parts = tuple(column.value(int(code)) for column, code in zip(self.columns, self.parts[value], strict=True))
        return parts[0] if len(parts) == 1 else parts

    def single(self, wanted_by: str) -> Column:
        """Return the only column of this attribute; several are an error."""
        if len(self.columns) != 1:
            raise ColumnError(
                f"{wanted_by} applies to one column, and the attribute has {len(self.columns)}",
                remedy="Apply it to each column alone, or use a distance over several columns.",
                column=self.name,
            )
        return self.columns[0]
