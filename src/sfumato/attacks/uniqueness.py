"""The uniqueness attack: find people by what is published unchanged, such as their sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.rates import Rate
from sfumato.attacks.row_candidates import known_sets
from sfumato.data.groups import distinct_pairs, joint_ranks
from sfumato.errors import ColumnError

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Uniqueness(Attack):
    """Find the row of a person by values that are published unchanged: they act as quasi-identifiers.

    The attacker knows some of the sensitive values of the person (one, two or all), or the person's values of the other
    unchanged columns, or both; and with each of these, in a second result, also the person's group.

    Compare with the people who are alone in their group: how many the release singles out by quasi-identifiers.

    The success is the share of people who are unique: no other row has the same values. Where the attacker knows some of
    several sensitive values, it is the mean over all sets of that many, and certain are those who are unique by one of
    them. Figures: the people who share their values with fewer than k rows, themselves included, where k is what a
    principle requires or else the size of the smallest group; the largest share over the sets. Only published rows are
    counted, so that no original is needed. Where people have several rows, the attacker knows the values of one row of each
    person, drawn at random, and unique are those whose values no other person has: the original says whose row each row is.

    - `subsets`: at most this many sets of sensitive values are taken, at random if there are more.

    Source: Sweeney (2000), Simple demographics often identify people uniquely; de Montjoye et al. (2013), Unique in the
    crowd, Scientific Reports 3.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "ulcer", "ulcer"]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    >>> sf.attack(release, attacks=["uniqueness"])[0]
    uniqueness on all sensitive values: 50.0 % (15.0 % to 85.0 %) of 4
      alone in the group: 0.0 % (0.0 % to 49.0 %) of 4
      certain of 2, of whom 2 rightly
    """

    subsets: int = 20

    name: ClassVar[str] = "uniqueness"
    needs_original: ClassVar[bool] = False
    needs_secret: ClassVar[bool] = False
    counts_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.check_whole("subsets")

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Count the rows that are unique, for each kind of knowledge, without and with the group."""
        kept = [name for name in release.unchanged if _is_readable(release, name)]
        sensitive = tuple(name for name in kept if name in release.schema.sensitive_columns())
        other = tuple(name for name in kept if name not in sensitive)
        if not sensitive and not other:
            raise NotMeasured("no column is published unchanged")
        kinds = []
        for known in dict.fromkeys((1, 2, len(sensitive))):
            if 0 < known <= len(sensitive):
                part = f"{known} of {len(sensitive)} sensitive values"
                about = "all sensitive values" if known == len(sensitive) else part
                kinds.append((about, known_sets(sensitive, known, self.subsets)))
        if other:
            kinds.append(("unchanged columns", [other]))
        if sensitive and other:
            kinds.append(("all sensitive values and unchanged columns", [(*sensitive, *other)]))
        return [self._result(release, *kind, group) for kind in kinds for group in (False, True)]

    def _result(self, release: AttackedRelease, about: str, sets: Sequence[tuple[str, ...]], group: bool) -> AttackResult:
        people, attacked = _people(release)
        sizes = _people_with(release.groups.of_row, people)
        k = release.required_k or int(sizes.min())
        unique, few = np.zeros(len(attacked)), np.zeros(len(attacked))
        shares = []
        for names in sets:
            alike = _alike(release, names, group, people)[attacked]
            unique += alike == 1
            few += alike < k
            shares.append(float((alike == 1).mean()))
        found = int((unique > 0).sum())
        return AttackResult(
            self.name,
            f"{about} and the group" if group else about,
            Rate.mean(unique / len(sets)),
            {"alone in the group": Rate.of(int((sizes[release.groups.of_row[attacked]] == 1).sum()), len(attacked))},
            certain=found,
            right=found,
            figures={"k": k, "people below k": int((few > 0).sum()), "largest share": max(shares)},
            notes=release.notes if release.several_rows is None else release.notes_on_one_row_each,
        )


def _people(release: AttackedRelease) -> tuple[Integers | None, Integers]:
    """Return whose row each published row is if people have several, and the rows that are attacked: all, or one each."""
    if release.several_rows is None:
        return None, np.arange(release.published.rows)
    return release.unit_of_published_row, release.row_of_person[release.one_row_each]


def _is_readable(release: AttackedRelease, name: str) -> bool:
    """Return whether values of a column can be compared; those of a structure, published unchanged, cannot."""
    try:
        release.published.column(name)
    except ColumnError:
        return False
    return True


def _alike(release: AttackedRelease, names: Sequence[str], group: bool, people: Integers | None) -> Integers:
    """Return for each published row how many people have the same values, and the same group if that is known."""
    encoded = [release.published.column(name) for name in names]
    columns: list[tuple[NDArray[Any], int]] = [(column.codes, column.domain) for column in encoded]
    if group:
        columns.append((release.groups.of_row, release.groups.count))
    number = joint_ranks(iter(columns))
    return _people_with(number, people)[number]


def _people_with(number: Integers, people: Integers | None) -> Integers:
    """Return for each number how many people have it in a row; each row is somebody else's if nobody has several."""
    if people is None:
        return np.bincount(number)
    return np.bincount(distinct_pairs(number, int(number.max()) + 1, people, int(people.max()) + 1)[0])
