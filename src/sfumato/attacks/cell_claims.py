"""What follows from a published cell if it is the smallest one that covers its group: some of its values must occur.

The smallest interval has somebody at both ends, and a set somebody with each member. A node of a hierarchy has people below
at least two of its children, so if it has only two, below both of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.public_grids import fewest_parts
from sfumato.data.schema import Kind
from sfumato.releases.cells import WITHHELD, hierarchy_cell, interval_ends, is_quoted, set_members, unquote

Integers = NDArray[np.int64]

NOBODY = -1
"""The code of a value that nobody has."""


@dataclass(frozen=True, eq=False)
class CellClaims:
    """The claims that follow from the distinct cells of a quasi-identifier.

    A claim is that somebody in a group with that cell has one of some values. On level 0 they are a single value, on higher
    levels all values below a node of the hierarchy.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> ages = Table(pa.table({"age": [20, 25, 30]}), Schema(["age"])).column("age")
    >>> claims = CellClaims.of(["[20, 30]", "25", "[0, 30]"], ages, "interval")
    >>> claims.cell.tolist(), claims.value.tolist(), claims.level.tolist()
    ([0, 0, 2, 2], [0, 2, -1, 2], [0, 0, 0, 0])
    """

    cell: Integers
    """For each claim the number of its cell."""
    value: Integers
    """The code of the value that somebody has, or the number of the node; `NOBODY` if it does not occur in the original."""
    level: Integers
    """The level of the hierarchy on which `value` is a node; 0 for single values."""

    @classmethod
    def of(cls, cells: Sequence[str | None], column: Column, recoding: str, builder: Any = None) -> CellClaims:
        """Return the claims of cells; single values and missing ones have none.

        Neither has `*`, unless it is the root of a hierarchy and no value is missing. `builder`: the rule that made the
        hierarchy. If it is public how many parts a node has, which of them occur is not.
        """
        if recoding == "ancestor" and fewest_parts(builder, column) > 2:
            cells = ()
        reader = {"interval": _Ends, "set": _Members, "ancestor": _Children}[recoding](column)
        found = [
            (number, value, level)
            for number, cell in enumerate(cells)
            if cell and (cell != WITHHELD or (recoding == "ancestor" and not column.has_missing))
            for value, level in reader.claims(cell)
        ]
        table = np.array(found, np.int64).reshape(-1, 3)
        return cls(table[:, 0], table[:, 1], table[:, 2])


class _Ends:
    """An interval: both ends, if they are not the same."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.nested = column.kind is Kind.SET
        self.codes = {column.label(code): code for code in range(column.size)}
        numbers = column.numbers
        self.whole = {} if numbers is None else {int(n): code for code, n in enumerate(numbers.integers.tolist())}

    def claims(self, cell: str) -> list[tuple[int, int]]:
        """Return the value and the level of each claim."""
        return [(self.code(end), 0) for end in interval_ends(cell, self.nested)]

    def code(self, text: str) -> int:
        """Return the code of a value, however it is written; `NOBODY` if it does not occur."""
        if text in self.codes or self.column.numbers is None:
            return self.codes.get(text, NOBODY)
        number = self.column.numbers.parse(text)
        steps = None if number is None else number / self.column.numbers.unit
        return NOBODY if steps is None or steps.denominator != 1 else self.whole.get(int(steps), NOBODY)


class _Members(_Ends):
    """A set: each member."""

    def claims(self, cell: str) -> list[tuple[int, int]]:
        """Return the value and the level of each claim; a value that contains a brace is quoted, and is no set."""
        if self.nested and not cell.startswith("{{"):
            return []
        return [(self.code(one), 0) for one in set_members(cell, self.nested)]


class _Children(_Ends):
    """A node of a hierarchy: its children, if there are two of them."""

    def __init__(self, column: Column) -> None:
        super().__init__(column)
        hierarchy = column.hierarchy
        self.children: dict[str, list[tuple[int, int]]] = {}
        if hierarchy is None:
            return
        plain = column.numbers is not None or self.nested
        named = {int(node): hierarchy.leaves[leaf] for leaf, node in enumerate(hierarchy.paths[:, 0])}
        for level in range(1, len(hierarchy.labels)):
            pairs = np.unique(hierarchy.paths[:, [level, level - 1]], axis=0)
            nodes, first, count = np.unique(pairs[:, 0], return_index=True, return_counts=True)
            for node, at in zip(nodes[count == 2].tolist(), first[count == 2].tolist(), strict=True):
                below = pairs[at : at + 2, 1].tolist()
                if level == 1:  # children are leaves: single values
                    claims = [(self.code(named[child]), 0) for child in below]
                else:
                    claims = [(child, level - 1) for child in below]
                text = hierarchy_cell(hierarchy.labels[level][node], level, hierarchy.height, plain)
                self.children.setdefault(text, claims)

    def claims(self, cell: str) -> list[tuple[int, int]]:
        """Return the value and the level of each claim; a cell that is a value, such as a quoted one, has none."""
        if cell in self.codes or (is_quoted(cell) and unquote(cell) in self.codes):
            return []
        return self.children.get(cell, [])
