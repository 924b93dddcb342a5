"""The swap-optimality attack: a swap that would have lowered the loss was left undone, usually because of the secrets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.base_attack import Attack, AttackResult
from sfumato.attacks.constrained_secrets import ConstrainedSecret, constrained_secrets, groups_of_people, search_task
from sfumato.attacks.rates import Rate
from sfumato.attacks.unmade_swaps import SwapVerdicts, swap_verdicts_of, unmade_swaps
from sfumato.exact import Number, as_fraction, nearest_float
from sfumato.kernels.swap_beliefs import STATES, group_beliefs, pass_messages

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_DAMPING = 0.5
"""The weight of a new message against the old one, from the second round on."""

_DEPENDENCE = 0.25
"""The power of the number of a person's swaps by which the weight of each of them falls. Chosen on 3,000 and 15,000 rows
of the Adult table under frequency 5-diversity: guesses were right as often as without it, and beliefs above 99 % more often.
They are still too sure."""

_LOCAL_SEARCH = "glaze"
"""The method that ends where no swap that it tried lowers the loss."""


@dataclass(frozen=True)
class SwapOptimality(Attack):
    """Guess secrets from swaps that were not made, although they would have lowered the loss.

    A method that improves groups by swaps ends where none is left to make. If two people of different groups could still
    swap at a lower loss, which the quasi-identifiers alone decide, the swap would usually have broken the requirement. So
    it says something about the two secrets. Such swaps are collected between groups that are near one another. Which pairs
    of secrets would have broken the requirement follows from the published secrets of both groups. Beliefs about all people
    are then propagated over swaps and groups, `rounds` times, and each group keeps its published secrets. It needs neither
    the seed nor another run of the method. Beliefs are approximate and tend to be too sure, under t-closeness much too sure:
    read the number of certain guesses with the number of right ones.

    The attacker knows everybody's exact quasi-identifiers and group, the requirements and the method.

    Compare with the most frequent value of the group; with the share that the requirement allows, if it states one; and with
    the same guesses after the secrets are dealt again at random within each group, where unmade swaps mean nothing.

    Where people have several rows, all rows of a person are swapped together, and the attacker also knows how many people of
    each group have each secret. It must be the same in all rows of a person.

    Source: Wong et al. (2007) describe attacks on minimality; this one is our own.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "flu", "gout", "gout"]})
    >>> requirement = sf.DistinctLDiversity(2)
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), [sf.KAnonymity(2), requirement], seed=0)
    >>> result = sf.attack(release, attacks=["swap-optimality"])[0]
    >>> result.figures["unmade swaps"], result.figures["unmade swaps that would break the requirement"]
    (2, 2)
    """

    accepted: Number = "0.05"
    """How likely a swap that lowers the loss and breaks nothing is left undone."""
    rounds: int = 15
    """How often beliefs are propagated."""

    name: ClassVar[str] = "swap-optimality"
    needs_cells: ClassVar[bool] = False
    counts_people: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.set_fraction("accepted", 0, 1)
        self.check_whole("rounds")

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack each sensitive attribute that a requirement is about."""
        task = search_task(release)
        secrets = constrained_secrets(release, task)
        group = groups_of_people(release)
        swaps = unmade_swaps(task, group, release.sample)
        verdicts = [swap_verdicts_of(swaps, secret, group) for secret in secrets]
        blocked = np.array([_expected_share(one).mean() if len(one.one) else 0.0 for one in verdicts])
        results = []
        for number, (secret, one) in enumerate(zip(secrets, verdicts, strict=True)):
            # a swap may also have been left undone because of another attribute
            made = (1 - nearest_float(as_fraction(self.accepted))) * float(np.prod(1 - np.delete(blocked, number)))
            beliefs = propagated(one, group, (1 - made) ** _weights(one), self.rounds)
            results.append(self._result(release, secret, one, beliefs, group, swaps.attacked))
        return results

    def _result(
        self,
        release: AttackedRelease,
        secret: ConstrainedSecret,
        swaps: SwapVerdicts,
        beliefs: Beliefs,
        group: Integers,
        attacked: Any,
    ) -> AttackResult:
        people = np.flatnonzero(attacked[group])  # those of the sample; beliefs are about more
        guess, chance = beliefs.guesses(people)
        truth, place = secret.codes[people], beliefs.local[group[people]]
        right = swaps.value[guess] == truth
        counts, size = swaps.count, swaps.size[place]
        mode = _first_largest(counts, swaps.first)[place]
        baselines = {
            "the most frequent value of the group": Rate.of(int((swaps.value[mode] == truth).sum()), len(people)),
            "secrets dealt again within groups": Rate.mean(counts[guess] / size),
        }
        if secret.promised is not None:
            share = secret.promised
            baselines["the share that the requirement allows"] = Rate.exactly(share, len(people))
        sure, likely = chance > 0.99, chance > 0.9
        broken = swaps.breaks[beliefs.entries(secret.codes)]
        return AttackResult(
            self.name,
            secret.name,
            Rate.of(int(right.sum()), len(people)),
            baselines,
            certain=int(sure.sum()),
            right=int((sure & right).sum()),
            figures={
                "unmade swaps": len(swaps.one),
                "unmade swaps that would break the requirement": int(broken.sum()),
                "of which would do so with secrets dealt again": round(float(_expected_share(swaps).sum()), 1),
                "people above 90 %": int(likely.sum()),
                "of whom right": int((likely & right).sum()),
                "mean belief in the guess": round(float(chance.mean()), 4) if len(people) else None,
            },
            notes=_notes(release, swaps, len(people), len(group)),
        )


