"""The published rows that may be a person's: those whose cells cover what is known of the person."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import NotMeasured
from sfumato.attacks.candidate_bits import Condition, ItemWeights, distinct_queries, meetings
from sfumato.data.groups import joint_ranks
from sfumato.errors import ParameterError

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

FEW = 3
"""By default the attacker who knows few quasi-identifiers knows this many."""


class RowCandidates:
    """The candidates of many people. Groups with the same cells are one class, because nothing tells them apart here.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.attacks.attacked_sources import attacked_release
    >>> people = pa.table({"age": [30, 31, 50, 51], "sex": ["m", "m", "f", "f"]})
    >>> release = attacked_release(sf.anonymize(people, sf.Schema(["age", "sex"]), sf.KAnonymity(2), seed=0))
    >>> RowCandidates(release).row_counts(["age"], np.arange(4)).tolist()
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
        self.sizes = np.bincount(self.class_of_group, weights=release.groups.sizes, minlength=self.count).astype(np.int64)
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

    def row_counts(self, names: Sequence[str], rows: Integers) -> Integers:
        """Return how many published rows cover what is known of each of some rows of the population."""
        keys = [self.known(name, rows) for name in names]
        first, inverse = distinct_queries(keys)
        found = np.zeros(len(first), np.int64)
        weights = ItemWeights(self.sizes)
        for part, bits in meetings([self.conditions[name] for name in names], [column[first] for column in keys]):
            found[part] = weights.sums(bits)
        return found[inverse]

    def own(self, names: Sequence[str], people: Integers) -> Flags:
        """Return for some people whether their own row covers what is known of them, as it does unless values changed."""
        group, rows = self.release.group_of_person[people], self.release.rows[people]
        found = np.ones(len(people), bool)
        for name in names:
            cells = self.release.quasi_identifier(name)
            found &= cells.covers(self.release.cells[name][group], self.known(name, rows))
        return found


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
