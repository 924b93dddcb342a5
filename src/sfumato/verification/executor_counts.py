"""On executors: what is counted in the groups of a published table, and in the classes that it shares with its original.

Spark has brought all entries of a group, or of a class, together; see `sfumato.spark.tallies`.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato.data.groups import combined
from sfumato.releases.cell_coverage import CellReader
from sfumato.spark.compact_arrays import compact_pickle
from sfumato.spark.group_entries import Entries
from sfumato.spark.tallies import gathered
from sfumato.verification.coverage_checks import ClassRows, Coverage, cover_classes
from sfumato.verification.original_checks import Codes

PUBLISHED, ORIGINAL = 0, 1
"""The labels of the entries of both tables."""


def find_mixed_group(shared: tuple[int, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the first group of a partition with two different entries, if there is one.

    The first column is the group, the others its quasi-identifiers; `shared`: the number of codes of each column.
    """
    for entries in gathered(batches, shared).values():
        group = entries.codes[0]  # in order
        mixed = group[1:][group[1:] == group[:-1]]
        if len(mixed):
            yield 0, pickle.dumps(("result", int(mixed[0])))


@dataclass(frozen=True, eq=False)
class GroupValues:
    """For each group of a partition its distinct values, its rows, and the rows of its most frequent value, as counts.

    Groups that agree in all three are counted together.
    """

    distinct: Codes
    sizes: Codes
    largest: Codes
    groups: Codes


def count_group_values(shared: tuple[int, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield how many values the groups of a partition have; columns as in `find_mixed_group`."""
    for entries in gathered(batches, shared).values():
        starts = np.flatnonzero(np.diff(entries.codes[0], prepend=-1))
        distinct = np.diff(starts, append=len(entries.rows))
        every = np.stack([distinct, np.add.reduceat(entries.rows, starts), np.maximum.reduceat(entries.rows, starts)])
        (values, sizes, largest), groups = np.unique(every, axis=1, return_counts=True)
        yield 0, compact_pickle(("result", GroupValues(values, sizes, largest, groups)))


@dataclass(frozen=True, eq=False)
class ClassPlan:
    """How classes are compared: the first columns are unchanged, the others the quasi-identifiers."""

    domains: tuple[int, ...]
    """The number of codes of each column, in both tables."""
    unchanged: int
    """The number of columns that make a class."""
    readers: tuple[CellReader, ...] = ()
    """The cells of each quasi-identifier."""
    limit: int = 0
    """See `pair_limit`."""
    everyone: bool = True
    """Nobody was suppressed."""


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """What is counted in the classes of a partition."""

    rows: tuple[int, int]
    """Of both tables."""
    extra: int
    """Published rows that have no original."""
    absent: int
    """Original rows that are not published."""
    pairs: Codes
    """Distinct numbers of pairs of a class, and the number of classes that have so many."""
    classes: Codes


def count_classes(shared: ClassPlan, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield what is counted in the classes of a partition."""
    rows = _class_rows(shared, gathered(batches, shared.domains))
    if rows is None:
        return
    published, original = rows.sizes()
    more = published - original
    yield (
        0,
        compact_pickle(
            (
                "result",
                ClassCounts(
                    (int(published.sum()), int(original.sum())),
                    int(more[more > 0].sum()),
                    int(-more[more < 0].sum()),
                    *np.unique(rows.pairs, return_counts=True),
                ),
            )
        ),
    )


def compare_classes(shared: ClassPlan, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield whether the published cells of a partition cover the original values of their classes."""
    rows = _class_rows(shared, gathered(batches, shared.domains))
    if rows is not None:
        found: Coverage = cover_classes(rows, shared.readers, shared.limit, everyone=shared.everyone)
        yield 0, pickle.dumps(("result", found))


def _class_rows(plan: ClassPlan, found: dict[int, Entries]) -> ClassRows | None:
    """Return the rows of both tables by class; None if there are none."""
    if not found:
        return None
    none = Entries([np.zeros(0, np.int64) for _ in plan.domains], np.zeros(0, np.int64))
    left, right = found.get(PUBLISHED, none), found.get(ORIGINAL, none)
    both = [np.concatenate([one, other]) for one, other in zip(left.codes, right.codes, strict=True)]
    everyone = np.zeros(len(both[0]), np.int64)  # if no column is unchanged, all rows are one class
    classes, parts = combined([everyone, *both[: plan.unchanged]], [1, *plan.domains[: plan.unchanged]])
    one, other = np.split(classes, [len(left.rows)])  # in order, as the entries are
    cells, values = ([one, *left.codes[plan.unchanged :]], [other, *right.codes[plan.unchanged :]])
    return ClassRows(cells, left.rows, values, right.rows, len(parts))
