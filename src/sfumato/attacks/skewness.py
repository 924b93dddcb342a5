"""The skewness attack: bet on the secret that is much more frequent in the person's group than in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.attacks.attacked_release import AttackedRelease, Secret
from sfumato.attacks.attacked_rows import AttackedRows
from sfumato.attacks.base_attack import Attack, AttackResult
from sfumato.attacks.rates import Rate


@dataclass(frozen=True)
class Skewness(Attack):
    """Bet on the sensitive value whose share of the person's group exceeds its share of the table by the largest factor.

    The attacker knows the group of the person, because they know the person's quasi-identifiers.

    Compare with the share of the same value in the whole table: so often is the same bet right about somebody of whom the
    group is not known.

    The factor is called lift. The figures have the largest lift of all groups, the mean over the people of the lift of
    their own value, how often a guess that is drawn from the group's distribution, or from the table's, is right, and the
    number of people whose own value has a share above 50 % in the group and below 10 % in the table. "Certain" are those
    in whose group everybody has the value.

    Small groups always have large lifts of rare values, also if they were formed at random: the bet shows what the release
    adds to the table's distribution, not whose fault it is.

    Source: Li, Li & Venkatasubramanian (2007), who describe the attack.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51, 52], "ill": ["flu", "HIV", "flu", "flu", "flu"]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), method="mondrian", seed=0)
    >>> result = sf.attack(release, attacks=["skewness"])[0]
    >>> result.success.share, round(result.baselines["the same value, by its share of the table"].share, 2)
    (0.8, 0.56)
    >>> result.figures["largest lift"]
    2.5
    """

    name: ClassVar[str] = "skewness"
    needs_cells: ClassVar[bool] = False
    counts_rows: ClassVar[bool] = True
    needs_original: ClassVar[bool] = False

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack each sensitive attribute."""
        return [self._attack(release, release.secret(name)) for name in release.secrets]

    def _attack(self, release: AttackedRelease, secret: Secret) -> AttackResult:
        people, h, total = AttackedRows.of(release, secret), secret.histogram, secret.attribute.counts
        # equal ratios of whole numbers have equal quotients, so ties are exact
        lift = h.counts / total[h.values]
        bet = _best_entries(lift, h.counts, h.starts, h.group)
        right = h.values[bet][people.group] == people.truth
        alone = (h.counts[bet] == h.sizes)[people.group]
        return AttackResult(
            self.name,
            secret.name,
            Rate.of(int(right.sum()), len(right)),
            {"the same value, by its share of the table": Rate.mean((total / total.sum())[h.values[bet][people.group]])},
            certain=int(alone.sum()),
            right=int((alone & right).sum()),
            figures=_figures(secret, people),
            notes=people.notes,
        )


def _best_entries(lift: Any, counts: Any, starts: Any, group: Any) -> Any:
    """Return for each group the entry with the largest lift; of several the most frequent, and of those the first."""
    order = np.lexsort((-np.arange(len(lift)), counts, lift, group))
    return order[np.append(starts[1:], len(lift)) - 1]


def _figures(secret: Secret, people: AttackedRows) -> dict[str, Any]:
    h, total = secret.histogram, secret.attribute.counts
    rows, width = int(total.sum()), len(total)
    # the entry of each person's own value; a value that is not published in the group has none
    keys = h.group * width + h.values
    own = np.searchsorted(keys, wanted := people.group * width + people.truth)
    own = np.minimum(own, len(keys) - 1)
    there = (keys[own] == wanted) & (people.truth >= 0)
    own = own[there]
    count, size, of_table = h.counts[own], h.sizes[h.group[own]], total[h.values[own]]
    tried = max(1, len(people.truth))
    return {
        "largest lift": float((h.counts * rows / (h.sizes[h.group] * total[h.values])).max()),
        "mean lift": float((count * rows / (size * of_table)).sum() / tried),
        "drawn from the group": float((count / size).sum() / tried),
        "drawn from the table": float((of_table / rows).sum() / tried),
        "below 10 % in the table, above 50 % in the group": int(((2 * count > size) & (10 * of_table < rows)).sum()),
        "people": len(people.truth),
    }
