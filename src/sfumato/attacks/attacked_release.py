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

from sfumato.data.attribute import Attribute
from sfumato.data.groups import Groups, Histogram
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.principles import Principle
from sfumato.releases.cell_coverage import CellReader

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

    Made by `sf.attack` from a release, from its folder, or from the table of another tool. People are rows: where a person
    has several rows, each of them is attacked by itself, and a note says so.

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
    positions: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    """For each person its published row, from 0; empty if nothing says which row of its group is whose."""
    whole: Table | None = None
    """The original with the rows that were suppressed, in its order; None if it is not known."""
    suppress: Fraction = Fraction(0)
    """The largest share of rows that was allowed to be suppressed."""
    file: Path | None = None
    """The published file, if there is one."""
    method: Mapping[str, Any] = field(default_factory=dict)
    """The name and the parameters of the method that found the groups, if they are known."""
    earlier: tuple[AttackedRelease, ...] = ()
    """Earlier releases about some of the same people, matched with them by their rows in the original."""
    sample: int = SAMPLE
    """At most this many people are attacked; statistics of the release are always taken from all of it."""
    notes: tuple[str, ...] = ()
    """How people were matched with groups, and what is counted."""

    def __repr__(self) -> str:
        """Show the sizes, never cells."""
        people = "" if self.original is None else f", {len(self.rows):,} people"
        return f"<AttackedRelease: {self.groups!r}{people}>"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive attributes that are published."""
        return tuple(self.published.schema.sensitive)

    @cached_property
    def targets(self) -> Integers:
        """The people who are attacked, as positions among all people in ascending order: all, or a random sample."""
        count = len(self.rows)
        if count <= self.sample:
            return np.arange(count)
        return np.sort(np.random.default_rng(count).choice(count, self.sample, replace=False))

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

    @cached_property
    def _covers(self) -> dict[str, NDArray[np.bool_]]:
        return {}

    def covers(self, name: str) -> NDArray[np.bool_]:
        """Return for each group and each code of a quasi-identifier of the original whether the group's cell covers it.

        If values are missing, the last code is theirs. Cost: the number of groups times the number of values.
        """
        assert self.original is not None
        if name not in self._covers:
            column, cells = self.original.column(name), self.published.column(name)
            texts = [None if code == cells.size else cells.label(code) for code in range(cells.domain)]
            reader = CellReader(texts, column, self.recodings[name])
            grid = reader.covers(np.arange(len(texts))[:, None], np.arange(column.domain)[None, :])
            self._covers[name] = np.asarray(grid[self.cells[name]])
        return self._covers[name]
