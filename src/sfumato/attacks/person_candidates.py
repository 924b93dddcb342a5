"""The people of the original whom the cells of a group cover: those whose row may be in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import NotMeasured
from sfumato.attacks.candidate_bits import Condition, Words, counted, meetings

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class PersonCandidates:
    """The people of the original, with suppressed ones, whom groups cover; the counterpart of `RowCandidates`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.attacks.attacked_sources import attacked_release
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> release = attacked_release(sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2), seed=0))
    >>> PersonCandidates(release).counts(np.array([0, 1])).tolist()
    [2, 2]
    """

    def __init__(self, release: AttackedRelease) -> None:
        if not release.cells:
            raise NotMeasured("the table has no quasi-identifier")
        assert release.population is not None
        self.release = release
        self.population = release.population
        self.conditions = [Condition(self.codes(name), release.quasi_identifier(name).covers) for name in release.cells]

    def codes(self, name: str) -> Integers:
        """Return everybody's codes of a quasi-identifier."""
        return self.population.column(name).codes.astype(np.int64)

    def sets(self, groups: Integers) -> Iterator[tuple[slice, Words]]:
        """Yield for some groups at a time the people whom their cells cover, as bits."""
        yield from meetings(self.conditions, [cells[groups] for cells in self.release.cells.values()])

    def counts(self, groups: Integers) -> Integers:
        """Return how many people the cells of each of some groups cover."""
        found = np.zeros(len(groups), np.int64)
        for part, bits in self.sets(groups):
            found[part] = counted(bits)
        return found

    def own(self, people: Integers) -> Flags:
        """Return for some people whether the cells of their group cover them, as they do unless values changed."""
        group, rows = self.release.group_of_person[people], self.release.rows[people]
        found = np.ones(len(people), bool)
        for name, cells in self.release.cells.items():
            found &= self.release.quasi_identifier(name).covers(cells[group], self.codes(name)[rows])
        return found
