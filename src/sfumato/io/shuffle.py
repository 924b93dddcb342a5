"""The order of published rows, and the numbers of their groups: a permutation of what is published, by a public seed.

A release has its rows in this order. Verification checks the order from the file alone: it depends on nothing but the
published cells, and so reveals nothing about the order of the original, or about the secret seed of the method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from sfumato.data.groups import Groups, combination_ranks, joint_ranks, stable_order
from sfumato.errors import ColumnError
from sfumato.io.write_files import cell_texts
from sfumato.storage import stored

SHUFFLE = 0x5F
"""Separates the random numbers of the shuffle from others that are drawn from the same seed."""

_TABLE = 0x7A
"""Separates the seeds of tables from other numbers that are drawn from the same seed."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """The cells of a column as ranks, by their text in a CSV; cells of the same text by their value in a typed file."""

    of_row: NDArray[np.int32]
    as_text: NDArray[np.int32]
    """For each rank that of its text in a CSV."""

    @property
    def domain(self) -> int:
        """The number of ranks."""
        return len(self.as_text)

    @property
    def texts_differ(self) -> bool:
        """Whether all distinct cells have distinct texts in a CSV."""
        return not len(self.as_text) or int(self.as_text[-1]) == len(self.as_text) - 1


def ranks_of(column: Any, name: str, separators: Mapping[str, str] | None = None, *, null_is_empty: bool = False) -> Ranks:
    """Rank the cells of a column; null is before all texts.

    `separators`: the text between the items of lists in a CSV. `null_is_empty`: null and an empty text are one text, as they
    are in the CSV of an older format.

    >>> found = ranks_of(pa.array(["b", None, "a", ""]), "x")
    >>> found.of_row.tolist(), found.as_text.tolist()
    ([3, 0, 2, 1], [0, 1, 2, 3])
    """
    cells, of_row = _distinct(column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column]))
    try:
        texts = cell_texts(pa.chunked_array([cells]), name, separators)
        texts = texts.fill_null("") if null_is_empty else texts
    except ColumnError:  # cells that cannot be written to CSV are ranked all the same
        texts = pa.array([repr(cell) for cell in cells.to_pylist()], pa.string())
    as_text = _dense(texts)
    if len(cells) == 0 or int(as_text.max()) == len(cells) - 1:
        return Ranks(as_text[of_row], np.arange(len(cells), dtype=np.int32))
    within = _dense(pa.array([repr(cell) for cell in cells.to_pylist()], pa.string()))
    finest = combination_ranks([as_text, within], [int(as_text.max()) + 1, int(within.max()) + 1]).astype(np.int32)
    found = np.empty(int(finest.max()) + 1, np.int32)
    found[finest] = as_text
    return Ranks(finest[of_row], found)


def _distinct(column: pa.ChunkedArray) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the distinct cells of a column (lists may repeat), and the index of each row's cell."""
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except pa.ArrowException:  # lists cannot be encoded: each cell is one entry
            return column.combine_chunks(), np.arange(len(column))
    if not len(column):
        return pa.array([], column.type.value_type), np.zeros(0, np.int64)
    encoded = column.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    cells, indices = encoded.dictionary, encoded.indices
    if indices.null_count:
        indices = indices.fill_null(len(cells))
        cells = pa.concat_arrays([cells, pa.nulls(1, cells.type)])
    return cells, np.asarray(indices).astype(np.int64)


def _dense(texts: pa.Array) -> NDArray[np.int32]:
    """Return the ranks of texts among the distinct ones; null is the first."""
    encoded = texts.dictionary_encode(null_encoding="encode")
    rank = np.empty(len(encoded.dictionary), np.int32)
    order = np.asarray(compute.sort_indices(encoded.dictionary))  # null is sorted last
    rank[np.roll(order, encoded.dictionary.null_count)] = np.arange(len(rank))
    return np.asarray(rank[np.asarray(encoded.indices)])


@dataclass(frozen=True, eq=False)
class Contents:
    """The rows of a published table as numbers, without the groups: rows with equal cells have the same number."""

    as_text: NDArray[np.int64]
    """By the texts of a CSV."""
    finest: NDArray[np.int64]
    """By the values of a typed file: in the same order, with rows of equal texts separated."""

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Any],
        rows: int,
        separators: Mapping[str, str] | None = None,
        *,
        null_is_empty: bool = False,
    ) -> Contents:
        """Number the rows of a table by its columns; for the other arguments see `ranks_of`.

        >>> found = Contents.of({"x": pa.array(["b", "a", None]), "y": pa.array([1, 1, 1])}, 3)
        >>> found.as_text.tolist()
        [2, 1, 0]
        """
        further: list[Ranks] = []

        def texts() -> Iterator[tuple[NDArray[np.int32], int]]:
            """Yield the ranks of one column after another: all of them may not fit into memory."""
            yield np.zeros(rows, np.int32), 1
            for name, column in columns.items():
                ranks = ranks_of(column, name, separators, null_is_empty=null_is_empty)
                if not ranks.texts_differ:
                    further.append(Ranks(stored(ranks.of_row), ranks.as_text))
                yield ranks.as_text[ranks.of_row], int(ranks.as_text.max(initial=0)) + 1

        as_text = stored(joint_ranks(texts()))
        if not further:
            return cls(as_text, as_text)
        coarse = as_text.astype(np.int32), int(as_text.max()) + 1
        return cls(as_text, stored(joint_ranks([coarse, *((ranks.of_row, ranks.domain) for ranks in further)])))


def shuffled(contents: Contents, groups: Groups, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the published order of the rows, and for each group its number, from 1.

    Both are a permutation, by a public seed, of an order that depends only on what is published. So a reader learns nothing
    about the order of the original. Before format 5, `release.json` stated the seed.
    """
    random = np.random.default_rng([seed, SHUFFLE])
    domain = int(contents.finest.max()) + 1
    keys = groups.of_row * domain
    keys += contents.finest
    # groups are sorted by the contents of their rows before they are numbered at random
    order = stored(stable_order(keys, groups.count * domain))
    del keys
    starts = np.cumsum(groups.sizes) - groups.sizes
    number = np.dtype(">u4" if len(order) < 1 << 32 else ">u8")  # there are at most as many contents as rows
    at = [*(number.itemsize * starts).tolist(), number.itemsize * len(order)]
    canonical = list(range(groups.count))
    # by texts first, then by typed values: the sort is stable, so the less important key is sorted first
    for numbers in (contents.as_text,) if contents.finest is contents.as_text else (contents.finest, contents.as_text):
        cells = stored(numbers[order].astype(number)).view(np.uint8)
        parts = [cells[start:end].tobytes() for start, end in pairwise(at)]
        canonical.sort(key=parts.__getitem__)
        del cells, parts
    of_group = np.empty(groups.count, np.int64)
    of_group[canonical] = random.permutation(groups.count) + 1
    # rows likewise, group by group: rows that tie are equal in everything that is published
    numbered = np.argsort(of_group)
    sizes = groups.sizes[numbered]
    place = np.repeat(starts[numbered] - (np.cumsum(sizes) - sizes), sizes)
    place += np.arange(len(order))
    rows = stored(order[place])
    del place
    return rows[random.permutation(len(rows))], of_group


def table_seed(seed: int, place: int) -> int:
    """Return the public seed of one of several tables, from the common one and the position of the table's first attribute.

    The rows of each table are shuffled independently: with the same random numbers, rows of two tables could line up.

    >>> table_seed(0, 0) != table_seed(0, 1)
    True
    """
    return int(np.random.SeedSequence([seed, _TABLE, place]).generate_state(1)[0])
