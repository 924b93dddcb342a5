"""Consistency by containment: a generalized value is consistent with the values that it may stand for."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.disclosure.consistency.consistency import AttributePairing, Consistency, ConsistentValues, as_texts, present
from sfumato.disclosure.consistency.generalized_cells import CellRanges, Side, cell_ranges
from sfumato.disclosure.dictionaries.dictionary import Dictionary


@dataclass(frozen=True)
class ContainmentConsistency(Consistency):
    """Two cells are consistent if some value can be in both; Lebanon et al. (2006, Section 4) leave generalization open.

    On either side a cell may be a value, an interval `[lo, hi]` (a round bracket excludes the end), a set `{a; b}`, a
    node of the column's hierarchy, or `*`, which counts as missing; a text in double quotes stands for itself. A cell in
    brackets that is none of these is an error, unless the other side contains the same text: as a value that nobody has
    it would make a record look safe. A value that is not generalized is consistent with an equal one. Hierarchy, kind and
    order are those of the records' schema. If no kind is declared, intervals of numbers make the attribute numeric. A
    label that is both a value and an inner node is read as the node, so that nobody is left out.

    >>> import pyarrow as pa
    >>> from sfumato import Schema
    >>> people = Table(pa.table({"age": ["[20, 30]", "41"]}), Schema(["age"]))
    >>> book = Dictionary(pa.table({"age": [19, 20, 25, 41]}))
    >>> ContainmentConsistency().pair(people, "age", book).consistent  # values in the order of their texts
    ConsistentValues(starts=array([0, 1, 3]), near=array([3, 1, 2], dtype=int32))
    """

    kind: str = field(default="containment", init=False, repr=False)

    def pair(self, table: Table, attribute: str, dictionary: Dictionary) -> AttributePairing:
        """Number the cells of both sides as they are written, and find which can stand for a common value."""
        mine = as_texts(table, attribute, "containment")
        theirs = dictionary.column(attribute, Kind.CATEGORICAL, table.schema)
        sides = [
            Side(mine, table.source, "the records", strict=True),
            Side(theirs, dictionary.table.source, dictionary.title, strict=False),
        ]
        one, other = cell_ranges(sides, table.schema, attribute)
        values, dictionary_values = (
            np.append(np.where(side.anything, -1, np.arange(len(side.anything))), -1)[present(column)].astype(np.int32)
            for side, column in ((one, mine), (other, theirs))
        )
        return AttributePairing(values, dictionary_values, _overlaps(one, other))


def _overlaps(one: CellRanges, other: CellRanges) -> ConsistentValues:
    """For each cell of one side the cells of the other side that share a position with it."""
    single = np.flatnonzero(other.low == other.high)
    single = single[np.argsort(other.low[single], kind="stable")]
    places, owners = other.low[single], other.cell[single].astype(np.int32)
    wide = np.flatnonzero(other.low < other.high)
    low, high, whose = other.low[wide], other.high[wide], other.cell[wide].astype(np.int32)
    first, last = np.searchsorted(places, one.low), np.searchsorted(places, one.high, side="right")
    starts = np.searchsorted(one.cell, np.arange(len(one.anything) + 1))
    # a cell of the dictionary that is a single position is found by binary search; wider ones are compared one by one
    overlaps = []
    for cell in range(len(one.anything)):
        parts = [np.zeros(0, np.int32)]
        for n in range(starts[cell], starts[cell + 1]):
            parts.append(owners[first[n] : last[n]])
            if len(wide):
                parts.append(whose[(low <= one.high[n]) & (one.low[n] <= high)])
        overlaps.append(np.unique(np.concatenate(parts)))
    ends = np.cumsum([0, *map(len, overlaps)], dtype=np.int64)
    return ConsistentValues(ends, np.concatenate([np.zeros(0, np.int32), *overlaps]))
