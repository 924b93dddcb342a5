"""Recoding: what each group publishes of its quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.groups import Groups, distinct_pairs
from sfumato.recoding.domain import Domain, How, domains_of
from sfumato.schema import Kind
from sfumato.table import Table, as_member, in_quotes

WITHHELD = "*"
"""A cell that tells nothing."""


@dataclass(frozen=True, eq=False)
class RecodedColumn:
    """What each group publishes of one quasi-identifier: the stretch of its domain that the group covers."""

    domain: Domain
    low: NDArray[np.int64]
    """For each group the first place of its values."""
    high: NDArray[np.int64]
    """For each group the last place; the domain's size if a value is missing."""
    offsets: NDArray[np.int64]
    """The distinct places of group g are `places[offsets[g]:offsets[g + 1]]`, ascending."""
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
            if self.domain.how is How.SET:
                yield tuple(self.places[self.offsets[group] : self.offsets[group + 1]].tolist())
            else:
                yield int(self.low[group]), int(self.high[group])


@dataclass(frozen=True, eq=False)
class Recoded:
    """What all groups publish.

    >>> from sfumato.schema import Schema
    >>> table = Table(pa.table({"age": [20, 30, 60, 60]}), Schema(["age"]))
    >>> recode(table, Groups(np.array([0, 0, 1, 1]), 2, 4)).columns[0].labels
    ('[20, 30]', '60')
    """

    groups: Groups
    columns: tuple[RecodedColumn, ...]

    def texts(self, column: RecodedColumn) -> pa.Array:
        """The published cells of one column, row by row; each distinct one is held once."""
        encoded = pa.array(column.cells, pa.string()).dictionary_encode()
        return pa.DictionaryArray.from_arrays(
            encoded.indices.take(pa.array(column.cell[self.groups.of_row])), encoded.dictionary
        )


def recode(table: Table, groups: Groups) -> Recoded:
    """Publish each group's quasi-identifiers as what all its rows have in common.

    Cost: that of sorting one integer per row and column.

    >>> from sfumato.schema import Schema
    >>> table = Table(pa.table({"town": ["Rome", "Bonn", "Bonn"]}), Schema(["town"]))
    >>> recode(table, Groups(np.array([0, 0, 1]), 2, 3)).columns[0].labels
    ('{Bonn; Rome}', 'Bonn')
    """
    return Recoded(groups, tuple(_column(domain, groups) for domain in domains_of(table)))


def _column(domain: Domain, groups: Groups) -> RecodedColumn:
    group, covered = distinct_pairs(groups.of_row, groups.count, domain.place[domain.column.codes], domain.size + 1)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups.count))])
    low, high = covered[offsets[:-1]], covered[offsets[1:] - 1]
    if domain.how is How.SET:
        members = covered.tolist()
        known: dict[tuple[int, ...], int] = {}
        cell = np.array([known.setdefault(tuple(members[a:b]), len(known)) for a, b in pairwise(offsets.tolist())])
    else:
        cell = _numbered(low * (domain.size + 1) + high)
    column = RecodedColumn(domain, low, high, offsets, covered, cell, np.zeros(0), ())
    keys = list(column.keys())
    shares = np.array([domain.share(key[0], key[-1], len(key)) for key in keys])
    return replace(column, shares=shares[cell], cells=tuple(_label(domain, key) for key in keys))


def _numbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labels numbered from 0 in the order in which they first occur."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _label(domain: Domain, places: Sequence[int]) -> str | None:
    """What is published for values at these places; only the first and last are looked at unless it is a set.

    Distinct intervals or sets have distinct labels, and `*` always means that nothing is told: a text that could be
    taken for something else stands in quotes.
    """
    low, high = places[0], places[-1]
    if low == domain.size:
        return None
    if high == domain.size:
        return WITHHELD
    plain = domain.column.numbers is not None or domain.column.kind is Kind.SET  # no text of anyone's choice
    if low == high:
        label = domain.label(low)
        return label if plain or not (label in ("", WITHHELD) or label[0] in '{["') else in_quotes(label)
    if domain.how is How.ANCESTOR:
        level = domain.common_level(low, high)
        label = domain.node_label(level, low)
        root = level == len(domain.above) - 1
        return in_quotes(label) if label[:1] in ("", '"') or (label == WITHHELD and not root) else label
    member = domain.label if plain else lambda place: as_member(domain.label(place))
    if domain.how is How.SET:
        return "{" + "; ".join(map(member, places)) + "}"
    return f"[{member(low)}, {member(high)}]"
