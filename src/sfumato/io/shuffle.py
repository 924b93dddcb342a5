"""The order of published rows, and the numbers of their groups: a seeded permutation of what is published.

Whoever makes a release puts its rows in this order, and whoever verifies it can tell from the file alone that they stand so,
and hence in no order that tells something of the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from sfumato.data.groups import Groups, combination_ranks
from sfumato.errors import ColumnError
from sfumato.io.write_files import cell_texts

SHUFFLE = 0x5F
"""Sets the random numbers of the shuffle apart from those that a method draws from the same seed."""

_TABLE = 0x7A
"""Sets the seeds of tables apart from other numbers that are drawn from the same seed."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """A column's cells as ranks, by their text in a CSV; among those of one text, by what a file with types tells."""

    of_row: NDArray[np.int32]
    as_text: NDArray[np.int32]
    """For each rank that of its text: a CSV does not tell null from an empty text."""

    @property
    def domain(self) -> int:
        """The number of ranks."""
        return len(self.as_text)

    @property
    def texts_differ(self) -> bool:
        """Whether a CSV tells all cells apart."""
        return not len(self.as_text) or int(self.as_text[-1]) == len(self.as_text) - 1


def ranks_of(column: Any, name: str, separators: Mapping[str, str] | None = None) -> Ranks:
    """Rank the cells of a column; `separators`: what stands between the items of lists in a CSV.

    >>> found = ranks_of(pa.array(["b", None, "a", ""]), "x")
    >>> found.of_row.tolist(), found.as_text.tolist()
    ([3, 1, 2, 0], [0, 0, 1, 2])
    """
    cells, of_row = _distinct(column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column]))
    try:
        texts = cell_texts(pa.chunked_array([cells]), name, separators).fill_null("")
    except ColumnError:  # what has no text in a CSV has a place of its own all the same
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
    """The cells of a column, most of them but once; and for each row which it has."""
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode(null_encoding="encode")
        except pa.ArrowException:  # lists: each cell is looked at
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
    """Texts as their ranks among those that differ."""
    encoded = texts.dictionary_encode()
    rank = np.empty(len(encoded.dictionary), np.int32)
    rank[np.asarray(compute.sort_indices(encoded.dictionary))] = np.arange(len(rank))
    return np.asarray(rank[np.asarray(encoded.indices)])


@dataclass(frozen=True, eq=False)
class Contents:
    """The rows of a published table by their cells, groups left aside: rows that are alike have the same number."""

    told: NDArray[np.int64]
    """As a CSV tells them apart."""
    finest: NDArray[np.int64]
    """As a file with types does: in the same order, those that are alike as text told apart."""

    @classmethod
    def of(cls, columns: Mapping[str, Any], rows: int, separators: Mapping[str, str] | None = None) -> Contents:
        """Number the rows of a table by its columns.

        >>> found = Contents.of({"x": pa.array(["b", "a", None]), "y": pa.array([1, 1, 1])}, 3)
        >>> found.told.tolist()
        [2, 1, 0]
        """
        ranked = [ranks_of(column, name, separators) for name, column in columns.items()]
        codes, domains = [np.zeros(rows, np.int32)], [1]
        for ranks in ranked:
            codes.append(ranks.as_text[ranks.of_row])
            domains.append(int(ranks.as_text.max(initial=0)) + 1)
        told = combination_ranks(codes, domains)
        further = [ranks for ranks in ranked if not ranks.texts_differ]
        if not further:
            return cls(told, told)
        codes, domains = [*codes, *(r.of_row for r in further)], [*domains, *(r.domain for r in further)]
        return cls(told, combination_ranks(codes, domains))


def shuffled(contents: Contents, groups: Groups, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The published order of the rows, and for each group its number, from 1.

    Both are a seeded permutation of an order that only depends on what is published. So whoever knows the seed cannot undo
    the shuffle and learns nothing about the order of the original.
    """
    random = np.random.default_rng([seed, SHUFFLE])
    keys = contents.finest
    # groups stand in the order of their rows' contents before they are numbered at random
    order = np.argsort(groups.of_row * (int(keys.max()) + 1) + keys, kind="stable")
    starts = np.cumsum(groups.sizes) - groups.sizes
    at = [*(8 * starts).tolist(), 8 * len(order)]
    canonical = list(range(groups.count))
    # by their texts; only then by what those do not tell: sorting keeps the order of what ties
    for every in (contents.told,) if contents.finest is contents.told else (contents.finest, contents.told):
        cells = every[order].astype(">u8").tobytes()
        parts = [cells[start:end] for start, end in pairwise(at)]
        canonical.sort(key=parts.__getitem__)
    of_group = np.empty(groups.count, np.int64)
    of_group[canonical] = random.permutation(groups.count) + 1
    # rows likewise, group by group: those that tie are alike in everything that is published
    numbered = np.argsort(of_group)
    sizes = groups.sizes[numbered]
    rows = order[np.repeat(starts[numbered] - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(order))]
    return rows[random.permutation(len(rows))], of_group


def table_seed(seed: int, place: int) -> int:
    """The seed of one of several tables by that of all, and the place of the table's first attribute among all of them.

    The rows of each table are shuffled on their own: by the same numbers, those of two tables might line up.

    >>> table_seed(0, 0) != table_seed(0, 1)
    True
    """
    return int(np.random.SeedSequence([seed, _TABLE, place]).generate_state(1)[0])
