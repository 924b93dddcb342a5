"""Match the people of a table with those of earlier releases, by keyed hashes of their identifiers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.republication.multisets import Multisets
from sfumato.anonymization.republication.partition_checks import People
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.releases.candidates import Candidate, candidates_of
from sfumato.releases.history import History, person_hashes, person_texts, value_hashes

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MatchedPeople:
    """The people of a table, and all candidates: those of the table first, then those of earlier releases only."""

    people: People
    values: list[Candidate]
    first_rows: Integers
    """For each candidate of the table a row that has it."""
    changed: int
    """How many people have another candidate than in the last release that contains them."""

    @property
    def known(self) -> int:
        """How many people are in earlier releases."""
        return int((~self.people.new).sum())


def matched_people(table: Table, history: History) -> MatchedPeople:
    """Match the rows of a table with the people of a history; nobody in common is an error."""
    texts = person_texts(table.data, history.column, table.source)
    of_row, values = candidates_of(table.data, table.schema, history.columns)
    number = {value: position for position, value in enumerate(values)}
    earlier = np.array([number.setdefault(value, len(number)) for value in history.values], np.int64)
    first = np.zeros(len(values), np.int64)
    first[of_row[::-1]] = np.arange(table.rows - 1, -1, -1)
    hashes = person_hashes(texts, history.salt)
    shown = value_hashes(texts, of_row, values, history.salt)
    signatures = np.full((table.rows, 2), -1)
    block = np.full(table.rows, -1)
    places: dict[tuple[int, int], int] = {}
    changed = 0
    for row, (who, value) in enumerate(zip(hashes, shown, strict=True)):
        person = history.people.get(who)
        if person is None:
            continue
        block[row] = places.setdefault(person.place, len(places))
        signatures[row] = person.whole, person.run
        if person.value != value:
            signatures[row, 1] = -1  # what follows starts anew
            changed += 1
    if (block < 0).all():
        raise ParameterError(
            f"none of the {table.rows:,} people is in the earlier releases",
            remedy="Check that the identifiers are written in the same way; if the table is about other people, release it "
            "without an earlier release.",
            key="after",
            file=table.source,
            column=history.column,
        )
    sets = _renumbered(history, earlier)
    return MatchedPeople(People(of_row, signatures, block, sets), list(number), first, changed)


def _renumbered(history: History, earlier: Integers) -> Multisets:
    """Return the signatures of a history, over the candidates as they are numbered here."""
    sets = Multisets.listed(history.signatures)
    return Multisets.of(sets.owner, earlier[sets.values], len(sets), sets.counts)
