"""Generalized cells as ranges of positions on a line on which all values of an attribute are arranged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from math import lcm
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.date_formats import date_reader
from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.hierarchy_builders import Consecutive, Prefix
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.errors import CellError, ColumnError
from sfumato.exact.numbers import packed
from sfumato.releases.cells import interval_end, is_quoted, members, unquote

_INTERVAL = re.compile(r"([\[(])(.*)([\])])", re.DOTALL)

_BRACKETED = re.compile(r"\[.*[\])]|\(.*\]|\{.*\}", re.DOTALL)
"""Cells that look generalized, whether or not they can be read."""

_ORDERED = (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL)
"""Kinds whose values are ordered without a hierarchy, and have intervals."""

CellRange = tuple[int, int]
"""The first and the last of consecutive positions."""


class ParsedCell(NamedTuple):
    """A cell parsed by the grammar of releases, whatever its column contains."""

    text: str
    members: tuple[str, ...]
    """The members of a set `{a; b}`; otherwise the cell itself, without its quotes."""
    ends: tuple[str, str] | None
    """The ends of an interval."""
    open: tuple[bool, bool]
    """Whether the interval excludes its first and its last value: `[lo, hi)`."""


def parse_cell(text: str) -> ParsedCell:
    """Parse a cell as a release writes it: a value, `[lo, hi]`, `{a; b}`, or a text in quotes that stands for itself.

    The space within an interval is optional.

    >>> parse_cell("{a; b}").members, parse_cell("[1, 5)").ends, parse_cell("[1, 5)").open, parse_cell("[1,5]").ends
    (('a', 'b'), ('1', '5'), (False, True), ('1', '5'))
    """
    if is_quoted(text):
        return ParsedCell(text, (unquote(text),), None, (False, False))
    if text.startswith("{") and text.endswith("}"):
        return ParsedCell(text, tuple(members(text[1:-1], "; ", nested=False)) or (text,), None, (False, False))
    match = _INTERVAL.fullmatch(text)
    ends = members(match[2], ", ", nested=False) or members(match[2], ",", nested=False) if match else []
    if match and len(ends) == 2:
        return ParsedCell(text, (text,), (ends[0], ends[1]), (match[1] == "(", match[3] == ")"))
    return ParsedCell(text, (text,), None, (False, False))


@dataclass(frozen=True, eq=False)
class Side:
    """The cells of one side, records or dictionary, and their source."""

    column: Column
    source: str | None
    title: str
    strict: bool
    """Whether a value that the hierarchy does not contain is an error."""

    @property
    def texts(self) -> Sequence[str]:
        """The distinct cells."""
        return self.column.texts

    def cell_error(self, code: int, problem: str, remedy: str) -> CellError:
        """The error for a cell."""
        return CellError(
            f"{self.title}: {problem}",
            remedy=remedy,
            file=self.source,
            column=self.column.name,
            row=int(np.argmax(self.column.codes == code)) + 1,
            value=self.texts[code],
        )


@dataclass(frozen=True, eq=False)
class CellRanges:
    """The positions that the distinct cells of one side stand for: range n belongs to the cell `cell[n]`."""

    cell: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    anything: NDArray[np.bool_]
    """The cells that may stand for any value."""

    @classmethod
    def of(cls, of_cell: Sequence[Sequence[CellRange] | None]) -> CellRanges:
        """Gather the ranges of all cells; None is a cell that may stand for any value."""
        cell = np.repeat(np.arange(len(of_cell)), [len(ranges or ()) for ranges in of_cell])
        ends = np.array([*chain.from_iterable(ranges or () for ranges in of_cell)], np.int64).reshape(-1, 2)
        return cls(cell, ends[:, 0], ends[:, 1], np.array([ranges is None for ranges in of_cell], bool))


def cell_ranges(sides: Sequence[Side], schema: Schema, attribute: str) -> list[CellRanges]:
    """Arrange the values of an attribute on a line, and find the positions that each cell of both sides covers.

    Numbers have even positions in their order, values of an ordinal column those of the declared order, and all others
    such positions that the leaves below any node of the hierarchy are consecutive. The label of a node stands for its
    leaves, on whatever level it is found; `*` and the root stand for anything. `sides`: the records first.
    """
    declared = schema.hierarchies.get(attribute)
    tree = Hierarchy.from_file(declared) if isinstance(declared, str | Path) else declared
    tree = tree if isinstance(tree, Hierarchy) else None  # with Intervals, cells are read as they are written
    above = {"*", *chain.from_iterable(tree.labels[1:] if tree else ())}
    cells = [[parse_cell(text) for text in side.texts] for side in sides]
    kind = schema.kinds.get(attribute) or _kind(cells, above)
    positions = _Positions(Kind(kind), cells, tree, schema.orders.get(attribute, ()), schema.formats.get(attribute))
    if tree is not None and kind not in _ORDERED:
        strict = [cell for side, some in zip(sides, cells, strict=True) if side.strict for cell in some]
        tree.over([label for cell in strict for label in cell.members if label not in above], attribute)
    for side, some, others in zip(sides, cells, reversed(cells), strict=True):
        _refuse_unread(side, some, others, positions, above | {*(tree.leaves if tree else ())}, declared)
    return [
        CellRanges.of([positions.ranges(side, code, cell) for code, cell in enumerate(some)])
        for side, some in zip(sides, cells, strict=True)
    ]


def _refuse_unread(
    side: Side,
    cells: Sequence[ParsedCell],
    others: Sequence[ParsedCell],
    positions: _Positions,
    labels: set[str],
    hierarchy: Any,
) -> None:
    """Raise an error at a cell that looks generalized and cannot be read: as a value that nobody has it would look safe."""
    if positions.kind in _ORDERED:  # every value has a position, or is an error already
        return
    labels_of_both = labels | {label for cell in others for label in cell.members}
    for code, cell in enumerate(cells):
        if cell.members != (cell.text,) or cell.text in labels_of_both:
            continue
        if _BRACKETED.fullmatch(cell.text) or _is_built_node(cell.text, hierarchy):
            raise side.cell_error(
                code,
                f"{cell.text!r} is not an interval or a set of the column, a node of its hierarchy, or a value "
                "of the other side",
                "Write an interval of numbers as [20, 30], one of other values as a set {a; b} or declare their order, "
                'a text that stands for itself in double quotes, and an unknown value as missing or "*".',
            )


def _is_built_node(text: str, hierarchy: Any) -> bool:
    """Return whether a text is a node of a hierarchy that a builder makes, whose leaves are not known here.

    A code that is shorter than a prefix is a node of its own, and a value. Groups of consecutive values are in brackets.
    """
    if not isinstance(hierarchy, HierarchyBuilder) or isinstance(hierarchy, Consecutive):
        return False
    if isinstance(hierarchy, Prefix) and not text.endswith("*"):
        return False
    return any(hierarchy.is_node(text, level) for level in range(1, hierarchy.height))


def _kind(cells: Sequence[Sequence[ParsedCell]], above: set[str]) -> Kind:
    """The kind of the ends of an interval, or of the values of the records (else of the dictionary)."""
    for cell in chain.from_iterable(cells):
        if cell.ends is not None and cell.text not in above:
            for kind in (Kind.NUMERIC, Kind.DATE):
                if None not in [interval_end(end, kind is Kind.DATE) for end in cell.ends]:
                    return kind
    for some in cells:
        values = [label for cell in some for label in cell.members if label not in above]
        if values:
            try:
                return Table(pa.table({"value": values}), Schema(), untyped=True).column("value").kind
            except (ColumnError, CellError):  # dates that cannot be read
                return Kind.CATEGORICAL
    return Kind.CATEGORICAL


class _Positions:
    """The positions of the values, nodes and intervals of an attribute."""

    def __init__(
        self,
        kind: Kind,
        cells: Sequence[Sequence[ParsedCell]],
        tree: Hierarchy | None,
        order: Sequence[str],
        date_format: str | None,
    ) -> None:
        self.kind = kind
        labels = [label for some in cells for s in some for label in s.members]
        leaves = list(tree.leaves) if tree else []
        if kind in (Kind.NUMERIC, Kind.DATE):
            ends = [end for some in cells for s in some for end in s.ends or ()]
            read = interval_end if kind is Kind.NUMERIC else date_reader(labels, date_format)
            numbers = {label: read(label) for label in {*labels, *leaves, *ends}}
            self.position = _ranked({label: number for label, number in numbers.items() if number is not None})
        elif kind is Kind.ORDINAL:
            self.position = {label: place for place, label in enumerate(order)}
        else:
            along = [] if tree is None else [leaves[i] for i in np.lexsort(tree.paths.T)]
            self.position = {label: place for place, label in enumerate(dict.fromkeys([*along, *labels]))}
        self.root = tree.labels[-1][0] if tree else "*"
        used_labels = {*labels, *(cell.text for some in cells for cell in some)}
        self.nodes = {} if tree is None else self._nodes(tree, used_labels & {*chain.from_iterable(tree.labels[1:-1])})

    def _nodes(self, tree: Hierarchy, used_labels: set[str]) -> dict[str, list[CellRange]]:
        """For each label of a node the positions of all leaves below it, on every level but the root's."""
        below: dict[str, set[int]] = {label: set() for label in used_labels}
        for level, labels in enumerate(tree.labels[:-1]):
            for leaf, node in zip(tree.leaves, tree.paths[:, level].tolist(), strict=True):
                if labels[node] in below and leaf in self.position:
                    below[labels[node]].add(self.position[leaf])
        return {label: _runs(positions) for label, positions in below.items()}

    def ranges(self, side: Side, code: int, cell: ParsedCell) -> list[CellRange] | None:
        """The positions that a cell stands for; None if it may stand for any value."""
        if cell.text in ("*", self.root):
            return None
        if cell.text in self.nodes:
            return self.nodes[cell.text]
        if cell.ends is not None and self.kind in _ORDERED:
            low, high = (self._at(side, code, end) for end in cell.ends)
            low, high = low + cell.open[0], high - cell.open[1]
            if low > high:
                raise side.cell_error(code, f"the interval {cell.text!r} is empty", "Write its lower end first.")
            return [(low, high)]
        result: list[CellRange] = []
        for label in cell.members:
            result += self.nodes[label] if label in self.nodes else [(self._at(side, code, label),) * 2]
        return result

    def _at(self, side: Side, code: int, label: str) -> int:
        """The position of a single value."""
        place = self.position.get(label)
        if place is None:
            names = {Kind.NUMERIC: "a number or an interval", Kind.DATE: "a date or an interval of dates"}
            what = names.get(self.kind, "in the column's order")
            remedy = "Fix the cell, list it under missing.values, or declare another kind."
            raise side.cell_error(code, f"{label!r} is not {what}", remedy)
        return place


def _ranked(numbers: dict[str, Fraction]) -> dict[str, int]:
    """For each text of a number its position: twice its rank, which leaves a position between two numbers."""
    unit = lcm(*(number.denominator for number in numbers.values()))
    whole = packed([number.numerator * (unit // number.denominator) for number in numbers.values()])
    rank = np.unique(whole, return_inverse=True)[1]
    return dict(zip(numbers, (2 * rank).tolist(), strict=True))


def _runs(positions: Iterable[int]) -> list[CellRange]:
    """Positions as ranges of consecutive ones."""
    ordered: list[Any] = sorted(positions)
    if not ordered:
        return []
    breaks = [at for at, (one, other) in enumerate(pairwise(ordered), start=1) if other > one + 1]
    return [(ordered[a], ordered[b - 1]) for a, b in pairwise([0, *breaks, len(ordered)])]
