"""What the checks need to know about the rows of a published table and of its original, counted in this process.

The checks say what must be true; this file counts. `cluster_facts` counts the same by the executors of a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from sfumato._audit import audit_table
from sfumato.audits.audit_result import Audit
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.data.units import Units
from sfumato.errors import ColumnError
from sfumato.io.write_files import cell_texts
from sfumato.principles import Principle
from sfumato.releases.cell_coverage import CellReader
from sfumato.releases.exposure_models import NEAR_CONSTANT
from sfumato.releases.models import MARKED_SINCE
from sfumato.storage import stored
from sfumato.verification.coverage_checks import Coverage, cover_rows
from sfumato.verification.original_checks import Cells, MatchedRows, comparable_texts


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which other values occur with each value, and in how many rows; sorted by value, no pair twice."""

    values: NDArray[np.int64]
    others: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, values: NDArray[Any], others: NDArray[Any], rows: NDArray[Any]) -> Pairs:
        """Sort pairs by their value.

        >>> found = Pairs.of(np.array([8, 7, 7]), np.array([1, 0, 1]), np.array([2, 5, 6]))
        >>> found.starts.tolist(), found.values.tolist(), found.rows.tolist()
        ([0, 2], [7, 7, 8], [5, 6, 2])
        """
        order = np.argsort(values, kind="stable")
        return cls(*(part.astype(np.int64)[order] for part in (values, others, rows)))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the pairs of each value begin."""
        return np.flatnonzero(np.diff(self.values, prepend=-1))

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Where the pairs of each value end."""
        return np.append(self.starts[1:], len(self.values))


class UncountedError(Exception):
    """Raised for what cannot be counted with the memory that there is; the text says why. The check is then not made."""


