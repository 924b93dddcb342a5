"""The singling-out attack: state a condition that exactly one person of the original fulfils."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease, sampled
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.rates import Rate
from sfumato.attacks.released_predicates import CellPredicates, Family, value_families


@dataclass(frozen=True)
class SinglingOut(Attack):
    """State a predicate, such as "age from 30 to 35, and the lowest income of that group", that exactly one person fulfils.

    The attacker knows the published table, and nothing about anybody. Predicates are of several families, each with a
    result of its own: the cells of a group; its cells and an end of an interval; its cells and the value of a sensitive
    attribute that is rarest in it, or one that is at most its lowest or at least its highest; its cells and the rarest
    combination of all unchanged columns; and, without cells, a value or a combination of values that is published once, or
    the lowest or highest value of a column.

    Compare with a predicate that does not use the release. One that each of n people fulfils with probability w isolates
    somebody with probability n·w·(1−w)^(n−1). The best, w = 1/n, such as a certain birthday out of n, has (1−1/n)^(n−1),
    which is about 37 %. What exceeds it is due to the release.

    The predicate succeeds if exactly one person of the original fulfils it, suppressed people included. The attacker is
    certain of one that only one of the published rows can fulfil. Figures: the predicates that isolate somebody, and the
    chance of predicates without the release that as many people fulfil.

    A person with several rows fulfils a predicate if one of them does, and exactly one person may fulfil it with several
    rows. The attacker does not know which rows belong together, so that certainty takes a single row.

    Source: Article 29 Working Party (2014), Opinion 05/2014 on anonymisation techniques; Cohen & Nissim (2020), Towards
    formalizing the GDPR's notion of singling out, PNAS 117(15); Giomi et al. (2023), A unified framework for quantifying
    privacy risk in synthetic data (anonymeter), PoPETs.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "ulcer", "ulcer"]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    >>> sf.attack(release, attacks=["singling-out"])[1]
    singling-out on cells and an end of an interval: 100.0 % (51.0 % to 100.0 %) of 4
      the best predicate without the release: 42.2 % (42.2 % to 42.2 %) of 4
    """

    name: ClassVar[str] = "singling-out"
    needs_secret: ClassVar[bool] = False
    counts_people: ClassVar[bool] = True

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """State predicates of each family, at most as many of each as people are attacked."""
        families: list[Family] = []
        if release.cells:
            families += CellPredicates(release, sampled(release.groups.count, release.sample)).families()
        families += value_families(release)
        if not any(len(family.counts) for family in families):
            raise NotMeasured("no predicate can be stated: there is no quasi-identifier, and no value is published once")
        return [self._result(release, family) for family in families if len(family.counts)]

    def _result(self, release: AttackedRelease, family: Family) -> AttackResult:
        assert release.population is not None
        rows, everybody, counts = release.population.rows, len(np.unique(release.unit_of_row)), family.counts
        isolated = counts == 1
        best = float(_isolation(np.ones(1), everybody)[0])
        notes = release.notes
        if release.several_rows is not None:
            what = f"{release.several_rows} have several rows, and fulfil a predicate if one of their rows does"
            notes = (*(note for note in notes if "several rows" not in note), what)
        if release.cells:
            notes = (*notes, *(note for note in release.candidate_notes if note not in release.notes_on_one_row_each))
        if family.of > len(counts):
            notes = (*notes, f"a random sample of {len(counts):,} of {family.of:,} predicates is stated")
        if rows > len(release.rows):
            notes = (*notes, f"{rows - len(release.rows):,} of {rows:,} rows of the original are not published")
        return AttackResult(
            self.name,
            family.about,
            Rate.of(int(isolated.sum()), len(counts)),
            {"the best predicate without the release": Rate.exactly(best, len(counts))},
            certain=int(family.certain.sum()),
            right=int((family.certain & isolated).sum()),
            figures={
                "isolated": int(isolated.sum()),
                "chance at the same weights": float(_isolation(counts.astype(float), everybody).mean()),
                **family.figures(),
            },
            notes=notes,
        )


def _isolation(expected: NDArray[np.float64], people: int) -> NDArray[np.float64]:
    """Return the probability that exactly one of some people fulfils a predicate, if so many are expected to.

    >>> _isolation(np.array([0.0, 1.0, 2.0]), 2).tolist()
    [0.0, 0.5, 0.0]
    """
    weight = np.minimum(expected / people, 1.0)
    return np.asarray(people * weight * (1 - weight) ** (people - 1))
