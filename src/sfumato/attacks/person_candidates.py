"""The people of the original whom the cells of a group cover: those whose row may be in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import NotMeasured
from sfumato.attacks.candidate_bits import Condition, Words, meetings
from sfumato.attacks.row_candidates import CandidateCounts
from sfumato.attacks.rows_of_people import RowsOfPeople

Integers = NDArray[np.int64]


class PersonCandidates:
    """The people of the original, with suppressed ones, whom groups cover; the counterpart of `RowCandidates`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.attacks.attacked_sources import attacked_release
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> release = attacked_release(sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2), seed=0))
    >>> PersonCandidates(release).counts(np.array([0, 1]), np.array([0, 1]), np.array([0, 2])).rows.tolist()
    [2, 2]
    """

    def __init__(self, release: AttackedRelease) -> None:
        if not release.cells:
            raise NotMeasured("the table has no quasi-identifier")
        assert release.population is not None
        self.release = release
        self.population = release.population
        self.order = np.argsort(release.unit_of_row, kind="stable")
        """The rows of the original, person by person: the items of the sets."""
        self.conditions = [Condition(self.codes(name), release.quasi_identifier(name).covers) for name in release.cells]

    def codes(self, name: str) -> Integers:
        """Return everybody's codes of a quasi-identifier, in the order of the items."""
        return self.population.column(name).codes.astype(np.int64)[self.order]

    def sets(self, groups: Integers) -> Iterator[tuple[slice, Words]]:
        """Yield for some groups at a time the people whom their cells cover, as bits."""
        yield from meetings(self.conditions, [cells[groups] for cells in self.release.cells.values()])

    def counts(self, groups: Integers, of_person: Integers, units: Integers) -> CandidateCounts:
        """Count the people whom the cells of the groups of some people cover, row by row where people have several.

        `groups`: distinct groups. `of_person`: the position of each person's group. `units`: who each of them is.
        """
        everybody = np.arange(self.population.rows)
        rows = RowsOfPeople(self.release.unit_of_row[self.order], everybody, len(everybody))
        ordered = np.argsort(of_person, kind="stable")
        found = CandidateCounts.none(len(of_person))
        for part, bits in self.sets(groups):
            low, high = np.searchsorted(of_person[ordered], [part.start, part.stop])
            people = ordered[low:high]
            found.fill(rows, bits, of_person[people] - part.start, people, units[people])
        return found
