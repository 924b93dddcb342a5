"""Recoding: what each group publishes of its quasi-identifiers."""

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
from sfumato.data.groups import Groups, distinct_pairs
from sfumato.data.table import Table
from sfumato.errors import ParameterError


@dataclass(frozen=True, eq=False)
class ColumnRecoding:
    """What each group publishes of one quasi-identifier: the stretch of its domain that the group covers."""

    domain: Domain
    low: NDArray[np.int64]
    """For each group the first place that its cell covers."""
    high: NDArray[np.int64]
    """For each group the last place; the domain's size if it covers missing values."""
    offsets: NDArray[np.int64]
    """The distinct places of the values of group g are `places[offsets[g]:offsets[g + 1]]`, ascending."""
    places: NDArray[np.int64]
    cell: NDArray[np.int64]
    """For each group which of the distinct cells it publishes; those are numbered in the order of their first groups."""
    shares: NDArray[np.float64]
    """For each group the loss of its cell, from 0 (a single value) to 1 (nothing is told)."""
    cells: tuple[str | None, ...]
    """For each distinct cell what is published: the value itself, `[lo, hi]`, a node's label, `{a; b}`, or `*`; None if
    missing.

    A text that could be misread stands in double quotes: `{"a; b"; c}`.
    """

    @property
    def labels(self) -> tuple[str | None, ...]:
        """For each group what is published."""
        return tuple(self.cells[cell] for cell in self.cell.tolist())

    def keys(self) -> Iterator[tuple[int, ...]]:
        """For each distinct cell its first and last place; all its places if it is a set."""
        for group in np.unique(self.cell, return_index=True)[1].tolist():
            if self.domain.recoding is RecodingKind.SET:
                yield tuple(self.places[self.offsets[group] : self.offsets[group + 1]].tolist())
            else:
                yield int(self.low[group]), int(self.high[group])


@dataclass(frozen=True, eq=False)
class Recoding:
    """What all groups publish.

    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"age": [20, 30, 60, 60]}), Schema(["age"]))
    >>> recode(table, Groups(np.array([0, 0, 1, 1]), 2, 4)).columns[0].labels
    ('[20, 30]', '60')
    """

    groups: Groups
    columns: tuple[ColumnRecoding, ...]
    levels: tuple[int, ...] | None = None
    """For each quasi-identifier the level that all its cells are published at, if they are."""

    def texts(self, column: ColumnRecoding) -> pa.Array:
        """The published cells of one column, row by row; each distinct one is held once."""
        encoded = pa.array(column.cells, pa.string()).dictionary_encode()
        return pa.DictionaryArray.from_arrays(
            encoded.indices.take(pa.array(column.cell[self.groups.of_row])), encoded.dictionary
        )


def recode(table: Table, groups: Groups, levels: Sequence[int] | None = None) -> Recoding:
    """Publish each group's quasi-identifiers as what all its rows have in common.

    With `levels`, one per quasi-identifier, every cell is the node on that level of the column's hierarchy, and `*` on the
    last one (see `ColumnLevels`); all rows of a group must have the same nodes. Cost: that of sorting one integer per row
    and column.

    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"town": ["Rome", "Bonn", "Bonn"]}), Schema(["town"]))
    >>> recode(table, Groups(np.array([0, 0, 1]), 2, 3)).columns[0].labels
    ('{Bonn; Rome}', 'Bonn')
    """
    if levels is None:
        return Recoding(groups, tuple(_column(domain, groups) for domain in domains_of(table)))
    levels = tuple(map(int, levels))
    ladders = column_levels(table)
    if len(levels) != len(ladders) or any(not 0 <= at <= ladder.height for at, ladder in zip(levels, ladders, strict=False)):
        raise ParameterError(
            f"levels = {list(levels)} do not fit the quasi-identifiers",
            remedy=f"Give one for each, at most {[ladder.height for ladder in ladders]}.",
            key="levels",
            value=levels,
        )
    columns = (_level_column(ladder, groups, level) for ladder, level in zip(ladders, levels, strict=True))
    return Recoding(groups, tuple(columns), levels)


def _column(domain: Domain, groups: Groups) -> ColumnRecoding:
    group, covered = distinct_pairs(groups.of_row, groups.count, domain.place[domain.column.codes], domain.size + 1)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups.count))])
    low, high = covered[offsets[:-1]], covered[offsets[1:] - 1]
    if domain.recoding is RecodingKind.SET:
        members = covered.tolist()
        known: dict[tuple[int, ...], int] = {}
        cell = np.array([known.setdefault(tuple(members[a:b]), len(known)) for a, b in pairwise(offsets.tolist())])
    else:
        cell = _numbered(low * (domain.size + 1) + high)
    column = ColumnRecoding(domain, low, high, offsets, covered, cell, np.zeros(0), ())
    keys = list(column.keys())
    shares = np.array([domain.share(key[0], key[-1], len(key)) for key in keys])
    return replace(column, shares=shares[cell], cells=tuple(cell_text(domain, key) for key in keys))


def _level_column(ladder: ColumnLevels, groups: Groups, level: int) -> ColumnRecoding:
    """Every cell the node of one level: what a group publishes covers all that is under it."""
    domain, codes = ladder.domain, ladder.domain.column.codes
    first = codes[groups.first_rows]
    node = ladder.nodes[level]
    if (node[codes] != node[first][groups.of_row]).any():
        raise ParameterError(
            f"rows of one group have different nodes of {domain.name!r} on level {level}",
            remedy="Group rows by their nodes, or publish without levels.",
            key="levels",
            value=level,
        )
    low, high = ladder.low[level, first], ladder.high[level, first]
    cell = _numbered(node[first])
    shown = first[np.unique(cell, return_index=True)[1]]
    group, places = distinct_pairs(groups.of_row, groups.count, domain.place[codes], domain.size + 1)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups.count))])
    cells = tuple(ladder.label(level, int(code)) for code in shown)
    return ColumnRecoding(domain, low, high, offsets, places, cell, ladder.shares(level)[first], cells)


def _numbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labels numbered from 0 in the order in which they first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
