"""Generalization hierarchies: trees whose leaves are the values of a column."""

from __future__ import annotations

import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data.text_values import text_value
from sfumato.errors import HierarchyError, ParameterError
from sfumato.exact import Number, as_fraction, written
from sfumato.exact.numbers import parse_decimal
from sfumato.plurals import count_of

if TYPE_CHECKING:
    from sfumato.data.column import Column

ROOT = "*"
"""The label of the root, which covers every value."""

_EXACT = re.compile(r"-?\d+(\.\d+|/0*[1-9]\d*)?", re.ASCII)
"""A decimal, or a fraction where the decimal would not end, as `written` writes it."""

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
                _refuse_empty_labels(rows, str(path))
        except (OSError, ValueError, csv.Error) as error:  # not UTF-8, or a NUL in the path
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

    def rows(self) -> list[list[str]]:
        """Return one path per leaf, as `from_rows` reads them.

        >>> Hierarchy.from_rows([["flu", "lung", "*"]]).rows()
        [['flu', 'lung', '*']]
        """
        labels = [np.array(nodes, object)[path] for nodes, path in zip(self.labels, self.paths.T, strict=True)]
        return [list(row) for row in zip(*labels, strict=True)]

    def to_csv(self) -> str:
        """Return the text of a hierarchy file: a line `leaf;level1;…;*` per leaf."""
        text = io.StringIO()
        csv.writer(text, delimiter=";", lineterminator="\n").writerows(self.rows())
        return text.getvalue()

    def merged(self, lower: int, upper: int) -> Hierarchy:
        """Return the hierarchy in which adjacent levels, from `lower` to `upper`, are replaced by the uppermost of them.

        The leaves cannot be merged: `lower` is at least 1.

        >>> tree = Hierarchy.from_rows([["flu", "lung", "chest", "*"], ["angina", "heart", "chest", "*"]])
        >>> tree.merged(1, 2).rows()
        [['flu', 'chest', '*'], ['angina', 'chest', '*']]
        """
        if not 1 <= lower < upper <= self.height:
            raise ParameterError(
                f"levels {lower} and {upper} of a hierarchy with levels 0 to {self.height} cannot be merged",
                remedy="Name two levels above the leaves, the lower one first.",
                key="levels",
                value=(lower, upper),
            )
        kept = [level for level in range(self.height + 1) if not lower <= level < upper]
        return Hierarchy(tuple(self.labels[level] for level in kept), self.paths[:, kept].copy(), self.source)

    def generalize(self, leaf: str, level: int) -> str:
        """Return the label of the ancestor of a leaf on a level."""
        return self.labels[level][int(self.over([leaf])[0, level])]

    def common_level(self, one: str, other: str) -> int:
        """Return the level of the lowest common ancestor of two leaves."""
        first, second = self.over([one, other])
        return int(np.argmax(first == second))


def _refuse_empty_labels(rows: Sequence[Sequence[str]], source: str) -> None:
    """Raise an error if a label above a leaf is empty: somebody forgot to fill it in."""
    for number, row in enumerate(rows, start=1):
        level = next((level for level, label in enumerate(row) if level and not label.strip()), None)
        if level is not None:
            raise HierarchyError(
                f"line {number} has no label on level {level}",
                remedy="Fill it in: lines are leaf;level1;…;*",
                file=source,
                value=row[0],
            )


def _not_a_tree(problem: str, value: object, source: str | None) -> HierarchyError:
    return HierarchyError(
        f"the hierarchy is not a tree: {problem}",
        remedy="Give every leaf one path leaf;level1;…;* of the same length, and every node one parent.",
        file=source,
        value=value,
    )


