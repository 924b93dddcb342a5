"""On executors: entries with other codes, added up, and brought together by what they have in common."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.spark.compact_arrays import compact_pickle
from sfumato.spark.executor import contents_of
from sfumato.spark.group_entries import Entries, add_up, partition_numbers

LEFT_OUT = -1
"""The code of a cell whose rows are not counted."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Columns of entries under other codes, and how the entries are brought together."""

    columns: tuple[int, ...]
    """The places of the columns in the entries."""
    codes: tuple[NDArray[Any], ...]
    """For each column the new code of each old one, or `LEFT_OUT`."""
    domains: tuple[int, ...]
    """The number of new codes of each column."""
    key: int
    """Entries that agree in the first so many columns are brought together."""
    partitions: int
    label: int = 0
    """Returned with the entries."""

    def of(self, entries: Entries) -> Entries:
        """Return the entries with their new codes, equal ones added up."""
        codes = [own[entries.codes[place]] for place, own in zip(self.columns, self.codes, strict=True)]
        kept = np.logical_and.reduce([column != LEFT_OUT for column in codes])
        if not kept.any():
            return Entries([column[:0].astype(np.int64) for column in codes], entries.rows[:0])
        parts, rows = add_up([column[kept] for column in codes], self.domains, entries.rows[kept])
        return Entries([np.ascontiguousarray(part) for part in parts.T], rows)


def spread_tallies(shared: Sequence[Tally], batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the entries of a partition under new codes, those with a common key under one number."""
    for _, content in contents_of(batches):
        piece = Entries(*pickle.loads(content))
        for tally in shared:
            found = tally.of(piece)
            numbers = partition_numbers(found.codes[: tally.key], len(found.rows), tally.partitions)
            for number in np.flatnonzero(np.bincount(numbers, minlength=tally.partitions)):
                some = np.flatnonzero(numbers == number)
                yield int(number), compact_pickle((tally.label, [codes[some] for codes in found.codes], found.rows[some]))


def gathered(batches: Iterator[pa.RecordBatch], domains: Sequence[int]) -> dict[int, Entries]:
    """Return the entries of a partition that `spread_tallies` brought together, equal ones added up, by their labels."""
    pieces: dict[int, list[Any]] = {}
    for _, content in contents_of(batches):
        label, codes, rows = pickle.loads(content)
        pieces.setdefault(label, []).append((codes, rows))
    found = {}
    for label, some in pieces.items():
        codes = [np.concatenate(column) for column in zip(*(codes for codes, _ in some), strict=True)]
        parts, rows = add_up(codes, domains, np.concatenate([rows for _, rows in some]))
        found[label] = Entries([np.ascontiguousarray(part) for part in parts.T], rows)
    return found


def return_entries(shared: Sequence[int], batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the entries of a partition, added up, under their labels; `shared`: the number of codes of each column."""
    for label, entries in gathered(batches, shared).items():
        yield label, compact_pickle(("result", entries))


def count_single_rows(shared: Sequence[int], batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield how many entries of a partition have one row, and how many rows there are; `shared`: as above."""
    for label, entries in gathered(batches, shared).items():
        yield label, pickle.dumps(("result", (int((entries.rows == 1).sum()), int(entries.rows.sum()))))
