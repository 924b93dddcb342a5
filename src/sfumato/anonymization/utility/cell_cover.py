"""The places of the domain that a published cell covers: those that the original value may have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import ColumnRecoding, Domain, RecodingKind
from sfumato.releases.cells import WITHHELD


@dataclass(frozen=True, eq=False)
class Cover:
    """The distinct cells of one published column, each as stretches of places, and each group's cell.

    A single value covers its place, an interval the places from its ends, an ancestor the leaves under it, a set its
    members. A cell `*` covers every place, and the missing one too if any row of the column has a missing value. The same
    holds for a hierarchy's root, because a reader sees the same `*`. A missing cell covers the missing place.

    >>> import pyarrow as pa
    >>> from sfumato.data.groups import Groups
    >>> from sfumato.anonymization.recoding import recode
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> table = Table(pa.table({"age": [20, 30, 40, 40]}), Schema(["age"]))
    >>> cover = Cover.of(recode(table, Groups(np.array([0, 1, 0, 1]), 2, 4)).columns[0])
    >>> cover.first.tolist(), cover.stop.tolist(), cover.sizes.tolist()
    ([0, 1], [3, 3], [3, 2])
    """

    domain: Domain
    cell: NDArray[np.int64]
    """For each group the number of its cell."""
    offsets: NDArray[np.int64]
    """Cell c consists of the stretches `offsets[c]:offsets[c + 1]`."""
    first: NDArray[np.int64]
    """The first place of each stretch."""
    stop: NDArray[np.int64]
    """The place after the last of each stretch."""
    level: NDArray[np.int64] | None = None
    """For each cell that was parsed from its text the level of its node; -1 for `*`, 0 for anything else."""

    @classmethod
    def of(cls, column: ColumnRecoding) -> Cover:
        """Return the cells of a published column. Cost: linear in the distinct cells, and in the members of sets."""
        domain = column.domain
        stretches = [_stretches(domain, key, label) for key, label in zip(column.keys(), column.cells, strict=True)]
        flat = np.array([stretch for parts in stretches for stretch in parts], np.int64).reshape(-1, 2)
        offsets = np.cumsum([0, *map(len, stretches)], dtype=np.int64)
        return cls(domain, column.cell, offsets, flat[:, 0].copy(), flat[:, 1].copy())

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of places that each cell covers."""
        return np.add.reduceat(self.stop - self.first, self.offsets[:-1])


def _stretches(domain: Domain, places: tuple[int, ...], label: str | None) -> list[tuple[int, int]]:
    """Return what a cell covers, from the first and last place of its group, or from all its places if it is a set."""
    low, high = places[0], places[-1]
    # a reader cannot distinguish a withheld cell from a root that is labelled `*`
    if label == WITHHELD:
        return [(0, domain.size + domain.column.has_missing)]
    if low == high:
        return [(low, low + 1)]
    if domain.recoding is RecodingKind.SET:
        return [(place, place + 1) for place in places]
    if domain.recoding is RecodingKind.ANCESTOR:
        nodes = domain.above[domain.common_level(low, high)]
        # the nodes of a level are numbered along the line, so those equal to one node are adjacent
        low, after = np.searchsorted(nodes, [nodes[low], nodes[low] + 1]).tolist()
        return [(low, after)]
    return [(low, high + 1)]