class HierarchyBuilder(ABC):
    """Builds the hierarchy of a column from its values.

    Builders are small frozen values. The first field is what a config writes under `key`; the others have their own names.
    """

    key: ClassVar[str]
    """The key of a config that names the builder."""

    @abstractmethod
    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values, in their order."""

    @property
    @abstractmethod
    def height(self) -> int:
        """The number of levels above the values, the root included."""

    @abstractmethod
    def is_node(self, label: str, level: int) -> bool:
        """Return whether a label may be a node between the values and the root, whatever the values are."""

    def resolved(self, column: Column) -> HierarchyBuilder:
        """Return a builder that gives the same hierarchy without the rows of the column; by default itself.

        A release states it: whoever reads the release does not have the rows.
        """
        del column
        return self

    def may_resolve_to(self, other: Any) -> bool:
        """Return whether `resolved` of some column may be another builder; by default only itself."""
        return bool(self == other)

    def section(self) -> dict[str, Any]:
        """Return the builder as plain data, as a config states it."""
        first, *others = fields(self)  # type: ignore[arg-type]
        section = {self.key: plain_data(getattr(self, first.name))}
        for each in others:
            value = getattr(self, each.name)
            if each.default is MISSING or value != each.default:
                section[each.name] = plain_data(value)
        return section

    @classmethod
    def of_section(cls, section: Mapping[str, Any]) -> Self:
        """Return the builder that plain data states."""
        first, *_ = fields(cls)  # type: ignore[arg-type]
        return cls(**{first.name if key == cls.key else key: value for key, value in section.items()})


def plain_data(value: Any) -> Any:
    """Return a field of a builder as JSON and TOML can express it: exact numbers as text."""
    if isinstance(value, Mapping):
        return {key: plain_data(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(inner) for inner in value]
    return str(value) if isinstance(value, float | Decimal | Fraction) else value


@dataclass(frozen=True)
class Flat(HierarchyBuilder):
    """Builds the hierarchy with nothing between the values and the root.

    >>> Flat().build(["a", "b"], "letter").height
    1
    """

    key: ClassVar[str] = "flat"

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return 1

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values."""
        return Hierarchy.from_rows([value, ROOT] for value in values)

    def is_node(self, label: str, level: int) -> bool:
        """Return False: there is no such node."""
        return False

    def section(self) -> dict[str, Any]:
        """Return the builder as plain data."""
        return {self.key: True}

    @classmethod
    def of_section(cls, section: Mapping[str, Any]) -> Self:
        """Return the builder that plain data states."""
        return cls()


@dataclass(frozen=True)
class Intervals(HierarchyBuilder):
    """Builds nested half-open intervals over numbers, one level per width; each width a multiple of the one before.

    >>> Intervals((5, 10)).build(["17", "21"], "age").generalize("17", 1)
    '[15, 20)'
    """

    widths: tuple[Number, ...]
    origin: Number = 0

    key: ClassVar[str] = "intervals"

    def __post_init__(self) -> None:
        widths = self.widths if isinstance(self.widths, list | tuple) else (self.widths,)
        steps = [as_fraction(width, "intervals") for width in widths]
        as_fraction(self.origin, "origin")
        object.__setattr__(self, "widths", tuple(widths))
        positive = bool(steps) and min(steps) > 0
        if not positive or not all(wide % narrow == 0 and wide > narrow for narrow, wide in pairwise(steps)):
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
        labels: list[dict[int, str]] = [{} for _ in steps]
        """For each level the labels of its intervals, by their number from the origin."""
        rows = []
        for value in values:
            top, bottom = decimal_of(value, column, "intervals").as_integer_ratio()
            row = [value]
            for step, known in zip(steps, labels, strict=True):
                # whole numbers instead of (number − origin) // step, which is slow for many values
                number = (
                    (top * origin.denominator - origin.numerator * bottom)
                    * step.denominator
                    // (bottom * origin.denominator * step.numerator)
                )
                if number not in known:
                    low = origin + number * step
                    known[number] = f"[{written(low)}, {written(low + step)})"
                row.append(known[number])
            row.append(ROOT)
            rows.append(row)
        return Hierarchy.from_rows(rows)

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.widths) + 1

    def is_node(self, label: str, level: int) -> bool:
        """Return whether a label is one of the half-open intervals of a level.

        >>> Intervals((10,)).is_node("[30, 40)", 1), Intervals((10,)).is_node("[30, 35)", 1)
        (True, False)
        """
        ends = half_open_ends(label)
        width, origin = as_fraction(self.widths[level - 1]), as_fraction(self.origin)
        return ends is not None and ends[1] - ends[0] == width and (ends[0] - origin) % width == 0

    def span(self, number: Fraction, level: int) -> tuple[Fraction, Fraction]:
        """Return the ends of the interval of a level that contains a number."""
        width, origin = as_fraction(self.widths[level - 1]), as_fraction(self.origin)
        low = origin + (number - origin) // width * width
        return low, low + width

    def section(self) -> dict[str, Any]:
        """Return the builder as plain data; the origin is always stated."""
        return {self.key: plain_data(self.widths), "origin": plain_data(self.origin)}


def number_of(value: str, column: str, builder: str) -> Fraction:
    """Return the number that a value is; any other value is an error of a builder that needs numbers."""
    return Fraction(decimal_of(value, column, builder))


def decimal_of(value: str, column: str, builder: str) -> Decimal:
    """Return the decimal that a value is; any other value is an error of a builder that needs numbers."""
    decimal = parse_decimal(value)
    if decimal is None:
        raise HierarchyError(
            f"{builder} need numbers, and {value!r} is not one",
            remedy="Declare a hierarchy file for this column.",
            column=column,
            value=value,
        )
    return decimal


def half_open_ends(label: str) -> tuple[Fraction, Fraction] | None:
    """Return the ends of `[low, high)`; None for any other text."""
    ends = label[1:-1].split(", ")
    if not (label.startswith("[") and label.endswith(")") and len(ends) == 2 and all(map(_EXACT.fullmatch, ends))):
        return None
    low, high = map(Fraction, ends)
    return low, high