@dataclass(frozen=True, eq=False)
class Beliefs:
    """How likely each person has each secret of the group."""

    swaps: SwapVerdicts
    local: Integers
    """For each group of the release its number among those of the swaps, or -1."""
    group: Integers
    """For each person the number of the group, or -1."""
    place: Integers
    """For each person where the beliefs begin."""
    belief: Floats

    @property
    def distinct(self) -> Integers:
        """The number of secrets of each group."""
        return np.diff(self.swaps.first)

    def guesses(self, people: Integers) -> tuple[Integers, Floats]:
        """Return for some people the most likely secret, as an entry of the group's secrets, and how likely it is."""
        group = self.group[people]
        width = self.distinct[group]
        offsets = np.concatenate([[0], np.cumsum(width)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], width)
        values = self.belief[np.repeat(self.place[people], width) + within]
        best = _first_largest(np.round(values, 9), offsets)
        return self.swaps.first[group] + within[best], values[best]

    def entries(self, codes: Integers) -> Integers:
        """Return for each swap the entry of its table that the true secrets of both people select."""
        swaps = self.swaps
        key = np.repeat(np.arange(len(self.distinct)), self.distinct) * (int(codes.max()) + 1) + swaps.value

        def secret(people: Integers) -> Integers:
            group = self.group[people]
            return np.searchsorted(key, group * (int(codes.max()) + 1) + codes[people]) - swaps.first[group]

        return swaps.table + secret(swaps.one) * self.distinct[self.group[swaps.other]] + secret(swaps.other)


def _weights(swaps: SwapVerdicts) -> Floats:
    """Return how much each swap counts: less if one of its people has many, because these do not say different things."""
    people = np.concatenate([swaps.one, swaps.other])
    often = np.bincount(people)[people].astype(float) if len(people) else np.ones(0)
    return np.asarray(np.maximum(often[: len(swaps.one)], often[len(swaps.one) :]) ** -_DEPENDENCE)


