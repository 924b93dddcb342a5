"""Recoding: what each group publishes of its quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.groups import Groups, combined
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
    shares: NDArray[np.float64]
    """For each group the loss of its cell, from 0 (a single value) to 1 (nothing is told)."""
    labels: tuple[str | None, ...]
    """For each group what is published: the value itself, `[lo, hi]`, a node's label, `{a; b}`, or `*`; None if missing.

    A text that could be misread stands in double quotes: `{"a; b"; c}`.
    """


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
        encoded = pa.array(column.labels, pa.string()).dictionary_encode()
        return pa.DictionaryArray.from_arrays(encoded.indices.take(pa.array(self.groups.of_row)), encoded.dictionary)


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
    places = domain.place[domain.column.codes]
    _, pairs = combined([groups.of_row.astype(np.int32), places], [groups.count, domain.size + 1])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=groups.count))])
    covered = pairs[:, 1]
    low, high = covered[offsets[:-1]], covered[offsets[1:] - 1]
    known: dict[tuple[int, ...], tuple[float, str | None]] = {}
    shares, labels = np.empty(groups.count), []
    for group in range(groups.count):
        key: tuple[int, ...] = (int(low[group]), int(high[group]))
        if domain.how is How.SET:
            key = tuple(covered[offsets[group] : offsets[group + 1]].tolist())
        if key not in known:
            known[key] = domain.share(key[0], key[-1], len(key)), _label(domain, key)
        shares[group], label = known[key]
        labels.append(label)
    return RecodedColumn(domain, low, high, offsets, covered, shares, tuple(labels))


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
