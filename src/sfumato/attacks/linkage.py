"""The linkage attack: find the row of a person, or the person of a row, by quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease, one_row_of_each
from sfumato.attacks.base_attack import Attack, AttackResult
from sfumato.attacks.person_candidates import PersonCandidates
from sfumato.attacks.rates import Rate
from sfumato.attacks.row_candidates import RowCandidates, averaged, knowledge, known_numbers, known_sets

Flags = NDArray[np.bool_]


_ALL_PUBLISHED = "no row was suppressed, so everybody in the original is in the table"


@dataclass(frozen=True)
class Linkage(Attack):
    """Find a person's row: choose at random one of the rows whose cells cover what is known of the person.

    The attacker knows quasi-identifiers of the person: all of them, or few. The prosecutor knows that the person is in the
    table. The journalist does not: the person is anybody in the original, also one whose row was suppressed. The marketer
    has a list of everybody in the original with all quasi-identifiers, and names somebody for each row.

    Compare with a row (for the marketer: a person) that is chosen without looking at cells, and with 1/k, if a principle
    requires k people in every group.

    The attacker is certain if exactly one row covers what is known, or if a row covers exactly one person. With local
    recoding, cells of several groups may cover a person, so the success may be far below 1/k. Figures: the highest chance
    of one person, and for how many it is above 1/k.

    Where people have several rows, the attacker knows one row of each person, drawn at random, and looks for any row of the
    person; only rows of one person cover what is known if the attacker is certain. A second prosecutor knows all rows of the
    person, if those of every person are in one group. The marketer names the person of a row of the list.

    - `known`: the number of quasi-identifiers that the prosecutor knows. By default there are two: one who knows all, and
      one who knows 3. The chance of a person is the mean over sets of that many quasi-identifiers.
    - `subsets`: at most this many sets are taken, at random if there are more.

    Source: El Emam & Dankar (2008), Protecting privacy using k-anonymity, JAMIA 15(5); the names of the three attackers
    are those of Dankar & El Emam (2010).

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "ulcer", "ulcer"]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    >>> sf.attack(release, attacks=["linkage"])[0]
    linkage on rows (prosecutor, all quasi-identifiers): 50.0 % (15.0 % to 85.0 %) of 4
      a random row: 25.0 % (25.0 % to 25.0 %) of 4
      1/k as required: 50.0 % (50.0 % to 50.0 %) of 4
    """

    known: int | None = None
    subsets: int = 20

    name: ClassVar[str] = "linkage"
    needs_secret: ClassVar[bool] = False
    counts_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.known is not None:
            self.check_whole("known")
        self.check_whole("subsets")

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack as prosecutor with all and with few quasi-identifiers, as journalist and as marketer."""
        candidates = RowCandidates(release)
        numbers = known_numbers(self.name, candidates.names, self.known)
        found = [self._prosecutor(release, candidates, number) for number in numbers]
        if release.people_are_in_one_group:
            found.append(self._prosecutor_by_all_rows(release, candidates))
        return [*found, self._journalist(release, candidates), self._marketer(release)]

    def _prosecutor(self, release: AttackedRelease, candidates: RowCandidates, known: int) -> AttackResult:
        sets = known_sets(candidates.names, known, self.subsets)
        people = release.one_row_each
        chances, alone, right = np.zeros(len(people)), np.zeros(len(people), bool), np.zeros(len(people), bool)
        for names in sets:
            found = candidates.counts(names, release.rows[people])
            chances += found.chances
            alone |= found.of_one_person
            right |= found.right
        return self._result(
            release,
            f"rows (prosecutor, {knowledge(known, candidates.names)})",
            chances / len(sets),
            (alone, right),
            {"a random row": _random_row(release)},
            (*release.candidate_notes, *averaged(sets, known, candidates.names)),
        )

    def _prosecutor_by_all_rows(self, release: AttackedRelease, candidates: RowCandidates) -> AttackResult:
        found = candidates.counts_by_all_rows(release.unit_of_person[release.one_row_each])
        notes = [note for note in release.candidate_notes if "one row of each" not in note]
        return self._result(
            release,
            "rows (prosecutor, all quasi-identifiers of all rows of a person)",
            found.chances,
            (found.of_one_person, found.right),
            {"a random row": _random_row(release)},
            (f"{release.several_rows} have several rows, and the attacker knows all of them", *notes),
        )

    def _journalist(self, release: AttackedRelease, candidates: RowCandidates) -> AttackResult:
        everybody = len(np.unique(release.unit_of_row))
        hidden = everybody - len(np.unique(release.unit_of_person))
        notes: tuple[str, ...] = (*release.candidate_notes, _ALL_PUBLISHED)
        rows = release.rows[release.one_row_each]
        if hidden:
            notes = (*release.candidate_notes, f"{hidden:,} of {everybody:,} people are not published")
            rows = one_row_of_each(release.unit_of_row, release.sample)
        found = candidates.counts(candidates.names, rows)
        return self._result(
            release,
            "rows (journalist)",
            found.chances,
            (found.of_one_person, found.right),
            {"a random row": 1 / everybody},
            notes,
        )

    def _marketer(self, release: AttackedRelease) -> AttackResult:
        people = PersonCandidates(release)
        attacked = release.one_row_each
        groups, of_target = np.unique(release.group_of_person[attacked], return_inverse=True)
        found = people.counts(groups, of_target, release.unit_of_person[attacked])
        return self._result(
            release,
            "rows (marketer)",
            found.chances,
            (found.of_one_person, found.right),
            {"a random person": 1 / len(np.unique(release.unit_of_row))},
            release.candidate_notes,
        )

    def _result(
        self,
        release: AttackedRelease,
        about: str,
        chances: NDArray[np.float64],
        certain: tuple[Flags, Flags],
        random: dict[str, float],
        notes: Sequence[str],
    ) -> AttackResult:
        tried, k = len(chances), release.required_k
        baselines = {what: Rate.exactly(share, tried) for what, share in random.items()}
        figures: dict[str, float] = {"highest chance": float(chances.max(initial=0.0))}
        if k is not None:
            baselines["1/k as required"] = Rate.exactly(1 / k, tried)
            # a mean of chances of exactly 1/k may exceed it by rounding
            figures["people above 1/k"] = int((chances > 1 / k + 1e-9).sum())
        alone, right = certain
        return AttackResult(
            self.name, about, Rate.mean(chances), baselines, int(alone.sum()), int(right.sum()), figures, tuple(notes)
        )


def _random_row(release: AttackedRelease) -> float:
    """Return the mean chance that a random published row is a person's; some may stand for nobody."""
    people = len(np.unique(release.unit_of_person))
    return len(release.rows) / release.published.rows / max(1, people)
