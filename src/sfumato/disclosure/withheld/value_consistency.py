"""Which values of a release are consistent with which values of a dictionary, by definition.

This module belongs to verification. It shares no code with `disclosure.consistency`, `disclosure.matching` or the kernels,
which find the same answer faster when a release is made: here every distinct published value is compared with every
distinct value of the dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.date_formats import date_reader
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Kind, Missing, Schema
from sfumato.data.table import Table
from sfumato.distances.jaro import Similarities
from sfumato.errors import CellError, ColumnError, ReleaseError
from sfumato.exact import as_fraction
from sfumato.releases.cells import interval_end, is_quoted, members, unquote

if TYPE_CHECKING:
    from sfumato.disclosure.dictionaries.dictionary import Dictionary

Flags = NDArray[np.bool_]

PAIRS = 1 << 31
"""Pairs of distinct values that are compared at most for one attribute."""

_INTERVAL = re.compile(r"([\[(])(.*)([\])])", re.DOTALL)


class TooManyPairsError(Exception):
    """An attribute has too many distinct values on both sides to compare every pair."""


@dataclass(frozen=True, eq=False)
class AttributeComparison:
    """One attribute of the published records and of a dictionary, as numbers of distinct values; -1 if missing."""

    published: NDArray[np.int64]
    """The number of the value of each published row."""
    known: NDArray[np.int64]
    """The number of the value of each individual."""
    consistent: Callable[[int], Flags]
    """For the number of a published value: whether each distinct value of the dictionary is consistent with it."""

    def individuals(self, value: int) -> Flags:
        """Whether each individual is consistent with a published value; a missing value is consistent with any."""
        return np.asarray(np.append(self.consistent(value), True)[self.known])


def compare_attribute(
    texts: pa.Array, name: str, dictionary: Dictionary, parameters: Mapping[str, Any], schema: Schema, untyped: bool
) -> AttributeComparison:
    """Compare the published values of an attribute with those that a dictionary holds.

    `texts`: the published values, null where nothing is disclosed. `parameters`: the kind of consistency and its
    parameters, as release.json states them. `schema`: how the attribute of the records is declared.

    >>> from sfumato.disclosure import Dictionary
    >>> book = Dictionary(pa.table({"age": [19, 20, 41]}), name="book")
    >>> texts = pa.array(["[20, 30]", "41", None])
    >>> ages = compare_attribute(texts, "age", book, {"kind": "containment"}, Schema(), True)
    >>> ages.published.tolist(), [ages.individuals(value).tolist() for value in (0, 1)]
    ([1, 0, -1], [[False, False, True], [False, True, False]])
    """
    kind = str(parameters.get("kind", "equality"))
    if kind == "equality":
        column = _published_column(texts, name, schema, untyped, _kind_of(schema, name))
        return _by_equality(column, _known_column(dictionary, name, column.kind, schema))
    column = _published_column(texts, name, schema, untyped, Kind.CATEGORICAL)
    known = _known_column(dictionary, name, Kind.CATEGORICAL, schema)
    if kind == "containment":
        return _by_containment(column, known, name, schema)
    if kind in ("jaro", "jaro-winkler"):
        return _by_similarity(column, known, kind == "jaro-winkler", as_fraction(parameters["threshold"], "threshold"))
    raise ReleaseError(f"the consistency {kind!r} of {name!r} is unknown", remedy="Update sfumato.", key="consistency")


def _published_column(texts: pa.Array, name: str, schema: Schema, untyped: bool, kind: Kind | None) -> Column:
    """The published values as a column of the declared kind; only null is missing."""
    declared = Schema(
        kinds={} if kind is None else {name: kind},
        orders={name: schema.orders[name]} if name in schema.orders and kind is Kind.ORDINAL else {},
        separators={name: schema.separators[name]} if name in schema.separators else {},
        formats={name: schema.formats[name]} if name in schema.formats and kind is Kind.DATE else {},
        timezones={name: schema.timezones[name]} if name in schema.timezones and kind is Kind.DATE else {},
        missing=Missing(()),
    )
    return Table(pa.table({name: texts}), declared, untyped=untyped).column(name)


def _known_column(dictionary: Dictionary, name: str, kind: Kind, schema: Schema) -> Column:
    """The attribute as the dictionary holds it, read as a column of a kind; all missing if it has no such column."""
    column = dictionary.attributes.get(name, name)
    declared = Schema(
        kinds={column: kind},
        orders={column: schema.orders[name]} if kind is Kind.ORDINAL else {},
        separators={column: schema.separators[name]} if name in schema.separators else {},
        missing=dictionary.missing or Missing(schema.missing.values),
    )
    if kind is Kind.DATE:
        return dictionary.column(name, kind, schema)
    data = dictionary.table.data
    if name not in dictionary.attributes:
        data = pa.table({column: pa.nulls(data.num_rows, pa.string())})
    return Table(data.select([column]), declared, dictionary.table.source, untyped=dictionary.table.untyped).column(column)


def _kind_of(schema: Schema, name: str) -> Kind | None:
    declared = schema.kinds.get(name)
    return None if declared is None else Kind(declared)


def _numbers(column: Column) -> NDArray[np.int64]:
    return np.where(column.codes < column.size, column.codes, -1).astype(np.int64)


def _by_equality(mine: Column, theirs: Column) -> AttributeComparison:
    """Numbers are equal as numbers, sets as sets, everything else as text."""
    place = {_key(theirs, code): code for code in range(theirs.size)}

    def consistent(value: int) -> Flags:
        flags = np.zeros(theirs.size, bool)
        code = place.get(_key(mine, value))
        if code is not None:
            flags[code] = True
        return flags

    return AttributeComparison(_numbers(mine), _numbers(theirs), consistent)


def _key(column: Column, code: int) -> Any:
    if column.kind is Kind.SET:
        return column.sets[code]
    return column.texts[code] if column.numbers is None else column.numbers[code]


def _by_similarity(mine: Column, theirs: Column, winkler: bool, threshold: Fraction) -> AttributeComparison:
    """Texts are consistent if their similarity reaches the threshold; ties are decided exactly."""
    if mine.size * theirs.size > PAIRS:
        raise TooManyPairsError
    similarities = Similarities(list(mine.texts), list(theirs.texts), winkler)
    every = np.arange(theirs.size)

    def consistent(value: int) -> Flags:
        return np.asarray(similarities.at_least(np.array([value]), every, threshold)[0])

    return AttributeComparison(_numbers(mine), _numbers(theirs), consistent)


class _Ranges(NamedTuple):
    """What the distinct cells of one side may stand for: closed ranges of positions; range n belongs to `cell[n]`."""

    cell: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    unknown: Flags
    """The cells that say nothing: `*`, or the root of the hierarchy. They count as missing."""


def _by_containment(mine: Column, theirs: Column, name: str, schema: Schema) -> AttributeComparison:
    """Two cells are consistent if some value can be in both."""
    sides = [[_Cell.parse(text) for text in column.texts] for column in (mine, theirs)]
    line = _Line(sides, schema, name)
    ours, others = (_ranges([line.ranges(cell) for cell in cells]) for cells in sides)
    starts = np.searchsorted(ours.cell, np.arange(mine.size + 1))

    def consistent(value: int) -> Flags:
        flags = np.zeros(theirs.size, bool)
        for n in range(starts[value], starts[value + 1]):
            flags[others.cell[(others.low <= ours.high[n]) & (ours.low[n] <= others.high)]] = True
        return flags

    published, known = (
        np.where(np.append(side.unknown, True)[numbers], -1, numbers)
        for side, numbers in ((ours, _numbers(mine)), (others, _numbers(theirs)))
    )
    return AttributeComparison(published, known, consistent)


def _ranges(of_cell: Sequence[Sequence[tuple[int, int]] | None]) -> _Ranges:
    cell = np.repeat(np.arange(len(of_cell)), [len(ranges or ()) for ranges in of_cell])
    ends = np.array(list(chain.from_iterable(ranges or () for ranges in of_cell)), np.int64).reshape(-1, 2)
    return _Ranges(cell, ends[:, 0], ends[:, 1], np.array([ranges is None for ranges in of_cell], bool))


class _Cell(NamedTuple):
    """A cell by the grammar of releases: a value, `"a text"`, `{a; b}`, `[lo, hi]` with round brackets for open ends."""

    text: str
    members: tuple[str, ...]
    ends: tuple[str, str] | None
    open_low: bool = False
    open_high: bool = False

    @classmethod
    def parse(cls, text: str) -> _Cell:
        if is_quoted(text):
            return cls(text, (unquote(text),), None)
        if text.startswith("{") and text.endswith("}"):
            return cls(text, tuple(members(text[1:-1], "; ", nested=False)) or (text,), None)
        match = _INTERVAL.fullmatch(text)
        if match is not None:
            for between in (", ", ","):
                ends = members(match[2], between, nested=False)
                if len(ends) == 2:
                    return cls(text, (text,), (ends[0], ends[1]), match[1] == "(", match[3] == ")")
        return cls(text, (text,), None)


class _Line:
    """The values of an attribute as positions on a line, so that every cell is a union of ranges of positions.

    Numbers have the even positions in their order: the odd position between two stands for everything between them, which
    is what an open interval with these ends contains. Values of an ordinal column have the positions of their declared
    order. Other values are positions in no particular order.
    """

    def __init__(self, sides: Sequence[Sequence[_Cell]], schema: Schema, name: str) -> None:
        declared = schema.hierarchies.get(name)
        tree = Hierarchy.from_file(declared) if isinstance(declared, str | Path) else declared
        self.tree = tree if isinstance(tree, Hierarchy) else None
        nodes = {*chain.from_iterable(self.tree.labels[1:])} if self.tree else set()
        self.root = self.tree.labels[-1][0] if self.tree else "*"
        cells = [cell for side in sides for cell in side]
        self.kind = _kind_of(schema, name) or _inferred_kind(sides, nodes | {"*"})
        leaves = list(self.tree.leaves) if self.tree else []
        labels = dict.fromkeys([*leaves, *(label for cell in cells for label in cell.members)])
        if self.kind in (Kind.NUMERIC, Kind.DATE):
            ends = [end for cell in cells for end in cell.ends or ()]
            read = interval_end if self.kind is Kind.NUMERIC else date_reader([*labels], schema.formats.get(name))
            numbers = {text: read(text) for text in (*labels, *ends)}
            rank = {number: at for at, number in enumerate(sorted({n for n in numbers.values() if n is not None}))}
            self.position = {text: 2 * rank[number] for text, number in numbers.items() if number is not None}
        elif self.kind is Kind.ORDINAL:
            self.position = {label: at for at, label in enumerate(schema.orders.get(name, ()))}
        else:
            self.position = {label: at for at, label in enumerate(labels)}
        self.below = self._leaves_below(nodes - {self.root})

    def _leaves_below(self, nodes: set[str]) -> dict[str, list[tuple[int, int]]]:
        """For the label of an inner node the positions of the leaves below every node with that label."""
        found: dict[str, set[int]] = {label: set() for label in nodes}
        if self.tree is not None:
            for level, labels in enumerate(self.tree.labels[:-1]):
                for leaf, node in zip(self.tree.leaves, self.tree.paths[:, level].tolist(), strict=True):
                    if labels[node] in found and leaf in self.position:
                        found[labels[node]].add(self.position[leaf])
        return {label: [(at, at) for at in sorted(positions)] for label, positions in found.items()}

    def ranges(self, cell: _Cell) -> list[tuple[int, int]] | None:
        """The positions that a cell may stand for; None if it may stand for any value."""
        if cell.text in ("*", self.root):
            return None
        if cell.text in self.below:
            return self.below[cell.text]
        if cell.ends is not None and self.kind in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL):
            low, high = (self._at(end) for end in cell.ends)
            return [(low + cell.open_low, high - cell.open_high)]
        parts = [self.below[m] if m in self.below else [(self._at(m),) * 2] for m in cell.members]
        return list(chain.from_iterable(parts))

    def _at(self, label: str) -> int:
        if label not in self.position:
            remedy = "Get the release again, or pass the dictionary that it was made against."
            raise ReleaseError(f"{label!r} is not a value of kind {self.kind}", remedy=remedy, key="consistency")
        return self.position[label]


def _inferred_kind(sides: Sequence[Sequence[_Cell]], nodes: set[str]) -> Kind:
    """The kind of a column that declares none: that of the ends of an interval, or of the values."""
    for cell in chain.from_iterable(sides):
        for kind in (Kind.NUMERIC, Kind.DATE):
            dates = kind is Kind.DATE
            if cell.ends and cell.text not in nodes and None not in [interval_end(end, dates) for end in cell.ends]:
                return kind
    for side in sides:
        values = [label for cell in side for label in cell.members if label not in nodes]
        if values:
            try:
                return Table(pa.table({"value": values}), Schema(), untyped=True).column("value").kind
            except (ColumnError, CellError):  # dates that cannot be read
                return Kind.CATEGORICAL
    return Kind.CATEGORICAL
