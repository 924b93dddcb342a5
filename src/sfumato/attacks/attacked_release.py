"""A release as its attackers see it, and the truth by which their guesses are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_cells import AttackedCells
from sfumato.data.attribute import Attribute
from sfumato.data.column import Column
from sfumato.data.groups import Groups, Histogram
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.principles import Principle

Integers = NDArray[np.int64]

SAMPLE = 20_000
"""By default at most this many people are attacked."""


@dataclass(frozen=True, eq=False)
class Secret:
    """One sensitive attribute: what is published of each group, and what is true of each person."""

    attribute: Attribute
    """The published values, numbered from 0; `attribute.codes` has the value of each published row."""
    histogram: Histogram
    """How many rows of each group have each value."""
    truth: Integers | None
    """The value of each person, −1 if it is not published at all; None without the original."""

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.attribute.name

    @cached_property
    def mode(self) -> tuple[Integers, Integers]:
        """The most frequent value of each group, the first of several, and how many rows have it."""
        h = self.histogram
        most = np.maximum.reduceat(h.counts, h.starts)
        first = np.full(len(h.starts), np.iinfo(np.int64).max)
        np.minimum.at(first, h.group, np.where(h.counts == most[h.group], h.values, np.iinfo(np.int64).max))
        return first, most


@dataclass(frozen=True, eq=False, repr=False)
class AttackedRelease:
    """A published table in groups, and, if the original is known, the people in it.

    Made by `sf.attack` from a release, from its folder, or from the table of another tool. People are rows. Where a person
    has several, `unit_of_person` says whose each of them is, and `one_row_each` has one row of each person.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> data = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "flu"]})
    >>> release = sf.anonymize(data, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    >>> from sfumato.attacks.attacked_sources import attacked_release
    >>> seen = attacked_release(release)
    >>> seen.groups.sizes.tolist(), sorted(seen.secret("ill").mode[1].tolist()), sorted(seen.group_of_person.tolist())
    ([2, 2], [1, 2], [0, 0, 1, 1])
    """

    published: Table
    """The published rows; quasi-identifiers are texts, the cells."""
    groups: Groups
    """The group of each published row."""
    schema: Schema
    """The schema of the original."""
    recodings: Mapping[str, str]
    """How each quasi-identifier is published: "interval", "ancestor" or "set"."""
    principles: tuple[Principle, ...] = ()
    """What was required of the groups."""
    original: Table | None = None
    """The people in the table, one row each, in the order of the original; None if only the release is known."""
    rows: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    """For each person its row in the original, from 0."""
    group_of_person: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    """For each person its group."""
    row_of_person: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    """For each person the published row."""
    population: Table | None = None
    """The original with the rows that were suppressed, in its order; None if only the release is known."""
    rows_are_known: bool = False
    """Whether `row_of_person` is known to be right, and not implied by the order of a table or one of several matchings."""
    suppress: Fraction = Fraction(0)
    """The largest share of rows that was allowed to be suppressed."""
    file: Path | None = None
    """The published file, if there is one."""
    method: Mapping[str, Any] = field(default_factory=dict)
    """The name and the parameters of the method that found the groups, if they are known."""
    earlier: tuple[AttackedRelease, ...] = ()
    """Earlier releases about some of the same people, matched with them by their rows in the original."""
    exact: bool = False
    """Whether quasi-identifiers are published exactly and the secrets of groups apart; then there are no cells."""
    sample: int = SAMPLE
    """At most this many people are attacked; statistics of the release are always taken from all of it."""
    notes: tuple[str, ...] = ()
    """How people were matched with groups, and what is counted."""

    def __repr__(self) -> str:
        """Show the sizes, never cells."""
        people = "" if self.original is None else f", {len(self.rows):,} people"
        return f"<AttackedRelease: {self.groups!r}{people}>"

    @cached_property
    def several_rows(self) -> str | None:
        """Whom several rows may belong to, such as "people"; None if each row is somebody else's."""
        if self.population is None:
            return "people" if self.schema.person_id else "households" if self.schema.household_id else None
        units = self.population.units
        return None if units is None or units.count == self.population.rows else units.plural

    @cached_property
    def unit_of_row(self) -> Integers:
        """Whose row each row of the original is: the number of a person or a household who may have several rows."""
        assert self.population is not None
        units = self.population.units
        return np.arange(self.population.rows) if units is None else units.of_row

    @cached_property
    def unit_of_person(self) -> Integers:
        """Whose row each person of the release is, as in `unit_of_row`."""
        return np.asarray(self.unit_of_row[self.rows])

    @cached_property
    def _by_unit(self) -> tuple[Integers, Integers]:
        order = np.argsort(self.unit_of_person, kind="stable")
        return order, self.unit_of_person[order]

    def rows_of_same_people(self, rows: Integers) -> tuple[Integers, Integers]:
        """Return all published rows of whom some rows are: the position of one of these, and a row of the same person.

        Rows are positions among those with a person, as those of `one_row_each`.
        """
        order, units = self._by_unit
        wanted = self.unit_of_person[rows]
        low = np.searchsorted(units, wanted)
        sizes = np.searchsorted(units, wanted, "right") - low
        at = np.arange(int(sizes.sum())) + np.repeat(low - (np.cumsum(sizes) - sizes), sizes)
        return np.repeat(np.arange(len(rows)), sizes), order[at]

    @cached_property
    def people_are_in_one_group(self) -> bool:
        """Whether people have several rows, and those of each are in one group."""
        if self.several_rows is None:
            return False
        first = np.zeros(int(self.unit_of_row.max()) + 1, np.int64)
        first[self.unit_of_person] = self.group_of_person
        return bool((first[self.unit_of_person] == self.group_of_person).all())

    @cached_property
    def unit_of_published_row(self) -> Integers:
        """Whose row each published row is, as in `unit_of_row`; rows that stand for nobody have higher numbers."""
        found = int(self.unit_of_row.max(initial=-1)) + 1 + np.arange(self.published.rows)
        found[self.row_of_person] = self.unit_of_person
        return found

    @cached_property
    def one_row_each(self) -> Integers:
        """The targets; where people have several rows, one row of each person, drawn at random, or a sample of these."""
        if self.several_rows is None:
            return self.targets
        return one_row_of_each(self.unit_of_person, self.sample)

    @property
    def notes_on_one_row_each(self) -> tuple[str, ...]:
        """The notes of attacks on `one_row_each`."""
        if self.several_rows is None:
            return self.sample_notes
        what = f"{self.several_rows} have several rows, and one row of each, drawn at random, is attacked"
        people, attacked = len(np.unique(self.unit_of_person)), len(self.one_row_each)
        some = (
            (f"a random sample of {attacked:,} of {people:,} {self.several_rows} is attacked",) if attacked < people else ()
        )
        return (*(note for note in self.notes if "several rows" not in note), what, *some)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive attributes that are published."""
        return tuple(self.published.schema.sensitive)

    @cached_property
    def targets(self) -> Integers:
        """The people who are attacked, as positions among all people in ascending order: all, or a random sample."""
        return sampled(len(self.rows), self.sample)

    @property
    def sample_notes(self) -> tuple[str, ...]:
        """The notes, and whether only a sample of the people is attacked."""
        if len(self.targets) == len(self.rows):
            return self.notes
        return (*self.notes, f"a random sample of {len(self.targets):,} of {len(self.rows):,} people is attacked")

    @cached_property
    def _secret(self) -> Any:
        return cache(self._make_secret)

    def secret(self, name: str) -> Secret:
        """Return a sensitive attribute."""
        found: Secret = self._secret(name)
        return found

    def _make_secret(self, name: str) -> Secret:
        attribute = self.published.attribute(self.published.schema.components(name), name)
        truth = None
        if self.original is not None:
            true = self.original.attribute(self.original.schema.components(name), name)
            number = {attribute.value(value): value for value in range(len(attribute))}
            of_value = np.array([number.get(true.value(value), -1) for value in range(len(true))], np.int64)
            truth = of_value[true.codes]
        return Secret(attribute, Histogram.of(self.groups, attribute), truth)

    @cached_property
    def cells(self) -> dict[str, Integers]:
        """For each quasi-identifier the number of each group's cell, a code of the published column."""
        return {
            name: self.published.column(name).codes[self.groups.first_rows].astype(np.int64)
            for name in self.published.schema.quasi_identifiers
        }

    @property
    def required_k(self) -> int | None:
        """The smallest number of people in a group that was required; None if nothing was."""
        return max((k for principle in self.principles if (k := principle.implied_k) is not None), default=None)

    @property
    def unchanged(self) -> tuple[str, ...]:
        """The columns that are published as they were: those of sensitive attributes, and all others without cells."""
        own = {*self.published.schema.quasi_identifiers, self.published.schema.group, *self.schema.identifiers}
        return tuple(name for name in self.published.data.column_names if name not in own)

    def unchanged_codes(self, name: str) -> Integers:
        """Return everybody's value of an unchanged column as a code of the published one; −1 if it is not published.

        Everybody: the population, with those whose rows were suppressed.
        """
        assert self.population is not None
        shown = self.published.column(name)
        own = shown.codes[self.row_of_person].astype(np.int64)
        found = np.full(self.population.rows, -1)
        if name in self.population.data.column_names:
            true = self.population.column(name)
            number = {shown.value(code): code for code in range(shown.domain)}
            found = np.array([number.get(true.value(code), -1) for code in range(true.domain)], np.int64)[true.codes]
        if name not in self.schema.sensitive_columns() and not np.array_equal(found[self.rows], own):
            # a column without a declared kind may be read in another way from either file, but it is published unchanged
            found = np.full(self.population.rows, -1)
            found[self.rows] = own
        return found

    @cached_property
    def _quasi_identifiers(self) -> Any:
        return cache(self._make_cells)

    def quasi_identifier(self, name: str) -> AttackedCells:
        """Return the distinct cells of a quasi-identifier, and which values of the population each covers."""
        assert self.population is not None
        found: AttackedCells = self._quasi_identifiers(name)
        return found

    def _make_cells(self, name: str) -> AttackedCells:
        assert self.population is not None
        column = self.population.column(name)
        return self._cells_over(name, column, column.codes[self.rows].astype(np.int64))

    def _cells_over(self, name: str, column: Column, codes: Integers) -> AttackedCells:
        """Return the cells of a quasi-identifier over a column of the original; `codes`: those of the people."""
        cells = self.published.column(name)
        texts = [None if code == cells.size else cells.label(code) for code in range(cells.domain)]
        # while people are being matched with groups, nobody's group is known
        seen = (self.cells[name][self.group_of_person], codes) if len(self.group_of_person) == len(codes) else None
        return AttackedCells(texts, column, self.recodings[name], seen)

    @cached_property
    def candidate_notes(self) -> tuple[str, ...]:
        """The notes of attacks that compare what is known with cells: which cells cannot be read."""
        notes = []
        for name in self.cells:
            cells = self.quasi_identifier(name)
            if cells.unreadable:
                notes.append(
                    f"{cells.unreadable:,} of {len(cells.texts):,} cells of {name} cannot be read: each is taken to cover "
                    "the values of the people in it"
                )
        return (*self.notes_on_one_row_each, *notes)

    @cached_property
    def _covers(self) -> dict[str, NDArray[np.bool_]]:
        return {}

    def covers(self, name: str) -> NDArray[np.bool_]:
        """Return for each group and each code of a quasi-identifier of the original whether the group's cell covers it.

        If values are missing, the last code is theirs. A cell that cannot be read covers the values of the people in it.
        Cost: the number of groups times the number of values.
        """
        assert self.original is not None
        if name not in self._covers:
            column = self.original.column(name)
            cells = self._cells_over(name, column, column.codes.astype(np.int64))
            grid = cells.covers(np.arange(len(cells.texts))[:, None], np.arange(column.domain)[None, :])
            self._covers[name] = np.asarray(grid[self.cells[name]])
        return self._covers[name]


def sampled(count: int, most: int) -> Integers:
    """Return the numbers from 0 to a count, or a random sample of them.

    >>> sampled(3, 5).tolist(), len(sampled(9, 5))
    ([0, 1, 2], 5)
    """
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(count).choice(count, most, replace=False))


def one_row_of_each(unit: Integers, most: int) -> Integers:
    """Return a random row of each unit, or of a random sample of the units; `unit`: that of each row.

    >>> one_row_of_each(np.array([0, 7, 7]), 5).tolist() in ([0, 1], [0, 2])
    True
    """
    drawn = np.random.default_rng(len(unit)).permutation(len(unit))
    rows = np.sort(drawn[np.unique(unit[drawn], return_index=True)[1]])
    return rows[sampled(len(rows), most)]
