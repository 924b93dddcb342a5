"""On executors: whether the rows and groups of a table are in the public order; see `sfumato.io.shuffle`.

The order is a permutation of a sorted one. Where a row must be follows from how many rows come before it: those of groups
with smaller numbers, which the driver counts, and those of its own group, which are in one partition. The groups are sorted
by the contents of their rows, and then numbered by a permutation. So the numbers are right if the contents of the groups
ascend in the order that the permutation gives back.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import combined
from sfumato.io.shuffle import SHUFFLE
from sfumato.spark.compact_arrays import compact_pickle
from sfumato.spark.executor import contents_of
from sfumato.spark.group_entries import CellCodes, changed_table, partition_numbers
from sfumato.spark.tallies import gathered
from sfumato.verification.original_checks import Codes


@dataclass(frozen=True, eq=False)
class OrderPlan:
    """The order of a table: the first column is the group, from 0; the others are the ranks of the cells of a row."""

    cells: tuple[CellCodes, ...]
    """The number of each cell of the columns that are read."""
    ranks: tuple[tuple[int, Codes], ...]
    """Which of these columns is ranked, and the rank of each of its cells. Ranks of texts come first."""
    domains: tuple[int, ...]
    """The number of groups, and of the ranks of each column."""
    offsets: Codes
    """For each group how many rows have smaller numbers, and last the number of all rows."""
    seed: int
    partitions: int
    texts: int
    """How many of the ranks are those of texts."""


def permutations(seed: int, groups: int, rows: int = 0) -> tuple[Codes, Codes]:
    """Return the permutations of the groups and of the rows of a table. Memory: eight bytes for each of both."""
    random = np.random.default_rng([seed, SHUFFLE])
    return random.permutation(groups), random.permutation(rows)


def spread_rows(shared: OrderPlan, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the ranks of the rows of a partition with their positions, those of one group under one number.

    The last column of the batches is the position of the row in the file.
    """
    for batch in batches:
        *cells, position = batch.columns
        numbers = [codes.of(column) for codes, column in zip(shared.cells, cells, strict=True)]
        columns = [rank[numbers[place]] for place, rank in shared.ranks]
        partition = partition_numbers(columns[:1], batch.num_rows, shared.partitions)
        for number in np.flatnonzero(np.bincount(partition, minlength=shared.partitions)):
            some = np.flatnonzero(partition == number)
            yield int(number), compact_pickle(([column[some] for column in columns], np.asarray(position)[some]))


def check_rows(shared: OrderPlan, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield how many rows there are, how many are where those of another group belong, and how many where others do."""
    pieces = [pickle.loads(content) for _, content in contents_of(batches)]
    if not pieces:
        return
    columns = [np.concatenate(column) for column in zip(*(columns for columns, _ in pieces), strict=True)]
    _, permuted = permutations(shared.seed, len(shared.offsets) - 1, int(shared.offsets[-1]))
    positions = np.concatenate([position for _, position in pieces])
    if positions.max() >= len(permuted):
        raise changed_table(None)
    wanted = permuted[positions]  # the place of each row among the sorted ones
    numbers, parts = combined(columns, shared.domains)
    rows = np.bincount(numbers)
    groups = parts[:, 0]
    # the entries are sorted by group: each begins where the rows of its group before it end
    begin = np.cumsum(rows) - rows
    begin += shared.offsets[groups] - begin[np.searchsorted(groups, groups)]
    group = groups[numbers]
    elsewhere = (wanted < shared.offsets[group]) | (wanted >= shared.offsets[group + 1])
    others = (wanted < begin[numbers]) | (wanted >= (begin + rows)[numbers])
    yield 0, pickle.dumps(("result", (len(numbers), int(elsewhere.sum()), int(others.sum()))))


def spread_groups(shared: OrderPlan, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the contents of the groups of a partition as texts of bytes, those of neighbouring places under one number."""
    found = gathered(batches, shared.domains)
    if not found:
        return
    entries = found[0]
    groups = len(shared.offsets) - 1
    numbered, _ = permutations(shared.seed, groups)
    place = np.empty(groups, np.int64)
    place[numbered] = np.arange(groups)
    starts = np.flatnonzero(np.diff(entries.codes[0], prepend=-1))
    ends = np.append(starts[1:], len(entries.rows))
    texts = group_keys(entries.codes[1 : 1 + shared.texts], entries.rows, starts, ends)
    typed = len(entries.codes) > 1 + shared.texts
    finest = group_keys(entries.codes[1:], entries.rows, starts, ends) if typed else [b""] * len(texts)
    places = place[entries.codes[0][starts]]
    step = -(-groups // shared.partitions)
    for number in np.unique(places // step):
        some = np.flatnonzero(places // step == number)
        keys = [(texts[i], finest[i]) for i in some]
        yield int(number), pickle.dumps((int(number), places[some], keys))


def check_groups(shared: None, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield whether the contents of the groups of a partition ascend, with the first and the last of them."""
    pieces: dict[int, list[tuple[Codes, list[tuple[bytes, bytes]]]]] = {}
    for _, content in contents_of(batches):
        number, places, keys = pickle.loads(content)
        pieces.setdefault(number, []).append((places, keys))
    for number, some in pieces.items():
        keys = [key for _, own in some for key in own]
        order = np.argsort(np.concatenate([places for places, _ in some]))
        ordered = [keys[i] for i in order]
        ascending = all(one <= other for one, other in pairwise(ordered))
        yield number, pickle.dumps(("result", (number, ascending, ordered[0], ordered[-1])))


def group_keys(columns: Sequence[Codes], rows: Codes, starts: Codes, ends: Codes) -> list[bytes]:
    """Return for each group a text of bytes; these sort as the sequences of all rows of the groups, each in order, do.

    `columns`: the ranks of the entries of each group, in order. `rows`: the number of rows of each entry. An entry is
    written as its ranks, then whether others follow, then the number of its rows. If two groups begin with the same entries
    and have the next one a different number of times, the one that has fewer of it continues with a larger one, unless it
    ends there: so a number of rows descends where others follow, and ascends in the last entry, which comes first.

    >>> ranks, rows = np.array([0, 0, 1, 0]), np.array([2, 1, 1, 3])
    >>> one, other, third = group_keys([ranks], rows, np.array([0, 1, 3]), np.array([1, 3, 4]))
    >>> one < third < other  # 0 0, 0 0 0, 0 1
    True
    """
    last = np.zeros(len(rows), bool)
    last[ends - 1] = True
    # equal entries of a group, as there are if fewer columns are compared than entries differ in, are one
    new = np.ones(len(rows), bool)
    if len(rows) > 1:
        new[1:] = np.logical_or.reduce([np.zeros(len(rows) - 1, bool), *(np.diff(column) != 0 for column in columns)])
    new[starts] = True
    heads = np.flatnonzero(new)
    total = np.add.reduceat(rows, heads)
    is_last = last[np.append(heads[1:], len(rows)) - 1]
    shown = np.where(is_last, total, np.iinfo(np.int64).max - total)
    fields: list[NDArray[np.uint8]] = [
        *(column[heads].astype(">u4").view(np.uint8).reshape(-1, 4) for column in columns),
        (~is_last).astype(np.uint8)[:, None],
        shown.astype(">u8").view(np.uint8).reshape(-1, 8),
    ]
    content = np.ascontiguousarray(np.concatenate(fields, axis=1))
    at = np.searchsorted(heads, np.append(starts, len(rows)))
    return [content[begin:end].tobytes() for begin, end in pairwise(at.tolist())]
