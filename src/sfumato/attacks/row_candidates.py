"""The published rows that may be a person's: those whose cells cover what is known of the person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import NotMeasured
from sfumato.attacks.candidate_bits import Condition, Words, distinct_queries, meetings
from sfumato.attacks.rows_of_people import RowsOfPeople
from sfumato.data.groups import joint_ranks
from sfumato.errors import ParameterError

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_WORDS = 1 << 22
"""The number of words of the sets of rows that are met at a time; 32 MB."""

FEW = 3
"""By default the attacker who knows few quasi-identifiers knows this many."""


@dataclass(frozen=True, eq=False)
class CandidateCounts:
    """The candidates of some people: how many there are, and how many are the person's own."""

    rows: Integers
    own: Integers
    of_one_person: Flags
    """Whether there are candidates, and all of them are rows of one person."""

    @classmethod
    def none(cls, people: int) -> CandidateCounts:
        """Return the counts of people without candidates."""
        return cls(np.zeros(people, np.int64), np.zeros(people, np.int64), np.zeros(people, bool))

    def fill(self, rows: RowsOfPeople, bits: Words, sets: Integers, people: Integers, units: Integers) -> None:
        """Count the candidates of some people; `sets`: the set of each, `units`: who each of them is."""
        self.rows[people] = rows.counts(bits)[sets]
        self.own[people] = rows.own(bits, sets, units)
        self.of_one_person[people] = rows.are_of_one_person(bits)[sets]

    @property
    def chances(self) -> NDArray[np.float64]:
        """The chance of each person that a candidate, drawn at random, is the person's own."""
        return self.own / np.maximum(self.rows, 1)

    @property
    def right(self) -> Flags:
        """Whether all candidates are the person's own."""
        return np.asarray(self.of_one_person & (self.own > 0))