class RowFacts(Protocol):
    """What is counted in the rows of a published table."""

    table: Table
    """The published table. Its columns are encoded; whether its rows are here is up to the class."""

    def texts(self, name: str) -> list[str | None]:
        """Return the distinct cells of a column as texts, in their order, null first."""

    def is_text(self, name: str) -> bool:
        """Return whether the cells of a column are texts."""

    def mixed_group(self) -> int | None:
        """Return the first group whose rows publish different quasi-identifiers; None if there is none."""

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of rows of each group."""

    def measured(self, principles: Sequence[Principle], units: Units | None) -> Audit:
        """Measure principles on the groups; `units`: whose row each row is, if people are counted."""

    def constant(self, names: Sequence[str]) -> dict[str, int]:
        """Count the groups, and their rows, in which all rows, or nearly all, have the same values of some columns."""

    def unique_values(self, names: Sequence[str]) -> int:
        """Return the number of rows whose values of some sensitive columns no other row has."""

    def unique_texts(self, names: Sequence[str], version: int, *, in_groups: bool = False) -> int:
        """Return the number of rows whose cells in some columns, as texts, no other row has, or none of its group."""


class Comparison(Protocol):
    """What is counted in the rows of a published table and its original together."""

    original: Table
    """The original. Its columns are encoded; whether its rows are here is up to the class."""

    def is_text(self, name: str) -> bool:
        """Return whether the cells of a column of the original are texts."""

    def surplus(self) -> tuple[int, int]:
        """Return how many published rows have no original, and how many original rows are not published."""

    def coverage(self, recodings: Mapping[str, str], *, everyone: bool) -> tuple[Coverage, Sequence[CellReader]]:
        """Compare published cells with original values; see `cover_rows`."""

    def is_in_order(self) -> bool:
        """Return whether the published rows are in the order of the original, as far as that can be seen."""

    def reader(self, name: str, recoding: str) -> CellReader:
        """Return the distinct cells of a quasi-identifier; in `together_published` a cell is its number there."""

    def cell_rows(self, name: str) -> NDArray[np.int64]:
        """Return the number of published rows of each cell of a quasi-identifier."""

    def together_original(self, value: str, name: str, least: int) -> Pairs:
        """Return for each value of an unchanged column which codes of a quasi-identifier original rows have with it.

        Values that fewer than `least` original rows have may be left out.
        """

    def together_published(self, value: str, name: str, values: Sequence[int]) -> Pairs:
        """Return for some values of an unchanged column which cells of a quasi-identifier published rows have with them."""


class LocalFacts:
    """What is counted in the rows of a published table that is in this process."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def texts(self, name: str) -> list[str | None]:
        """Return the distinct cells of a column as texts, in their order, null first."""
        return Cells.of(self.table.data.column(name)).numbered(name)[0]

    def is_text(self, name: str) -> bool:
        """Return whether the cells of a column are texts."""
        return is_text(self.table.data.schema.field(name).type)

    def mixed_group(self) -> int | None:
        """Return the first group whose rows publish different quasi-identifiers; None if there is none."""
        group = self._groups
        some_row = np.zeros(group.domain, np.int64)  # for each group one of its rows, to compare the others with
        some_row[group.codes] = np.arange(self.table.rows)
        mixed = np.zeros(self.table.rows, bool)
        for name in self.table.schema.quasi_identifiers:
            codes = self.table.column(name).codes
            mixed |= codes != codes[some_row][group.codes]
        return int(group.codes[mixed].min()) if mixed.any() else None

    @property
    def _groups(self) -> Any:
        return self.table.column(str(self.table.schema.group))

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of rows of each group."""
        return np.bincount(self._groups.codes, minlength=self._groups.size)

    def measured(self, principles: Sequence[Principle], units: Units | None) -> Audit:
        """Measure principles on the groups; `units`: whose row each row is, if people are counted."""
        return audit_table(self.table, principles, units)

    def constant(self, names: Sequence[str]) -> dict[str, int]:
        """Count the groups, and their rows, in which all rows, or nearly all, have the same values of some columns."""
        counted = _counted([pa.array(self._groups.codes), *self._codes(names)]).group_by("0")
        each = counted.aggregate([("count_all", "count"), ("count_all", "sum"), ("count_all", "max")])
        distinct, sizes, largest = (np.asarray(each[f"count_all_{what}"]) for what in ("count", "sum", "max"))
        return constant_counts(distinct, sizes, largest)

    def _codes(self, names: Sequence[str]) -> list[pa.Array]:
        return [pa.array(self.table.column(name).codes) for name in names]

    def unique_values(self, names: Sequence[str]) -> int:
        """Return the number of rows whose values of some sensitive columns no other row has."""
        return _unique(self._codes(names))

    def unique_texts(self, names: Sequence[str], version: int, *, in_groups: bool = False) -> int:
        """Return the number of rows whose cells in some columns, as texts, no other row has, or none of its group."""
        groups = [pa.array(self._groups.codes)] if in_groups else []
        return _unique([*groups, *(self._text_column(name, version) for name in names)])

    def _text_column(self, name: str, version: int) -> pa.Array:
        return published_texts(self.table.data.column(name), name, version)


class LocalComparison:
    """What is counted in the rows of two tables that are in this process."""

    def __init__(self, published: pa.Table, original: Table, unchanged: Sequence[str], schema: Schema, version: int) -> None:
        self.published, self.original, self.schema = published, original, schema
        self.matched = MatchedRows.of(published, original, unchanged, schema, version)
        self._cells: dict[str, tuple[list[str | None], NDArray[np.int64]]] = {}

    def is_text(self, name: str) -> bool:
        """Return whether the cells of a column of the original are texts."""
        return is_text(self.original.data.schema.field(name).type)

    def surplus(self) -> tuple[int, int]:
        """Return how many published rows have no original, and how many original rows are not published."""
        return self.matched.surplus()

    def coverage(self, recodings: Mapping[str, str], *, everyone: bool) -> tuple[Coverage, Sequence[CellReader]]:
        """Compare published cells with original values; see `cover_rows`."""
        return cover_rows(self.published, self.original, self.matched, recodings, everyone=everyone)

    def is_in_order(self) -> bool:
        """Return whether the published rows are in the order of the original, as far as that can be seen."""
        return self.matched.classes > 1 and np.array_equal(self.matched.published, self.matched.original)

    def _numbered(self, name: str) -> tuple[list[str | None], NDArray[np.int64]]:
        """Return the texts of the cells of a quasi-identifier, and for each row which of them it has."""
        if name not in self._cells:
            cells = Cells.of(self.published.column(name))
            texts, number = cells.numbered(name)
            self._cells[name] = texts, stored(number[cells.of_row])
        return self._cells[name]

    def reader(self, name: str, recoding: str) -> CellReader:
        """Return the distinct cells of a quasi-identifier; in `together_published` a cell is its number there."""
        return CellReader(self._numbered(name)[0], self.original.column(name), recoding)

    def cell_rows(self, name: str) -> NDArray[np.int64]:
        """Return the number of published rows of each cell of a quasi-identifier."""
        texts, number = self._numbered(name)
        return np.bincount(number, minlength=len(texts))

    @cached_property
    def _values(self) -> dict[str, tuple[pa.Array, pa.Array]]:
        return {}

    def _both(self, name: str) -> tuple[pa.Array, pa.Array]:
        """Return the values of an unchanged column as numbers that both tables share: of published and of original rows."""
        if name not in self._values:
            self._values.clear()  # one column at a time: all of them may not fit into memory
            both = Cells.of(self.published.column(name)), Cells.of(self.original.data.column(name))
            numbers = shared_numbers(*both, name, self.schema)
            one, other = (pa.array(part[cells.of_row]) for part, cells in zip(numbers, both, strict=True))
            self._values[name] = one, other
        return self._values[name]

    def together_original(self, value: str, name: str, least: int) -> Pairs:
        """Return for each value of an unchanged column which codes of a quasi-identifier original rows have with it."""
        del least  # to count all takes no longer
        return _together(self._both(value)[1], self.original.column(name).codes)

    def together_published(self, value: str, name: str, values: Sequence[int]) -> Pairs:
        """Return for some values of an unchanged column which cells of a quasi-identifier published rows have with them."""
        published = self._both(value)[0]
        told = np.isin(np.asarray(published), values)
        return _together(published.filter(pa.array(told)), self._numbered(name)[1][told])


def shared_numbers(published: Cells, original: Cells, name: str, schema: Schema) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return for each distinct cell of an unchanged column in both tables a number, equal where the cells are."""
    texts = comparable_texts(published, original, name, {name: schema.separators.get(name, ";")})
    encoded = pa.concat_arrays(texts).dictionary_encode()
    one, other = np.split(np.asarray(encoded.indices), [len(texts[0])])
    return one, other


