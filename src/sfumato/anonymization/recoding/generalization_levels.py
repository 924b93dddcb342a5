"""The levels at which a whole quasi-identifier can be published, from its values up to `*`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding.cell_text import node_text, value_text
from sfumato.anonymization.recoding.domain import Domain, RecodingKind, domain_of
from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.releases.cells import WITHHELD


@dataclass(frozen=True, eq=False)
class ColumnLevels:
    """The levels of a quasi-identifier: those of its hierarchy; without one, the values themselves and `*`.

    For each level and code it contains the stretch of places that the node covers. Missing values have a node of their own
    on every level below the root.

    >>> import pyarrow as pa
    >>> from sfumato.data.hierarchy import Intervals
    >>> from sfumato.data.schema import Schema
    >>> people = pa.table({"age": [31, 34, 47], "sex": ["f", "m", None]})
    >>> age, sex = column_levels(Table(people, Schema(["age", "sex"], hierarchies={"age": Intervals((10,))})))
    >>> age.height, age.nodes.tolist(), sex.nodes.tolist()
    (2, [[0, 1, 2], [0, 0, 1], [0, 0, 0]], [[0, 1, 2], [0, 0, 0]])
    """

    domain: Domain
    low: NDArray[np.int64]
    """For each level and code the first place under its node."""
    high: NDArray[np.int64]
    """The last place under its node; the domain's size if missing values are under it."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.domain.name

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.low) - 1

    @cached_property
    def nodes(self) -> NDArray[np.int64]:
        """For each level and code its node. Nodes that occur are numbered from 0 along the places."""
        return np.stack([np.unique(low, return_inverse=True)[1] for low in self.low]).astype(np.int64)

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """For each level and code the leaves that its node leaves open: see `Domain.share`; 0 if it is a single value."""
        single, size = self.low == self.high, self.domain.size
        return np.where(single, 0, np.where(self.high == size, size, self.high - self.low + 1))

    def shares(self, level: int) -> NDArray[np.float64]:
        """Return the loss of the cell of each code on a level."""
        return np.asarray(self.leaves[level] / max(1, self.domain.size))

    def label(self, level: int, code: int) -> str | None:
        """Return the text that is published for a code on a level; None for a missing value below the root."""
        low = int(self.low[level, code])
        if level == self.height:
            return WITHHELD
        if low == self.domain.size:
            return None
        return node_text(self.domain, level, low) if level else value_text(self.domain, low)


def column_levels(table: Table) -> list[ColumnLevels]:
    """Return the levels of all quasi-identifiers of a table, in the schema's order.

    A recoding other than ancestors is an error, because only nodes can be published level by level.
    """
    columns = []
    for name in table.schema.quasi_identifiers:
        declared = table.schema.recodings.get(name)
        if declared not in (None, RecodingKind.ANCESTOR):
            raise ColumnError(
                f"full-domain generalization publishes nodes of a hierarchy, but recoding = {declared!r} is declared",
                remedy="Remove the recoding, or use another method.",
                file=table.source,
                column=name,
                value=declared,
            )
        columns.append(_levels_of(domain_of(table.column(name), declared)))
    return columns


def _levels_of(domain: Domain) -> ColumnLevels:
    place, size, missing = domain.place.astype(np.int64), domain.size, domain.column.has_missing
    below = domain.above[:-1] if domain.recoding is RecodingKind.ANCESTOR else [np.arange(size)]
    low, high = [], []
    for nodes in below:
        node = np.append(nodes, size)[place]  # the missing place has no node; its own number sorts after all others
        low.append(np.where(place == size, size, np.searchsorted(nodes, node)))
        high.append(np.where(place == size, size, np.searchsorted(nodes, node, side="right") - 1))
    low.append(np.zeros(len(place), np.int64))
    high.append(np.full(len(place), size if missing else size - 1))
    return ColumnLevels(domain, np.stack(low), np.stack(high))