class RowCandidates:
    """The candidates of many people. Groups with the same cells are one class, because nothing tells them apart here.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.attacks.attacked_sources import attacked_release
    >>> people = pa.table({"age": [30, 31, 50, 51], "sex": ["m", "m", "f", "f"]})
    >>> release = attacked_release(sf.anonymize(people, sf.Schema(["age", "sex"]), sf.KAnonymity(2), seed=0))
    >>> RowCandidates(release).counts(["age"], np.arange(4)).rows.tolist()
    [2, 2, 2, 2]
    """

    def __init__(self, release: AttackedRelease) -> None:
        if not release.cells:
            raise NotMeasured("the table has no quasi-identifier")
        assert release.population is not None
        self.release = release
        self.population = release.population
        columns = [(cells, int(cells.max()) + 1) for cells in release.cells.values()]
        self.class_of_group = joint_ranks(iter(columns))
        self.count = int(self.class_of_group.max()) + 1
        first = np.zeros(self.count, np.int64)
        first[self.class_of_group] = np.arange(release.groups.count)
        # rows that stand for nobody are candidates too
        class_of_row = self.class_of_group[release.groups.of_row]
        self.rows_of_people = RowsOfPeople(release.unit_of_published_row, class_of_row, self.count)
        self.conditions = {
            name: Condition(cells[first], release.quasi_identifier(name).covered_by) for name, cells in release.cells.items()
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(self.conditions)

    def known(self, name: str, rows: Integers) -> Integers:
        """Return the codes of a quasi-identifier of some rows of the population."""
        return self.population.column(name).codes[rows].astype(np.int64)

    def counts(self, names: Sequence[str], rows: Integers) -> CandidateCounts:
        """Count the published rows that cover what is known of each of some rows of the population."""
        keys = [self.known(name, rows) for name in names]
        first, query = distinct_queries(keys)
        order = np.argsort(query, kind="stable")
        found = CandidateCounts.none(len(rows))
        for part, bits in meetings([self.conditions[name] for name in names], [column[first] for column in keys]):
            low, high = np.searchsorted(query[order], [part.start, part.stop])
            people = order[low:high]
            units = self.release.unit_of_row[rows[people]]
            found.fill(self.rows_of_people, bits, query[people] - part.start, people, units)
        return found

    def counts_by_all_rows(self, units: Integers) -> CandidateCounts:
        """Count the published rows that cover what is known of all rows of some people who are in one group each."""
        release, known = self.release, np.sort(units)
        own = release.rows[np.isin(release.unit_of_person, known)]
        own = own[np.argsort(release.unit_of_row[own], kind="stable")]
        starts = np.searchsorted(release.unit_of_row[own], known)
        found = CandidateCounts.none(len(known))
        for low, high in _pieces(np.diff(np.append(starts, len(own))), next(iter(self.conditions.values())).words):
            rows = own[starts[low] : starts[high] if high < len(known) else None]
            keys = [self.known(name, rows) for name in self.names]
            bits = np.concatenate([found for _, found in meetings(list(self.conditions.values()), keys)])
            together = np.bitwise_and.reduceat(bits, starts[low:high] - starts[low], axis=0)
            found.fill(self.rows_of_people, together, np.arange(high - low), np.arange(low, high), known[low:high])
        return found

    def covers(self, names: Sequence[str], groups: Integers, people: Integers) -> Flags:
        """Return for pairs of a group and a person whether the cells of the group cover what is known of the person."""
        rows = self.release.rows[people]
        found = np.ones(len(people), bool)
        for name in names:
            cells = self.release.quasi_identifier(name)
            found &= cells.covers(self.release.cells[name][groups], self.known(name, rows))
        return found


def _pieces(sizes: Integers, words: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of people, with so many rows each, that the sets of their rows are in memory at a time."""
    before = np.concatenate([[0], np.cumsum(sizes)])
    low = 0
    while low < len(sizes):
        high = int(np.searchsorted(before, before[low] + max(1, _WORDS // words), "right")) - 1
        yield low, max(low + 1, high)
        low = max(low + 1, high)


def known_sets(names: Sequence[str], known: int, most: int) -> list[tuple[str, ...]]:
    """Return sets of a number of names: all, or `most` of them at random if there are more.

    >>> known_sets(["age", "sex", "zip"], 2, 10)
    [('age', 'sex'), ('age', 'zip'), ('sex', 'zip')]
    """
    if comb(len(names), known) <= most:
        return list(combinations(names, known))
    random = np.random.default_rng(len(names) * 1000 + known)
    found: dict[tuple[int, ...], None] = {}
    while len(found) < most:
        found[tuple(sorted(random.choice(len(names), known, replace=False).tolist()))] = None
    return [tuple(names[at] for at in chosen) for chosen in found]


def known_numbers(attack: str, names: Sequence[str], known: int | None) -> list[int]:
    """Return how many quasi-identifiers the attackers know: all and few by default."""
    if known is None:
        return [len(names), *([min(FEW, len(names) - 1)] if len(names) > 1 else [])]
    if known > len(names):
        raise ParameterError(
            f"{attack}: known = {known}, and the table has {len(names)} quasi-identifiers",
            remedy=f"Write a whole number from 1 to {len(names)}.",
            key="known",
            value=known,
        )
    return [known]


def knowledge(known: int, names: Sequence[str]) -> str:
    """Return what an attacker knows, in words.

    >>> knowledge(2, ["age", "sex", "zip"]), knowledge(1, ["age"])
    ('2 of 3 quasi-identifiers', 'all quasi-identifiers')
    """
    return "all quasi-identifiers" if known == len(names) else f"{known} of {len(names)} quasi-identifiers"


def averaged(sets: Sequence[tuple[str, ...]], known: int, names: Sequence[str]) -> tuple[str, ...]:
    """Return a note on the sets of quasi-identifiers over which an attacker who knows some of them is averaged."""
    if known == len(names):
        return ()
    every = len(sets) == comb(len(names), known)
    what = f"all {len(sets)}" if every else f"{len(sets)} random"
    return (f"the mean over {what} sets of {known} quasi-identifiers that the attacker may know",)
