"""Generalization hierarchies: trees whose leaves are the values of a column."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.data.text_values import text_value
from sfumato.errors import HierarchyError, ParameterError
from sfumato.exact import Number, as_fraction, written
from sfumato.exact.numbers import parse_decimal
from sfumato.plurals import count_of

ROOT = "*"
"""The label of the root, which covers every value."""

_SHOWN = 8
"""How many missing leaves an error message lists in full."""


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A tree over a column's values in which every leaf has the same number of levels above it.

    Level 0 contains the leaves, the last level the root. A node is a label on a level: the same label may occur on several
    levels (a leaf "White" under a node "White").

    >>> tree = Hierarchy.from_rows([["flu", "lung", "*"], ["asthma", "lung", "*"], ["ulcer", "gut", "*"]])
    >>> tree.height, tree.generalize("flu", 1), tree.common_level("flu", "ulcer")
    (2, 'lung', 2)
    """

    labels: tuple[tuple[str, ...], ...]
    """The labels of each level's nodes."""
    paths: NDArray[np.int32]
    """For each leaf (row) and level (column): the ancestor of the leaf on that level."""
    source: str | None = None
    """The file that it was read from."""
    _leaf: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # a leaf is found as it is written, else as one value is written
        leaves = {text_value(leaf): i for i, leaf in enumerate(self.labels[0])}
        object.__setattr__(self, "_leaf", {**leaves, **{leaf: i for i, leaf in enumerate(self.labels[0])}})

    def __repr__(self) -> str:
        """Show the size, never labels: leaves may be cells."""
        file = "" if self.source is None else f", from {self.source}"
        return f"<Hierarchy: {count_of(len(self.leaves), 'leaf', 'leaves')}, {count_of(len(self.labels), 'level')}{file}>"

    @property
    def height(self) -> int:
        """The number of levels above the leaves."""
        return len(self.labels) - 1

    @property
    def leaves(self) -> tuple[str, ...]:
        """The labels of the leaves."""
        return self.labels[0]

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], source: str | None = None) -> Hierarchy:
        """Build from one path per leaf: leaf, level 1, …, root."""
        levels: list[dict[str, int]] = []
        parents: list[dict[int, tuple[int, int]]] = []
        paths: list[list[int]] = []
        for number, row in enumerate(rows, start=1):
            if not levels:
                if len(row) < 2:
                    raise _not_a_tree(f"line {number} has {len(row)} field", row, source)
                levels = [{} for _ in row]
                parents = [{} for _ in row]
            if len(row) != len(levels):
                raise _not_a_tree(f"line {number} has {len(row)} fields, line 1 has {len(levels)}", row, source)
            path = [nodes.setdefault(label, len(nodes)) for nodes, label in zip(levels, row, strict=True)]
            for level, (child, parent) in enumerate(pairwise(path)):
                known, line = parents[level].setdefault(child, (parent, number))
                if known != parent:
                    old = list(levels[level + 1])[known]
                    raise _not_a_tree(
                        f"level {level} node {row[level]!r} is under {old!r} in line {line} "
                        f"and under {row[level + 1]!r} in line {number}",
                        row[level],
                        source,
                    )
            if path[0] == len(paths):  # a leaf may be repeated with the same path
                paths.append(path)
        if not levels:
            raise HierarchyError("the hierarchy is empty", remedy="Write one line per leaf: leaf;level1;…;*", file=source)
        if len(levels[-1]) != 1:
            tops = sorted(levels[-1])[:_SHOWN]
            raise _not_a_tree(f"the last level has several nodes: {', '.join(map(repr, tops))}", tops, source)
        return cls(tuple(tuple(nodes) for nodes in levels), np.array(paths, np.int32), source)

    @classmethod
    def from_file(cls, path: str | Path, encoding: str = "utf-8-sig") -> Hierarchy:
        """Read `leaf;level1;…;*` lines."""
        try:
            with Path(path).open(encoding=encoding, newline="") as file:
                rows = [row for row in csv.reader(file, delimiter=";") if row]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text of lines leaf;…;*"
            raise HierarchyError(
                f"the hierarchy cannot be read: {reason}",
                remedy="Name a readable file of lines leaf;level1;…;*",
                file=str(path),
            ) from error
        return cls.from_rows(rows, str(path))

    def over(self, values: Sequence[str], column: str | None = None) -> NDArray[np.int32]:
        """Return the paths of the values of a column; values that are not leaves are an error that lists them."""
        absent = [value for value in values if value not in self._leaf]
        if absent:
            listed = ", ".join(map(repr, absent[:_SHOWN]))
            more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
            raise HierarchyError(
                f"the hierarchy lacks {len(absent)} of the column's values: {listed}{more}",
                remedy="Add a line for each of them, or list those that mean missing under missing.values.",
                file=self.source,
                column=column,
                value=absent,
            )
        return np.asarray(self.paths[[self._leaf[value] for value in values]])

    def generalize(self, leaf: str, level: int) -> str:
        """Return the label of the ancestor of a leaf on a level."""
        return self.labels[level][int(self.over([leaf])[0, level])]

    def common_level(self, one: str, other: str) -> int:
        """Return the level of the lowest common ancestor of two leaves."""
        first, second = self.over([one, other])
        return int(np.argmax(first == second))


def _not_a_tree(problem: str, value: object, source: str | None) -> HierarchyError:
    return HierarchyError(
        f"the hierarchy is not a tree: {problem}",
        remedy="Give every leaf one path leaf;level1;…;* of the same length, and every node one parent.",
        file=source,
        value=value,
    )


@dataclass(frozen=True)
class Flat:
    """Builds the hierarchy with nothing between the values and the root.

    >>> Flat().build(["a", "b"], "letter").height
    1
    """

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values."""
        return Hierarchy.from_rows([value, ROOT] for value in values)


@dataclass(frozen=True)
class Intervals:
    """Builds nested half-open intervals over numbers, one level per width; each width a multiple of the one before.

    >>> Intervals((5, 10)).build(["17", "21"], "age").generalize("17", 1)
    '[15, 20)'
    """

    widths: tuple[Number, ...]
    origin: Number = 0

    def __post_init__(self) -> None:
        widths = self.widths if isinstance(self.widths, list | tuple) else (self.widths,)
        steps = [as_fraction(width, "intervals") for width in widths]
        as_fraction(self.origin, "origin")
        object.__setattr__(self, "widths", tuple(widths))
        nested = all(wide % narrow == 0 and wide > narrow for narrow, wide in pairwise(steps))
        if not steps or steps[0] <= 0 or not nested:
            raise ParameterError(
                f"intervals of widths {list(map(written, steps))} do not nest",
                remedy="Give positive widths, each a multiple of the one before, such as [5, 10, 20].",
                key="intervals",
                value=self.widths,
            )

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values."""
        origin = as_fraction(self.origin, "origin")
        steps = [as_fraction(width) for width in self.widths]
        rows = []
        for value in values:
            decimal = parse_decimal(value)
            if decimal is None:
                raise HierarchyError(
                    f"intervals need numbers, and {value!r} is not one",
                    remedy="Declare a hierarchy file for this column.",
                    column=column,
                    value=value,
                )
            number = Fraction(decimal)
            lows = [origin + (number - origin) // step * step for step in steps]
            path = [f"[{written(low)}, {written(low + step)})" for low, step in zip(lows, steps, strict=True)]
            rows.append([value, *path, ROOT])
        return Hierarchy.from_rows(rows)
