"""Recoding: the cells that each group publishes for its quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.recoding.cell_text import cell_text
from sfumato.anonymization.recoding.domain import Domain, RecodingKind, domains_of
from sfumato.anonymization.recoding.generalization_levels import ColumnLevels, column_levels
from sfumato.data.groups import Groups, distinct_pairs, renumber
from sfumato.data.table import Table
from sfumato.errors import ColumnError, ParameterError

_MOST_CHARACTERS = 10**9
"""The most characters of a column of sets, unless they are short."""

_LONG_CELL = 1000
"""Sets with fewer characters on average are short, however many rows there are."""


@dataclass(frozen=True, eq=False)
class ColumnRecoding:
    """The cells of one quasi-identifier: for each group the stretch of the domain that it covers.

    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"age": [20, 30, 60, 60]}), Schema(["age"]))
    >>> (age,) = recode(table, Groups(np.array([0, 0, 1, 1]), 2, 4)).columns
    >>> age.labels, age.shares.tolist()
    (('[20, 30]', '60'), [0.25, 0.0])
    """

    domain: Domain
    low: NDArray[np.int64]
    """For each group the first place that its cell covers."""
    high: NDArray[np.int64]
    """For each group the last place; the domain's size if it covers missing values."""
    offsets: NDArray[np.int64]
    """The distinct places of the values of group g are `places[offsets[g]:offsets[g + 1]]`, ascending."""
    places: NDArray[np.int64]
    cell: NDArray[np.int64]
    """For each group the number of its cell; distinct cells are numbered in the order of their first groups."""
    shares: NDArray[np.float64]
    """For each group the loss of its cell, from 0 (a single value) to 1 (`*`)."""
    cells: tuple[str | None, ...]
    """For each distinct cell its text: the value itself, `[lo, hi]`, a node's label, `{a; b}`, or `*`; None if missing.

    A text that could be misread is in double quotes: `{"a; b"; c}`.
    """

    @property
    def labels(self) -> tuple[str | None, ...]:
        """For each group the text of its cell."""
        return tuple(self.cells[cell] for cell in self.cell.tolist())

    def keys(self) -> Iterator[tuple[int, ...]]:
        """Yield, for each distinct cell, its first and last place; all its places if it is a set."""
        for group in np.unique(self.cell, return_index=True)[1].tolist():
            if self.domain.recoding is RecodingKind.SET:
                yield tuple(self.places[self.offsets[group] : self.offsets[group + 1]].tolist())
            else:
                yield int(self.low[group]), int(self.high[group])


@dataclass(frozen=True, eq=False)
class Recoding:
    """The cells of all groups. Made by `recode`.

    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"age": [20, 30, 60, 60]}), Schema(["age"]))
    >>> recode(table, Groups(np.array([0, 0, 1, 1]), 2, 4)).columns[0].labels
    ('[20, 30]', '60')
    """

    groups: Groups
    columns: tuple[ColumnRecoding, ...]
    levels: tuple[int, ...] | None = None
    """For each quasi-identifier the level at which all its cells are published; None if there is no such level."""

    def texts(self, column: ColumnRecoding) -> pa.Array:
        """Return the published cells of one column, row by row, dictionary-encoded."""
        encoded = pa.array(column.cells, pa.string()).dictionary_encode()
        return pa.DictionaryArray.from_arrays(
            encoded.indices.take(pa.array(column.cell[self.groups.of_row])), encoded.dictionary
        )


