"""Units: whose row each row is, where a person or a household may have several rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.data.missing_texts import CLEAR, DOUBTFUL
from sfumato.data.reading_notes import note_on_spellings
from sfumato.errors import CellError
from sfumato.plurals import count_of

if TYPE_CHECKING:
    from sfumato.data.attribute import Attribute
    from sfumato.data.column import Column
    from sfumato.data.table import Table

PLURALS = {"person": "people", "household": "households"}
"""What a unit may be, if it is not a row, and its plural."""

_MANY_ROWS, _FAR_MORE = 20, 10
"""An identifier with this many rows, and this many times those of any other, probably means missing."""


@dataclass(frozen=True, eq=False, repr=False)
class Units:
    """The unit of each row: a household if the schema has a `household_id`, otherwise a person. Numbered from 0.

    Units are numbered in the order of their first rows.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"who": ["b", "a", "b"]}), sf.Schema(person_id="who"))
    >>> units_of(table).of_row.tolist(), units_of(table)
    ([0, 1, 0], <Units: 3 rows of 2 people>)
    """

    of_row: NDArray[np.int64]
    count: int
    noun: str = "person"
    """What a unit is, a key of `PLURALS`."""

    @classmethod
    def numbered(cls, labels: NDArray[np.int64], noun: str) -> Units:
        """Number the units of rows that have a label each."""
        from sfumato.data.groups import renumber

        of_row = renumber(labels)
        return cls(of_row, int(of_row.max()) + 1, noun)

    def __repr__(self) -> str:
        """Show how many there are, never whose row a row is."""
        return f"<Units: {count_of(len(self.of_row), 'row')} of {self.text(self.count)}>"

    @property
    def plural(self) -> str:
        """The plural of the noun."""
        return PLURALS[self.noun]

    def text(self, number: int) -> str:
        """Return a number of units in words."""
        return count_of(number, self.noun, self.plural)

    @cached_property
    def first_rows(self) -> NDArray[np.int64]:
        """The first row of each unit."""
        first = np.empty(self.count, np.int64)
        first[self.of_row[::-1]] = np.arange(len(self.of_row) - 1, -1, -1)
        return first

    def take(self, rows: NDArray[np.int64]) -> Units:
        """Return the units of some rows, in their order."""
        return Units.numbered(self.of_row[rows], self.noun)

    def are_in_one_group(self, of_row: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each unit whether all its rows are in one group of a partition.

        >>> Units(np.array([0, 0, 1]), 2).are_in_one_group(np.array([0, 1, 1])).tolist()
        [False, True]
        """
        apart = of_row != of_row[self.first_rows][self.of_row]
        return np.asarray(np.bincount(self.of_row[apart], minlength=self.count) == 0)


@dataclass(frozen=True)
class UnitCounts:
    """How many units there are in all, and in the smallest group.

    >>> UnitCounts("person", total=12, least=5).plural
    'people'
    """

    noun: str
    """What a unit is, a key of `PLURALS`."""
    total: int
    least: int

    @property
    def plural(self) -> str:
        """The plural of the noun."""
        return PLURALS[self.noun]


