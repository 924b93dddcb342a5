"""The learning attack (deFinetti): learn from the groups how secrets depend on quasi-identifiers, and guess with that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.attacks.attacked_release import AttackedRelease, Integers, Secret
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.group_blocks import GroupBlocks
from sfumato.attacks.naive_bayes import Features, Floats
from sfumato.attacks.rates import Rate
from sfumato.exact import Number

_FOLDS = 5
"""Other people are those of the other parts, when the original is divided at random into this many."""

_LEARNED = 1 << 22
"""The number of pairs of a person and a value of its group that are learned from."""

_GUESSED = 1 << 23
"""The number of pairs of a person and a value that may be compared to guess; where there are more, fewer people are."""

_CHEAPER = 16
"""So many values of the whole table are compared at the cost of one value of the group."""


@dataclass(frozen=True)
class Learning(Attack):
    """Learn from the release which secrets go with which quasi-identifiers, and guess each person's most probable secret.

    The attacker knows the exact quasi-identifiers and the group of everybody in the table, and no secret.

    Compare with the most frequent value of the group; with a classifier that was learned from other people's true secrets,
    which is what statistics about them reveal anyway; and with that classifier restricted to the values of the group.

    A naive Bayes classifier is learned from the groups: at first each person has each value of the group with its share.
    Then in turns the classifier is learned from these shares, with smoothed counts, and the shares from the classifier, so
    that each person has one value and each value occurs as often as the group has it (iterative proportional scaling, in
    place of the sum over all ways to deal the values out). "Certain" are the people of whom a value has a share above 99 %.

    - `rounds`: how often the classifier is learned.
    - `smoothing`: what is added to the count of a value, on average over the values of a column, at least 0.001.

    Where people have several rows, one row of each is guessed, and the classifier of other people learns from no row of the
    same person.

    Does not measure what a stronger classifier would find. Values of a column of numbers with more than 100 distinct ones
    are taken together.

    Source: Kifer (2009), Attacks on privacy and deFinetti's theorem; compared as Cormode (2011) suggests.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> town = ["Ulm"] * 8 + ["Rome"] * 2 + ["Ulm"] * 5 + ["Rome"] * 5 + ["Ulm"] * 2 + ["Rome"] * 8
    >>> ill = ["flu" if where == "Ulm" else "gout" for where in town]
    >>> people = pa.table({"age": range(20, 50), "town": town, "ill": ill})
    >>> ages = [f"[{decade}, {decade + 9}]" for decade in (20, 30, 40) for _ in range(10)]
    >>> published = pa.table({"age": ages, "town": ["*"] * 30, "ill": ill})
    >>> result = sf.attack(published, people, schema=sf.Schema(["age", "town"], ["ill"]), attacks=["learning"])[0]
    >>> result.success.share, result.baselines["the most frequent value of the group"].share
    (1.0, 0.7)
    """

    rounds: int = 20
    smoothing: Number = 1

    name: ClassVar[str] = "learning"
    needs_cells: ClassVar[bool] = False
    counts_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.check_whole("rounds")
        self.set_fraction("smoothing", least="0.001")

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack each sensitive attribute from which something can be learned."""
        if not release.schema.quasi_identifiers:
            raise NotMeasured("there are no quasi-identifiers to learn from")
        learnable = [name for name in release.secrets if len(release.secret(name).attribute) > 1]
        if not learnable:
            raise NotMeasured("every sensitive attribute has a single value, so there is nothing to learn")
        return [self._attack(release, release.secret(name)) for name in learnable]

    def _attack(self, release: AttackedRelease, secret: Secret) -> AttackResult:
        assert secret.truth is not None
        assert release.original is not None
        features = Features.of(release.original, len(secret.attribute))
        targets, notes = _affordable(release, secret)
        blocks = GroupBlocks.of(release, secret, features, targets)
        learned_from = blocks.some(_LEARNED)
        table = self._learn(features, learned_from)
        guess, belief = blocks.guesses(table[None, :], np.zeros(len(release.rows), np.int64), targets)
        truth = secret.truth[targets]
        right = guess == truth
        group = release.group_of_person[targets]
        baselines = {
            "the most frequent value of the group": Rate.of(int((secret.mode[0][group] == truth).sum()), len(truth))
        }
        more, why_not = self._other_people(secret, features, blocks, targets, release.unit_of_person)
        baselines |= more
        notes += why_not
        success = Rate.of(int(right.sum()), len(truth))
        if learned_from.people < len(release.rows):
            notes.append(f"learned from a random {learned_from.people:,} of {len(release.rows):,} people")
        if features.coarsened:
            notes.append(f"values were taken together to learn from: {', '.join(features.coarsened)}")
        figures: dict[str, Any] = {f"more than {name}": success.share - rate.share for name, rate in baselines.items()}
        for level in (90, 99):
            sure = belief > level / 100
            figures[f"above {level} %"] = {"people": int(sure.sum()), "right": int((sure & right).sum())}
        return AttackResult(
            self.name,
            secret.name,
            success,
            baselines,
            certain=figures["above 99 %"]["people"],
            right=figures["above 99 %"]["right"],
            figures=figures,
            notes=(*release.notes_on_one_row_each, *notes),
        )

    def _learn(self, features: Features, blocks: GroupBlocks) -> Floats:
        """Return the logarithms of the classifier's probabilities, learned from the groups alone."""
        model = np.zeros(blocks.all_people, np.int64)
        table = np.zeros((1, features.width))
        for _ in range(self.rounds):
            counts = np.zeros(features.width)
            blocks.count(table, model, counts)
            table = features.logarithms(counts, float(self.smoothing))[None, :]
        return np.asarray(table[0])

    def _other_people(
        self, secret: Secret, features: Features, blocks: GroupBlocks, targets: Integers, unit: Integers
    ) -> tuple[dict[str, Rate], list[str]]:
        """Return how often a classifier of other people's true secrets is right, alone and within the groups.

        `unit`: whose row each row is. Other rows of the same person are not learned from.
        """
        assert secret.truth is not None
        people, person = np.unique(unit, return_inverse=True)
        count = len(people)
        if count < 2:
            return {}, ["no classifier was learned from other people, because there are none"]
        folds = min(_FOLDS, count)
        fold = np.random.default_rng(0).permutation(np.arange(count) % folds)[person]
        known = secret.truth >= 0
        each = [features.counted(rows := np.flatnonzero(known & (fold == f)), secret.truth[rows]) for f in range(folds)]
        added = float(self.smoothing)
        tables = np.stack([features.logarithms(sum(each) - own, added) for own in each])
        others = (secret.truth[known & (fold != f)] for f in range(folds))
        prior = np.stack([np.bincount(values, minlength=features.secrets) + added for values in others])
        truth = secret.truth[targets]
        alone = _most_probable(features, fold, tables, np.log(prior), targets)
        within, _ = blocks.guesses(tables, fold, targets)
        return {
            "a classifier of other people": Rate.of(int((alone == truth).sum()), len(truth)),
            "a classifier of other people, within the group": Rate.of(int((within == truth).sum()), len(truth)),
        }, []


def _affordable(release: AttackedRelease, secret: Secret) -> tuple[Integers, list[str]]:
    """Return the people who are guessed: the targets, or fewer where there are very many values; and a note."""
    targets = release.one_row_each
    values = secret.histogram.distinct[release.group_of_person[targets]] + len(secret.attribute) // _CHEAPER
    order = np.random.default_rng(0).permutation(len(values))
    fits = max(1, int((np.cumsum(values[order]) <= _GUESSED).sum()))
    if fits >= len(values):
        return targets, []
    return np.sort(targets[order[:fits]]), [f"there are very many values, so only {fits:,} people are guessed"]


def _most_probable(features: Features, model: Integers, tables: Floats, prior: Floats, people: Integers) -> Integers:
    from sfumato.kernels.group_beliefs import most_probable

    out = np.empty(len(people), np.int64)
    most_probable(features.cells[people], model[people], tables, prior, out)
    return out