def recode(table: Table, groups: Groups, levels: Sequence[int] | None = None) -> Recoding:
    """Return the cells that each group publishes: for each quasi-identifier the smallest cell that covers all its rows.

    With `levels`, one per quasi-identifier, every cell is the node on that level of the column's hierarchy, and `*` on the
    last level (see `ColumnLevels`). All rows of a group must then have the same nodes. Cost: that of sorting one integer
    per row and column.

    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"town": ["Rome", "Bonn", "Bonn"]}), Schema(["town"]))
    >>> recode(table, Groups(np.array([0, 0, 1]), 2, 3)).columns[0].labels
    ('{Bonn; Rome}', 'Bonn')
    """
    if levels is None:
        return Recoding(groups, tuple(recode_column(domain, groups) for domain in domains_of(table)))
    levels = tuple(map(int, levels))
    hierarchies = column_levels(table)
    heights = [column.height for column in hierarchies]
    if len(levels) != len(heights) or any(not 0 <= at <= height for at, height in zip(levels, heights, strict=False)):
        raise ParameterError(
            f"invalid levels {list(levels)} for the quasi-identifiers",
            remedy=f"Give one for each, at most {heights}.",
            key="levels",
            value=levels,
        )
    columns = (_level_column(column, groups, level) for column, level in zip(hierarchies, levels, strict=True))
    return Recoding(groups, tuple(columns), levels)


def refuse_long_sets(recoding: Recoding) -> None:
    """Raise an error if the sets of a column are so long that nobody could read, or even store, them in every row."""
    sizes = np.bincount(recoding.groups.of_row, minlength=recoding.groups.count)
    for column in recoding.columns:
        if column.domain.recoding is not RecodingKind.SET:
            continue
        lengths = np.array([len(cell or "") for cell in column.cells], np.int64)[column.cell]
        total = int((lengths * sizes).sum())
        if total <= _MOST_CHARACTERS or total <= _LONG_CELL * len(recoding.groups.of_row):
            continue
        members = int((np.diff(column.offsets) * sizes).sum()) // len(recoding.groups.of_row)
        raise ColumnError(
            f"a cell would be a set of {members:,} of its {column.domain.size:,} values on average, and the column "
            f"{total / 1e9:.1f} GB of text",
            remedy="Declare a hierarchy with labels for its values, replace them by coarser ones, or leave the column out.",
            column=column.domain.name,
        )


def recode_column(domain: Domain, groups: Groups) -> ColumnRecoding:
    """Return the smallest cells of a column that cover the values of each group."""
    # the distinct places of each group, ascending: the first and the last of them are the ends of its cell
    group, covered = distinct_pairs(groups.of_row, groups.count, domain.place[domain.column.codes], domain.size + 1)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups.count))])
    low, high = covered[offsets[:-1]], covered[offsets[1:] - 1]
    if domain.recoding is RecodingKind.SET:
        members = covered.tolist()
        numbers: dict[tuple[int, ...], int] = {}
        cell = np.array([numbers.setdefault(tuple(members[a:b]), len(numbers)) for a, b in pairwise(offsets.tolist())])
    else:  # an interval or a node is determined by its ends
        cell = renumber(low * (domain.size + 1) + high)
    column = ColumnRecoding(domain, low, high, offsets, covered, cell, np.zeros(0), ())
    # share and text once per distinct cell: there are far fewer of them than groups
    keys = list(column.keys())
    shares = np.array([domain.share(key[0], key[-1], len(key)) for key in keys])
    return replace(column, shares=shares[cell], cells=tuple(cell_text(domain, key) for key in keys))


def _level_column(levels: ColumnLevels, groups: Groups, level: int) -> ColumnRecoding:
    """Return the cells of a column on one level: each covers everything under its node."""
    domain, codes = levels.domain, levels.domain.column.codes
    first = codes[groups.first_rows]
    node = levels.nodes[level]
    if (node[codes] != node[first][groups.of_row]).any():
        raise ParameterError(
            f"rows of one group have different nodes of {domain.name!r} on level {level}",
            remedy="Group rows by their nodes, or recode without levels.",
            key="levels",
            value=level,
        )
    low, high = levels.low[level, first], levels.high[level, first]
    cell = renumber(node[first])
    shown = first[np.unique(cell, return_index=True)[1]]  # one code under the node of each distinct cell
    group, places = distinct_pairs(groups.of_row, groups.count, domain.place[codes], domain.size + 1)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups.count))])
    cells = tuple(levels.label(level, int(code)) for code in shown)
    return ColumnRecoding(domain, low, high, offsets, places, cell, levels.shares(level)[first], cells)
