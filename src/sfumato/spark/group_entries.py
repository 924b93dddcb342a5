"""On executors: the rows of a frame as codes, and the rows of each group together.

An entry is a combination of codes, one of each column, with the number of rows that have it. Entries are much fewer than
rows where a group is large, so that all rows may be one group.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import combination_counts, combined
from sfumato.errors import DatabaseError
from sfumato.io.cell_counts import cell_keys
from sfumato.spark.cell_counting import as_collected
from sfumato.spark.compact_arrays import compact_pickle
from sfumato.spark.executor import contents_of

_PIECE = 1 << 20
"""Rows whose cells are looked up together: a look-up costs as much as the dictionary has cells."""

_ODD = np.uint64(0x9E3779B97F4A7C15)
"""A multiplier that spreads small numbers over all 64 bits."""


@dataclass(frozen=True, eq=False)
class CellCodes:
    """The code of each distinct cell of a column, and how many codes there are; `absent`: that of a null."""

    cells: pa.Array
    codes: NDArray[np.int32]
    absent: int
    domain: int

    def of(self, cells: pa.Array) -> NDArray[np.int32]:
        """Return the code of the cell of each row; a cell that is not known is an error."""
        encoded = cell_keys(cells).dictionary_encode()
        place = pa.compute.index_in(encoded.dictionary, value_set=cell_keys(self.cells))
        if place.null_count:
            raise changed_table(None)
        code = np.append(self.codes[place.to_numpy()], np.int32(self.absent))
        return np.asarray(code[encoded.indices.fill_null(len(place)).to_numpy()])


@dataclass(frozen=True, eq=False)
class EntryPlan:
    """How rows become entries: the codes of all columns, the columns that make a group, and the number of partitions."""

    columns: tuple[CellCodes, ...]
    key: tuple[int, ...]
    partitions: int

    @property
    def domains(self) -> list[int]:
        """The number of codes of each column."""
        return [column.domain for column in self.columns]


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries: the codes of each column, and the number of rows."""

    codes: list[NDArray[np.int64]]
    rows: NDArray[np.int64]

    def groups(self, plan: EntryPlan) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the group of each entry, numbered in the order of their keys, and the key of each group."""
        if not plan.key:  # no column distinguishes rows
            return np.zeros(len(self.rows), np.int64), np.zeros((1, 0), np.int64)
        return combined([self.codes[i] for i in plan.key], [plan.columns[i].domain for i in plan.key])


def count_entries(shared: EntryPlan, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the entries of the rows of a partition, those of one group under one number."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= _PIECE:
            yield from _spread(shared, _counted(shared, waiting))
            waiting = []
    if waiting:
        yield from _spread(shared, _counted(shared, waiting))


def _counted(plan: EntryPlan, batches: Sequence[pa.RecordBatch]) -> Entries:
    table = pa.Table.from_batches(batches).combine_chunks()
    cells = [as_collected(column.chunk(0)) for column in table.columns]
    codes = [column.of(each) for column, each in zip(plan.columns, cells, strict=True)]
    parts, rows = combination_counts(codes, plan.domains)
    return Entries(list(parts.T), rows)


def _spread(plan: EntryPlan, entries: Entries) -> Iterator[tuple[int, bytes]]:
    """Yield entries under the number of the partition that their group belongs to."""
    number = partition_numbers([entries.codes[column] for column in plan.key], len(entries.rows), plan.partitions)
    order = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number, minlength=plan.partitions))
    for partition, some in enumerate(np.split(order, ends[:-1])):
        if len(some):
            yield partition, compact_pickle(([codes[some] for codes in entries.codes], entries.rows[some]))


def partition_numbers(key: Sequence[NDArray[Any]], rows: int, partitions: int) -> NDArray[np.int64]:
    """Return the partition that each of some rows belongs to: one for rows that agree in all columns of the key."""
    mixed = np.zeros(rows, np.uint64)
    for column in key:
        mixed = (mixed ^ column.astype(np.uint64)) * _ODD
        mixed ^= mixed >> np.uint64(29)
    return ((mixed >> np.uint64(32)) % np.uint64(partitions)).astype(np.int64)


def entries_of(batches: Iterator[pa.RecordBatch]) -> Entries | None:
    """Return the entries of a partition, with all entries of each of its groups; None if it has none."""
    pieces: list[Any] = [pickle.loads(content) for _, content in contents_of(batches)]
    if not pieces:
        return None
    codes = [np.concatenate(column) for column in zip(*(codes for codes, _ in pieces), strict=True)]
    return Entries(codes, np.concatenate([rows for _, rows in pieces]))


@dataclass(frozen=True, eq=False)
class Combinations:
    """Columns whose combinations are counted, by their places in an `EntryPlan`, several times."""

    plan: EntryPlan
    columns: tuple[tuple[int, ...], ...]


def count_combinations(shared: Combinations, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the combinations of some columns that occur in a partition, with the number of rows of each."""
    entries = entries_of(batches)
    if entries is None:
        return
    for number, columns in enumerate(shared.columns):
        parts, rows = add_up(
            [entries.codes[i] for i in columns], [shared.plan.columns[i].domain for i in columns], entries.rows
        )
        yield number, compact_pickle(("result", (parts, rows)))


def add_up(
    codes: Sequence[NDArray[np.int64]], domains: Sequence[int], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct combinations of codes in order, and the number of rows of each.

    >>> parts, rows = add_up([np.array([1, 0, 1])], [2], np.array([5, 2, 1]))
    >>> parts.tolist(), rows.tolist()
    ([[0], [1]], [2, 6])
    """
    numbers, parts = combined(codes, domains)
    sums = np.zeros(len(parts), np.int64)
    np.add.at(sums, numbers, rows)
    return parts, sums


def changed_table(source: str | None) -> DatabaseError:
    """Return the error for a table that is not the same each time it is read."""
    return DatabaseError(
        "the table changed while it was read, or a query returns other rows each time",
        remedy="Store the rows first, such as with df.cache() or as a table, and try again.",
        file=source or "spark://",
    )