@dataclass(frozen=True, eq=False, repr=False)
class UnitValues:
    """The distinct values of each unit, in each group that it has rows in, sorted by group, unit and value.

    `rows` holds one row for each. Entry i is the value `value[i]` of unit `unit[i]` in the group `group[i]`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> visits = pa.table({"who": [1, 1, 2], "ill": ["flu", "flu", "gout"]})
    >>> table = sf.Table(visits, sf.Schema(sensitive=["ill"], person_id="who"))
    >>> UnitValues.of(table.units, np.zeros(3, np.int64), table.attribute(["ill"])).unit.tolist()
    [0, 1]
    """

    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    unit: NDArray[np.int64]
    value: NDArray[np.int64]

    @classmethod
    def of(cls, units: Units, of_row: NDArray[np.int64], attribute: Attribute) -> UnitValues:
        """List the values of an attribute. Cost: that of sorting two integers per row."""
        pair = units.of_row * len(attribute) + attribute.codes
        order = np.lexsort((pair, of_row))
        group, pair = of_row[order], pair[order]
        first = np.ones(len(order), bool)
        first[1:] = (group[1:] != group[:-1]) | (pair[1:] != pair[:-1])
        rows = order[first]
        return cls(rows, of_row[rows], units.of_row[rows], attribute.codes[rows])

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the values of each unit in each group begin."""
        first = np.ones(len(self.rows), bool)
        first[1:] = (self.group[1:] != self.group[:-1]) | (self.unit[1:] != self.unit[:-1])
        return np.flatnonzero(first)

    @property
    def vary(self) -> bool:
        """Whether some unit has several values in a group."""
        return len(self.starts) < len(self.rows)


def units_of(table: Table) -> Units | None:
    """Return whose row each row is, as the schema declares; None if each row is a unit.

    A missing person or household, and a person in two households, are errors that name the row.
    """
    schema = table.schema
    columns = {noun: name for noun, name in (("person", schema.person_id), ("household", schema.household_id)) if name}
    if not columns:
        return None
    encoded = {noun: table.column(name) for noun, name in columns.items()}
    for noun, column in encoded.items():
        _refuse_missing(column, noun, table.source)
    if len(encoded) == 2:
        _refuse_two_households(encoded["person"], encoded["household"], table.source)
    noun = "household" if "household" in encoded else "person"
    return Units.numbered(encoded[noun].codes.astype(np.int64), noun)


def unit_notes(table: Table) -> tuple[str, ...]:
    """Return remarks on identifiers of people or households that may be one, written differently, or none at all."""
    declared = (("person", table.schema.person_id), ("household", table.schema.household_id))
    columns = [(table.column(name), PLURALS[noun]) for noun, name in declared if name]
    found = [note for each in columns for note in (_spelling_note(*each), _placeholder_note(*each))]
    return tuple(note for note in found if note is not None)


def _spelling_note(column: Column, plural: str) -> str | None:
    return note_on_spellings(column.name, column.texts, plural)


def _placeholder_note(column: Column, plural: str) -> str | None:
    """Return a remark if one identifier probably means missing: rows of many people would count as those of one."""
    rows = np.bincount(column.codes, minlength=column.domain)
    doubtful = [code for code in range(column.size) if column.texts and column.texts[code] in DOUBTFUL and rows[code] > 1]
    most = int(np.argmax(rows))
    others = np.delete(rows, most)
    if len(others) and rows[most] >= max(_MANY_ROWS, _FAR_MORE * others.max()):
        doubtful.append(most)
    if not doubtful:
        return None
    return (
        f"the identifier {column.label(doubtful[0])!r} of column {column.name!r} has {rows[doubtful[0]]:,} rows: if it "
        f"means missing, rows of different {plural} count as those of one; give each row an identifier of its own"
    )


def _refuse_missing(column: Column, noun: str, source: str | None) -> None:
    absent = {column.size} if column.has_missing else set()
    absent |= {code for code, text in enumerate(column.texts) if text in CLEAR}
    if absent:
        row = int(np.argmax(np.isin(column.codes, list(absent))))
        raise CellError(
            f"the {noun} of this row is missing, so its rows cannot be kept together",
            remedy=f"Fill the cell, or give each row without a known {noun} an identifier of its own.",
            file=source,
            column=column.name,
            row=row + 1,
        )


def _refuse_two_households(person: Column, household: Column, source: str | None) -> None:
    first = np.zeros(person.domain, np.int64)
    first[person.codes[::-1]] = np.arange(len(person.codes) - 1, -1, -1)
    other = household.codes != household.codes[first[person.codes]]
    if other.any():
        row = int(np.argmax(other))
        before = int(first[person.codes[row]])
        here, there = (household.label(int(household.codes[at])) for at in (row, before))
        raise CellError(
            f"the person {person.label(int(person.codes[row]))!r} is in the household {here!r} here, and in {there!r} in "
            f"row {before + 1}",
            remedy="Give all rows of a person the same household.",
            file=source,
            column=household.name,
            row=row + 1,
        )
