"""Match the people of a table with those of earlier releases, by keyed hashes of their identifiers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.releases.candidates import Candidate, candidates_of
from sfumato.releases.history import History, person_hashes, person_texts

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MatchedPeople:
    """The people of a table and their places, and all candidates: those of the table first, then those of lineages only."""

    value: Integers
    """The candidate of each row."""
    values: list[Candidate]
    first_rows: Integers
    """For each candidate of the table a row that has it."""
    lineages: list[tuple[int, ...]]
    """For each lineage the candidates of its slots, as they are numbered here."""
    holder: dict[tuple[int, int], int]
    """For each slot that somebody of the table occupies the row."""
    displaced: Integers
    """Rows of people who return, and whose slot somebody else has meanwhile."""
    changed: int
    """How many people have another candidate than in the last release that contains them."""

    @property
    def new(self) -> NDArray[np.bool_]:
        """The rows of people who are not in a lineage, or no longer."""
        new = np.ones(len(self.value), bool)
        new[list(self.holder.values())] = False
        new[self.displaced] = False
        return new


def matched_people(table: Table, history: History) -> MatchedPeople:
    """Match the rows of a table with the people of a history; nobody in common is an error.

    Somebody with another candidate than before is new: the slot belongs to the candidate.
    """
    texts = person_texts(table.data, history.column, table.source)
    of_row, values = candidates_of(table.data, table.schema, history.columns)
    number = {value: position for position, value in enumerate(values)}
    earlier = [number.setdefault(value, len(number)) for value in history.values]
    first = np.zeros(len(values), np.int64)
    first[of_row[::-1]] = np.arange(table.rows - 1, -1, -1)
    lineages = [tuple(earlier[value] for value in lineage) for lineage in history.lineages]
    holder: dict[tuple[int, int], int] = {}
    since: dict[tuple[int, int], int] = {}
    displaced, changed, known = [], 0, 0
    for row, (who, value) in enumerate(zip(person_hashes(texts, history.salt), of_row.tolist(), strict=True)):
        place = history.people.get(who)
        if place is None:
            continue
        known += 1
        slot = place.lineage, place.slot
        if lineages[place.lineage][place.slot] != value:
            changed += 1
        elif slot not in holder or place.version > since[slot]:
            displaced += [holder[slot]] if slot in holder else []
            holder[slot], since[slot] = row, place.version
        else:
            displaced.append(row)
    if not known:
        raise ParameterError(
            f"none of the {table.rows:,} people is in the earlier releases",
            remedy="Check that the identifiers are written in the same way; if the table is about other people, release it "
            "without an earlier release.",
            key="after",
            file=table.source,
            column=history.column,
        )
    return MatchedPeople(of_row, list(number), first, lineages, holder, np.array(sorted(displaced), np.int64), changed)
