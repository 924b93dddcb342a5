"""The linkability attack: tell that two records from two sources are about the same person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.candidate_bits import Condition, Equality, meetings, one_label
from sfumato.attacks.rates import Rate
from sfumato.attacks.row_candidates import known_sets
from sfumato.attacks.rows_of_people import RowsOfPeople
from sfumato.data.groups import joint_ranks

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Linkability(Attack):
    """Tell that two records are about one person, because the rows that may be of either meet in one group.

    The attacker knows two records from two sources, each with other columns of the table: half of the quasi-identifiers and
    the other half; all quasi-identifiers and the unchanged columns, which are those of sensitive attributes and all other
    columns without cells; or half of all columns and the other half. Each record may be of the rows whose cells cover it
    and whose unchanged columns equal it.

    Compare with records of two people who were paired at random: how often their rows, too, meet in one group.

    The attacker is certain if the rows of both records meet in one row.

    Where people have several rows, both records are about one row of each person, drawn at random. The attacker is then
    certain if the rows of both records meet in rows of one person only.

    - `splits`: at most this many ways to halve the columns are used, at random if there are more, each for some people.

    Source: Article 29 Working Party (2014), Opinion 05/2014 on anonymisation techniques; Giomi et al. (2023), A unified
    framework for quantifying privacy risk in synthetic data (anonymeter), PoPETs, with groups in place of nearest rows.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "sex": ["m", "m", "f", "f"]})
    >>> release = sf.anonymize(people, sf.Schema(["age", "sex"]), sf.KAnonymity(2), seed=0)
    >>> sf.attack(release, attacks=["linkability"])[0].success
    100.0 % (51.0 % to 100.0 %) of 4
    """

    splits: int = 8

    name: ClassVar[str] = "linkability"
    needs_secret: ClassVar[bool] = False
    counts_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.check_whole("splits")

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack with each pair of sources that the columns allow."""
        cells, unchanged = tuple(release.cells), release.unchanged
        if len(release.one_row_each) < 2:
            raise NotMeasured("there is one person in the table, and nobody to compare with")
        found = []
        if len(cells) > 1:
            rows = _PublishedRows(release, cells, ())
            found.append(self._result(rows, "two halves of the quasi-identifiers", _halves(cells, self.splits)))
        if len(cells) + len(unchanged) > 1 and unchanged:
            rows = _PublishedRows(release, cells, unchanged)
            if cells:
                found.append(self._result(rows, "quasi-identifiers and unchanged columns", [frozenset(cells)]))
            if len(cells) + len(unchanged) > 2:
                halves = _all_halves(cells, unchanged, self.splits)
                found.append(self._result(rows, "two halves of all columns", halves))
        if not found:
            raise NotMeasured("the table has fewer than two columns for two sources")
        return found

    def _result(self, rows: _PublishedRows, about: str, halves: Sequence[frozenset[str]]) -> AttackResult:
        release, known = rows.release, rows.known
        people = np.arange(len(release.one_row_each))
        meets, alone, own = rows.own_meetings
        # the second record is another person's: the next one in a random circle
        circle = np.random.default_rng(len(people)).permutation(len(people))
        partner = np.empty(len(people), np.int64)
        partner[circle] = np.roll(circle, -1)
        half = people % len(halves)
        mixed = {}
        for name, codes in known.items():
            first = np.array([name in one for one in halves])[half]
            mixed[name] = np.where(first, codes, codes[partner])
        others, _, _ = rows.meetings(mixed)
        return AttackResult(
            self.name,
            about,
            Rate.of(int((meets & own).sum()), len(people)),
            {"records of two random people": Rate.of(int(others.sum()), len(people))},
            certain=int(alone.sum()),
            right=int((alone & own).sum()),
            figures={"ways to split the columns": len(halves)},
            notes=release.candidate_notes,
        )


class _PublishedRows:
    """The published rows, those of a group with the same unchanged columns as one item, and which a record may be of."""

    def __init__(self, release: AttackedRelease, cells: Sequence[str], unchanged: Sequence[str]) -> None:
        self.release, self.unchanged = release, unchanged
        codes = [release.published.column(name) for name in unchanged]
        columns: list[tuple[NDArray[Any], int]] = [
            (release.groups.of_row, release.groups.count),
            *((column.codes, column.domain) for column in codes),
        ]
        # numbers ascend with the group, because it is the first column
        number = joint_ranks(iter(columns))
        _, first, item = np.unique(number, return_index=True, return_inverse=True)
        self.group = release.groups.of_row[first]
        self.rows_of_people = RowsOfPeople(release.unit_of_published_row, item, len(first))
        self.people = release.unit_of_person[release.one_row_each]
        self.conditions: dict[str, Condition] = {
            name: Condition(release.cells[name][self.group], release.quasi_identifier(name).covered_by) for name in cells
        }
        for name, column in zip(unchanged, codes, strict=True):
            self.conditions[name] = Equality(column.codes[first].astype(np.int64))

    @cached_property
    def known(self) -> dict[str, Integers]:
        """What records about the people who are attacked say in each column, as keys of its condition."""
        release = self.release
        assert release.population is not None
        rows = release.rows[release.one_row_each]
        return {
            name: release.unchanged_codes(name)[rows]
            if name in self.unchanged
            else release.population.column(name).codes[rows].astype(np.int64)
            for name in self.conditions
        }

    @cached_property
    def own_meetings(self) -> tuple[Flags, Flags, Flags]:
        """What `meetings` returns for two records of each person, which does not depend on how columns are split."""
        return self.meetings(self.known)

    def meetings(self, known: dict[str, Integers]) -> tuple[Flags, Flags, Flags]:
        """Look at the rows that may be of both records of a pair, each of which is about one of the people by turns.

        Return whether the rows are in one group, whether they are of one person, and whether any is the person's, as it is
        if both records are about the person, unless values changed.
        """
        count = len(self.people)
        meets, alone, own = (np.zeros(count, bool) for _ in range(3))
        for part, bits in meetings([self.conditions[name] for name in known], list(known.values())):
            meets[part] = one_label(bits, self.group)
            alone[part] = self.rows_of_people.are_of_one_person(bits)
            own[part] = self.rows_of_people.own(bits, np.arange(len(bits)), self.people[part]) > 0
        return meets, alone, own


def _halves(names: Sequence[str], most: int) -> list[frozenset[str]]:
    """Return sets of half of some names, which stand for the columns of the first source."""
    return [frozenset(one) for one in known_sets(names, len(names) // 2, most)]


def _all_halves(cells: Sequence[str], unchanged: Sequence[str], most: int) -> list[frozenset[str]]:
    """Return sets of half of the quasi-identifiers and half of the unchanged columns.

    Of an odd number the set has fewer quasi-identifiers, but more unchanged columns.
    """
    one = _halves(cells, most)
    other = [frozenset(unchanged) - half for half in _halves(unchanged, most)]
    return [one[at % len(one)] | other[at % len(other)] for at in range(max(len(one), len(other)))]