def propagated(swaps: SwapVerdicts, group: Integers, spare: Floats, rounds: int) -> Beliefs:
    """Return what unmade swaps imply about everybody in their groups; `spare`: the likelihood of each if it breaks nothing.

    Exact if the swaps form a tree over people and groups and the groups are small; otherwise an approximation.
    """
    local = np.full(int(group.max()) + 1, -1)
    local[swaps.groups] = np.arange(len(swaps.groups))
    of_row = local[group]
    distinct = np.diff(swaps.first)
    length = swaps.size * distinct
    at = np.cumsum(length) - length
    # the people of a group in the order of their rows
    order = np.argsort(of_row, kind="stable")[int((of_row < 0).sum()) :]
    within = np.arange(len(order)) - np.repeat(np.cumsum(swaps.size) - swaps.size, swaps.size)
    place = np.zeros(len(group), np.int64)
    place[order] = at[of_row[order]] + within * distinct[of_row[order]]
    ones, others = distinct[of_row[swaps.one]], distinct[of_row[swaps.other]]
    message = np.zeros(int((ones + others).sum()))
    evidence, weight, belief = (np.zeros(int(length.sum())) for _ in range(3))
    cavity, fresh = (np.zeros((2, int(distinct.max(initial=1)))) for _ in range(2))
    forward, backward, digit = np.zeros(STATES), np.zeros(STATES), np.zeros(cavity.shape[1], np.int64)
    for number in range(rounds + 1):
        group_beliefs(swaps.first, swaps.count, swaps.size, at, evidence, weight, belief, forward, backward, digit)
        if number < rounds:
            pass_messages(
                place[swaps.one], place[swaps.other], ones, others, swaps.table, spare, swaps.breaks, belief,
                np.cumsum(ones + others) - ones - others, _DAMPING if number else 1.0, message, evidence, cavity, fresh,
            )  # fmt: skip
    return Beliefs(swaps, local, of_row, place, belief)


def _expected_share(swaps: SwapVerdicts) -> Floats:
    """Return for each swap how likely it would break the requirement if secrets were dealt at random within groups."""
    owner = np.repeat(np.arange(len(swaps.size)), np.diff(swaps.first))
    share = swaps.count / swaps.size[owner]
    tables, swap = np.unique(swaps.table, return_inverse=True)
    found = np.zeros(len(tables))
    first_swap = np.zeros(len(tables), np.int64)
    first_swap[swap.reshape(-1)] = np.arange(len(swaps.one))
    here, there = swaps.here[first_swap], swaps.there[first_swap]
    for k, (a, b) in enumerate(zip(here.tolist(), there.tolist(), strict=True)):
        u, v = share[swaps.first[a] : swaps.first[a + 1]], share[swaps.first[b] : swaps.first[b + 1]]
        found[k] = u @ swaps.breaks[tables[k] : tables[k] + len(u) * len(v)].reshape(len(u), len(v)) @ v
    return found[swap.reshape(-1)]


def _first_largest(values: NDArray[Any], offsets: Integers) -> Integers:
    """Return for each stretch of values the position of its largest, the first of several; no stretch is empty."""
    if len(offsets) == 1:
        return np.zeros(0, np.int64)
    stretch = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    top = np.maximum.reduceat(values, offsets[:-1])
    first = np.full(len(offsets) - 1, len(values))
    np.minimum.at(first, stretch, np.where(values == top[stretch], np.arange(len(values)), len(values)))
    return first


def _notes(release: AttackedRelease, swaps: SwapVerdicts, people: int, everybody: int) -> tuple[str, ...]:
    notes = list(release.notes)
    if release.several_rows is not None:
        notes = [note for note in notes if "several rows" not in note]
        notes.append(f"{release.several_rows} have several rows, which are swapped together")
    if people < everybody:
        notes.append(f"{people:,} of {everybody:,} people are attacked: those of groups that are near one another")
    if swaps.left_out:
        notes.append(f"{swaps.left_out:,} unmade swaps are left out at random, to limit the time")
    if not len(swaps.one):
        notes.append("no swap between near groups would have lowered the loss, so the attacker counts in groups")
    method = release.method.get("name")
    if method is None:
        notes.append("the method is not known: swaps say something only if it makes those that lower the loss")
    elif method != _LOCAL_SEARCH:
        notes.append(f"the method {method} does not look for such swaps, so that most of them say nothing")
    return tuple(notes)