def published_texts(column: pa.ChunkedArray, name: str, version: int) -> pa.Array:
    """Return cells as they are in a CSV; cells that a CSV cannot contain as Python's.

    Null is an empty text where the format, of which `version` is given, does not distinguish them.
    """
    try:
        texts = cell_texts(column, name)
        return texts if version >= MARKED_SINCE else texts.fill_null("")
    except ColumnError:
        return pa.array([repr(cell) for cell in column.to_pylist()], pa.string())


def constant_counts(distinct: NDArray[Any], sizes: NDArray[Any], largest: NDArray[Any]) -> dict[str, int]:
    """Count groups with one value, and nearly one, given for each its distinct values, its rows, and those of the largest.

    >>> constant_counts(np.array([1, 2]), np.array([3, 4]), np.array([3, 2]))["constant_rows"]
    3
    """
    share, whole = NEAR_CONSTANT.as_integer_ratio()
    constant, near = distinct == 1, whole * largest >= share * sizes
    return {
        "constant_groups": int(constant.sum()),
        "constant_rows": int(sizes[constant].sum()),
        "near_constant_groups": int(near.sum()),
        "near_constant_rows": int(sizes[near].sum()),
    }


def _counted(columns: Sequence[pa.Array]) -> pa.Table:
    """Return the distinct rows of some columns, and in the column `count_all` how often each occurs."""
    names = [str(number) for number in range(len(columns))]
    return pa.table(dict(zip(names, columns, strict=True))).group_by(names).aggregate([([], "count_all")])


def _unique(columns: Sequence[pa.Array]) -> int:
    """Return the number of rows that no other row equals."""
    return int(compute.sum(compute.equal(_counted(columns)["count_all"], 1)).as_py())


def _together(values: pa.Array, others: Any) -> Pairs:
    """Return which others occur with each value, and how often."""
    counted = pa.table({"value": values, "other": others}).group_by(["value", "other"]).aggregate([([], "count_all")])
    return Pairs.of(*(np.asarray(counted[name]) for name in ("value", "other", "count_all")))


def is_text(kind: pa.DataType) -> bool:
    """Return whether cells of a type are texts."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
