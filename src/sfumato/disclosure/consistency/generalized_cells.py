"""Cells that may be generalized, as stretches of a line on which all values of an attribute have their places."""

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
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.errors import CellError
from sfumato.exact.numbers import packed
from sfumato.releases.cells import interval_end, is_quoted, members, unquote

_INTERVAL = re.compile(r"([\[(])(.*)([\])])", re.DOTALL)

_BRACKETED = re.compile(r"\[.*[\])]|\(.*\]|\{.*\}", re.DOTALL)
"""What looks generalized, whether or not it can be read."""

_ORDERED = (Kind.NUMERIC, Kind.ORDINAL)
"""Kinds whose values have places without a hierarchy, and intervals."""

CellRange = tuple[int, int]
"""The first and the last place of values that stand side by side."""


class ParsedCell(NamedTuple):
    """A cell taken apart, whatever its column holds."""

    text: str
    members: tuple[str, ...]
    """The members of a set `{a; b}`; else the cell itself, without its quotes."""
    ends: tuple[str, str] | None
    """The ends of an interval."""
    open: tuple[bool, bool]
    """Whether the interval lacks its first and its last value: `[lo, hi)`."""


def parse_cell(text: str) -> ParsedCell:
    """Take a cell apart as a release writes it: a value, `[lo, hi]`, `{a; b}`, a text in quotes that stands for itself.

    The space within an interval may be left out.

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
    """The cells of one side, records or dictionary, and where they came from."""

    column: Column
    source: str | None
    title: str
    strict: bool
    """Whether a value that the hierarchy does not have is an error."""

    @property
    def texts(self) -> Sequence[str]:
        """The distinct cells."""
        return self.column.texts

    def wrong(self, code: int, problem: str, remedy: str) -> CellError:
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
    """What the distinct cells of one side stand for: stretch n belongs to the cell `cell[n]`."""

    cell: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    anything: NDArray[np.bool_]
    """The cells that tell nothing."""

    @classmethod
    def of(cls, found: Sequence[Sequence[CellRange] | None]) -> CellRanges:
        """Gather the stretches of all cells; None is a cell that tells nothing."""
        cell = np.repeat(np.arange(len(found)), [len(stretches or ()) for stretches in found])
        ends = np.array([*chain.from_iterable(stretches or () for stretches in found)], np.int64).reshape(-1, 2)
        return cls(cell, ends[:, 0], ends[:, 1], np.array([stretches is None for stretches in found], bool))


def cell_ranges(sides: Sequence[Side], schema: Schema, attribute: str) -> list[CellRanges]:
    """Lay the values of an attribute out along a line, and tell what each cell of both sides, records first, covers.

    Numbers stand at even places in their order, an ordinal's values as declared, all others so that the leaves under any
    node of the hierarchy are together. A node's label stands for its leaves, on whatever level it is found; `*` and the
    root for anything.
    """
    declared = schema.hierarchies.get(attribute)
    tree = Hierarchy.from_file(declared) if isinstance(declared, str | Path) else declared
    tree = tree if isinstance(tree, Hierarchy) else None  # intervals are read as they are written, and * too
    above = {"*", *chain.from_iterable(tree.labels[1:] if tree else ())}
    shapes = [[parse_cell(text) for text in side.texts] for side in sides]
    kind = schema.kinds.get(attribute) or _kind(shapes, above)
    places = _Places(Kind(kind), shapes, tree, schema.orders.get(attribute, ()))
    if tree is not None and kind not in _ORDERED:
        strict = [shape for side, some in zip(sides, shapes, strict=True) if side.strict for shape in some]
        tree.over([label for shape in strict for label in shape.members if label not in above], attribute)
    for side, some, others in zip(sides, shapes, reversed(shapes), strict=True):
        _refuse_unread(side, some, others, places, above | {*(tree.leaves if tree else ())})
    return [
        CellRanges.of([places.stretches(side, code, shape) for code, shape in enumerate(some)])
        for side, some in zip(sides, shapes, strict=True)
    ]


def _refuse_unread(
    side: Side, shapes: Sequence[ParsedCell], others: Sequence[ParsedCell], places: _Places, labels: set[str]
) -> None:
    """Raise at a cell that looks generalized and cannot be read: taken for a value that nobody has it would seem safe."""
    if places.kind in _ORDERED:  # whose values all have places, or are refused
        return
    known = labels | {label for shape in others for label in shape.members}
    for code, shape in enumerate(shapes):
        if shape.members == (shape.text,) and shape.text not in known and _BRACKETED.fullmatch(shape.text):
            raise side.wrong(
                code,
                f"{shape.text!r} is neither an interval or a set of the column, nor a node of its hierarchy, nor a value "
                "that the other side has",
                "Write an interval of numbers as [20, 30], one of other values as a set {a; b} or declare their order, "
                'a text that stands for itself in double quotes, and what is not known as missing or "*".',
            )


def _kind(shapes: Sequence[Sequence[ParsedCell]], above: set[str]) -> Kind:
    """Numeric if there are intervals of numbers, or if the values of the records (else of the dictionary) are numbers."""
    for shape in chain.from_iterable(shapes):
        if shape.ends is not None and shape.text not in above and None not in map(interval_end, shape.ends):
            return Kind.NUMERIC
    for some in shapes:
        values = [label for shape in some for label in shape.members if label not in above]
        if values:
            return Table(pa.table({"value": values}), Schema(), untyped=True).column("value").kind
    return Kind.CATEGORICAL


class _Places:
    """Where on the line values, nodes and intervals of an attribute stand."""

    def __init__(
        self, kind: Kind, shapes: Sequence[Sequence[ParsedCell]], tree: Hierarchy | None, order: Sequence[str]
    ) -> None:
        self.kind = kind
        labels = [label for some in shapes for s in some for label in s.members]
        leaves = list(tree.leaves) if tree else []
        if kind is Kind.NUMERIC:
            ends = [end for some in shapes for s in some for end in s.ends or ()]
            found = {label: interval_end(label) for label in {*labels, *leaves, *ends}}
            self.place = _ranked({label: number for label, number in found.items() if number is not None})
        elif kind is Kind.ORDINAL:
            self.place = {label: place for place, label in enumerate(order)}
        else:
            along = [] if tree is None else [leaves[i] for i in np.lexsort(tree.paths.T)]
            self.place = {label: place for place, label in enumerate(dict.fromkeys([*along, *labels]))}
        self.root = tree.labels[-1][0] if tree else "*"
        wanted = {*labels, *(shape.text for some in shapes for shape in some)}
        self.nodes = {} if tree is None else self._nodes(tree, wanted & {*chain.from_iterable(tree.labels[1:-1])})

    def _nodes(self, tree: Hierarchy, wanted: set[str]) -> dict[str, list[CellRange]]:
        """For each label of a node the places of all leaves under it, on every level but the root's."""
        below: dict[str, set[int]] = {label: set() for label in wanted}
        for level, labels in enumerate(tree.labels[:-1]):
            for leaf, node in zip(tree.leaves, tree.paths[:, level].tolist(), strict=True):
                if labels[node] in below and leaf in self.place:
                    below[labels[node]].add(self.place[leaf])
        return {label: _runs(places) for label, places in below.items()}

    def stretches(self, side: Side, code: int, shape: ParsedCell) -> list[CellRange] | None:
        """What a cell stands for; None if it tells nothing."""
        if shape.text in ("*", self.root):
            return None
        if shape.text in self.nodes:
            return self.nodes[shape.text]
        if shape.ends is not None and self.kind in _ORDERED:
            low, high = (self._at(side, code, end) for end in shape.ends)
            low, high = low + shape.open[0], high - shape.open[1]
            if low > high:
                raise side.wrong(code, f"the interval {shape.text!r} holds nothing", "Write its lower end first.")
            return [(low, high)]
        found: list[CellRange] = []
        for label in shape.members:
            found += self.nodes[label] if label in self.nodes else [(self._at(side, code, label),) * 2]
        return found

    def _at(self, side: Side, code: int, label: str) -> int:
        """The place of a single value."""
        place = self.place.get(label)
        if place is None:
            what = "a number or an interval" if self.kind is Kind.NUMERIC else "in the column's order"
            remedy = "Mend the cell, list it under missing.values, or declare another kind."
            raise side.wrong(code, f"{label!r} is not {what}", remedy)
        return place


def _ranked(numbers: dict[str, Fraction]) -> dict[str, int]:
    """For each text of a number its place: twice its rank, so that there is room between two numbers."""
    unit = lcm(*(number.denominator for number in numbers.values()))
    whole = packed([number.numerator * (unit // number.denominator) for number in numbers.values()])
    rank = np.unique(whole, return_inverse=True)[1]
    return dict(zip(numbers, (2 * rank).tolist(), strict=True))


def _runs(places: Iterable[int]) -> list[CellRange]:
    """Places as stretches of those side by side."""
    ordered: list[Any] = sorted(places)
    if not ordered:
        return []
    breaks = [at for at, (one, other) in enumerate(pairwise(ordered), start=1) if other > one + 1]
    return [(ordered[a], ordered[b - 1]) for a, b in pairwise([0, *breaks, len(ordered)])]
