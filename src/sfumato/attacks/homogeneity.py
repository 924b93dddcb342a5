"""The homogeneity attack: guess the most frequent secret of the person's group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.attacks.attacked_release import AttackedRelease, Secret
from sfumato.attacks.attacked_rows import AttackedRows
from sfumato.attacks.base_attack import Attack, AttackResult
from sfumato.attacks.rates import Rate


@dataclass(frozen=True)
class Homogeneity(Attack):
    """Guess that a person has the most frequent sensitive value of the group.

    The attacker knows the group of the person, because they know the person's quasi-identifiers.

    Compare with the most frequent value of the whole table, which needs no group.

    A group in which everybody has the same value reveals it with certainty.

    Source: Machanavajjhala et al. (2007).

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "ulcer", "ulcer"]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    >>> sf.attack(release, attacks=["homogeneity"])[0]
    homogeneity on ill: 75.0 % (30.1 % to 95.4 %) of 4
      the most frequent value of the table: 50.0 % (15.0 % to 85.0 %) of 4
      certain of 2, of whom 2 rightly
    """

    name: ClassVar[str] = "homogeneity"
    needs_cells: ClassVar[bool] = False
    needs_original: ClassVar[bool] = False
    counts_rows: ClassVar[bool] = True

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack each sensitive attribute."""
        return [self._attack(release, release.secret(name)) for name in release.secrets]

    def _attack(self, release: AttackedRelease, secret: Secret) -> AttackResult:
        guess, most = secret.mode
        people = AttackedRows.of(release, secret)
        group, truth = people.group, people.truth
        right = guess[group] == truth
        alone = (most == secret.histogram.sizes)[group]
        return AttackResult(
            self.name,
            secret.name,
            Rate.of(int(right.sum()), len(truth)),
            {"the most frequent value of the table": most_frequent_of_table(secret, truth)},
            certain=int(alone.sum()),
            right=int((alone & right).sum()),
            figures={"homogeneous groups": int((most == secret.histogram.sizes).sum()), "groups": release.groups.count},
            notes=people.notes,
        )


def most_frequent_of_table(secret: Secret, truth: np.ndarray) -> Rate:
    """Return how often the most frequent value of the whole table is right: what anybody can guess."""
    return Rate.of(int((truth == int(np.argmax(secret.attribute.counts))).sum()), len(truth))
