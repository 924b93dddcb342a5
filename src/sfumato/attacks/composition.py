"""The composition attack: combine what several releases say about the same person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease, Integers, Secret
from sfumato.attacks.base_attack import Attack, AttackResult, NotMeasured
from sfumato.attacks.rates import Rate

Floats = NDArray[np.float64]

_BELIEFS = 6_000_000
"""The most pairs of a person and a possible value about which beliefs are scaled."""

_ROUNDS = 30
"""How often beliefs are scaled to what each release says."""

_MANY = 2_000_000
"""With more pairs than this, beliefs are scaled only `_FEW_ROUNDS` times."""

_FEW_ROUNDS = 10


@dataclass(frozen=True)
class Composition(Attack):
    """Guess the secret that is most probable given the person's groups in several releases.

    The attacker knows the person's group in each release, because they know the person's quasi-identifiers, and the groups
    of everybody else.

    Compare with the most frequent value of the person's group in this release alone, and in the release that has the
    largest share of it.

    Only values that occur in each of the person's groups are possible. If as many people of a group can have nothing else as
    have a value, it is ruled out for the others; and if no more people can have it than do, they have nothing else. Beliefs
    in the values that remain are scaled by turns, so that those about a person sum to 1 and those in each value of a group
    to the number of people who have it (iterative proportional scaling). In tables with very large groups the belief is
    instead the share of a value in the person's group with the fewest values, among those that are possible. "Certain" are
    the people about whom a belief exceeds 99 %.

    Where people have several rows, the attacker knows the groups of all of them, and guesses the value of one row of each
    person, drawn at random.

    Does not use the figures that the releases state, nor the quasi-identifiers within groups.

    Source: Ganta, Kasiviswanathan & Smith (2008), Composition attacks and auxiliary information in data privacy.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "size": [150, 180, 151, 181], "ill": ["flu", "gout", "ulcer", "HIV"]})
    >>> by_age, by_size = (sf.anonymize(people, sf.Schema([name], ["ill"]), sf.KAnonymity(2)) for name in ("age", "size"))
    >>> sf.attack(by_age, earlier=[by_size], attacks=["composition"])[0]
    composition on ill: 100.0 % (51.0 % to 100.0 %) of 4
      the group in this release alone: 50.0 % (15.0 % to 85.0 %) of 4
      the group in the most telling release: 50.0 % (15.0 % to 85.0 %) of 4
      certain of 4, of whom 4 rightly
    """

    name: ClassVar[str] = "composition"
    counts_people: ClassVar[bool] = True

    def run(self, release: AttackedRelease) -> Sequence[AttackResult]:
        """Attack each sensitive attribute that is in several releases."""
        if not release.earlier:
            raise NotMeasured("no earlier release was given")
        shared = [name for name in release.secrets if any(name in other.secrets for other in release.earlier)]
        if not shared:
            raise NotMeasured("no sensitive attribute is in this release and in an earlier one")
        results = []
        for name in shared:
            others = [other for other in release.earlier if name in other.secrets]
            if not any(len(np.intersect1d(other.rows, release.rows)) for other in others):
                raise NotMeasured(f"no earlier release that contains {name} is about any of the same people")
            results.append(self._attack(release, others, name))
        return results

    def _attack(self, release: AttackedRelease, others: list[AttackedRelease], name: str) -> AttackResult:
        secret = release.secret(name)
        assert secret.truth is not None
        views = [_View.of(each, each.secret(name), secret) for each in (release, *others)]
        truth = secret.truth[release.one_row_each]
        rows = release.rows[release.one_row_each]
        scaled = _beliefs_of_all(views)
        how: tuple[str, ...] = ()
        if scaled is None:
            found = _smallest_groups(views, rows)
            how = ("groups are very large, so only values that do not occur in all groups of a person are ruled out",)
        else:
            found = scaled.of(rows)
        guess, belief, possible = found.best()
        right = guess == truth
        alone, best = _single_releases(views, rows)
        sure = belief > 0.99
        known = {*release.notes, *release.notes_on_one_row_each}
        notes = tuple(dict.fromkeys(note for other in others for note in other.notes if note not in known))
        none = int((possible == 0).sum())
        contradicted = (f"the releases contradict each other about {none:,} people",) if none else ()
        also = int(np.isin(rows, np.concatenate([other.rows for other in others])).sum())
        return AttackResult(
            self.name,
            name,
            Rate.of(int(right.sum()), len(truth)),
            {
                "the group in this release alone": Rate.of(int((alone == truth).sum()), len(truth)),
                "the group in the most telling release": Rate.of(int((best == truth).sum()), len(truth)),
            },
            certain=int(sure.sum()),
            right=int((sure & right).sum()),
            figures={
                "releases": len(views),
                "people in several releases": also,
                "one possible value": int((possible == 1).sum()),
                "people": len(truth),
            },
            notes=(*release.notes_on_one_row_each, *notes, *how, *contradicted),
        )


@dataclass(frozen=True, eq=False)
class _View:
    """What one release says: the groups of rows of the original, and how often each value occurs in each group."""

    rows: Integers
    """The rows of the original, ascending."""
    group: Integers
    """For each of them its group."""
    starts: Integers
    """The values of group g are `starts[g]:starts[g + 1]`."""
    values: Integers
    """Values by the numbers that the last release gives them; values that it does not contain have higher numbers."""
    counts: Integers
    sizes: Integers
    full: NDArray[np.bool_]
    """For each value of each group whether all rows of the group are those of people; counterfeits stand for nobody."""

    @classmethod
    def of(cls, release: AttackedRelease, own: Secret, last: Secret) -> _View:
        h = own.histogram
        number = {last.attribute.value(value): value for value in range(len(last.attribute))}
        name = np.array(
            [number.setdefault(own.attribute.value(value), len(number)) for value in range(len(own.attribute))], np.int64
        )
        full = np.bincount(release.group_of_person, minlength=len(h.sizes)) == h.sizes
        return cls(release.rows, release.group_of_person, h.offsets, name[h.values], h.counts, h.sizes, full[h.group])

    def entries(self, groups: Integers) -> tuple[Integers, Integers]:
        """Return the positions of the values of some groups, and to which of the groups each belongs."""
        width = np.diff(self.starts)[groups]
        first = np.cumsum(width) - width
        at = np.arange(int(width.sum())) + np.repeat(self.starts[groups] - first, width)
        return at, np.repeat(np.arange(len(groups)), width)

    def groups_of(self, rows: Integers) -> Integers:
        """Return for each row of the original its group; -1 if it is not in this release."""
        at = np.minimum(np.searchsorted(self.rows, rows), max(0, len(self.rows) - 1))
        if not len(self.rows):
            return np.full(len(rows), -1)
        return np.where(self.rows[at] == rows, self.group[at], -1)


@dataclass(frozen=True, eq=False)
class _Beliefs:
    """For each pair of a row of the original and a possible value a probability; pairs are ordered by row and value."""

    rows: Integers
    whose: Integers
    value: Integers
    weight: Floats

    def best(self) -> tuple[Integers, Floats, Integers]:
        """Return for each row the most probable value, -1 if none is possible, its belief, and how many are possible."""
        count = len(self.rows)
        possible = np.bincount(self.whose, minlength=count)
        guess, belief = np.full(count, -1), np.zeros(count)
        np.maximum.at(belief, self.whose, self.weight)
        top = np.flatnonzero(self.weight >= belief[self.whose] - 1e-9)
        owner, first = np.unique(self.whose[top], return_index=True)
        guess[owner] = self.value[top[first]]
        return guess, belief, possible

    def of(self, rows: Integers) -> _Beliefs:
        """Return the beliefs about some of the rows."""
        place = np.full(len(self.rows), -1)
        place[np.searchsorted(self.rows, rows)] = np.arange(len(rows))
        kept = np.flatnonzero(place[self.whose] >= 0)
        return _Beliefs(rows, place[self.whose[kept]], self.value[kept], self.weight[kept])


def _possible(views: list[_View], rows: Integers) -> tuple[Integers, Integers, list[Integers]]:
    """Return all pairs of a row and a value that is in all its groups, and for each view the entry of the pair, or -1."""
    width = 1 + max(int(view.values.max(initial=0)) for view in views)
    placed = np.stack([view.groups_of(rows) for view in views])
    # pairs of the group with the fewest values; the others only take pairs away
    smallest = np.argmin(_value_counts(views, placed), axis=0)
    whose, value = [], []
    for number, view in enumerate(views):
        own = np.flatnonzero(smallest == number)
        at, which = view.entries(placed[number][own])
        whose.append(own[which])
        value.append(view.values[at])
    pairs = np.sort(np.concatenate(whose) * width + np.concatenate(value))
    whose_all, value_all = np.divmod(pairs, width)
    entries = []
    kept = np.ones(len(pairs), bool)
    for number, view in enumerate(views):
        groups = np.repeat(np.arange(len(view.sizes)), np.diff(view.starts))
        keys = groups * width + view.values
        order = np.argsort(keys, kind="stable")
        wanted = placed[number][whose_all] * width + value_all
        place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        there = placed[number][whose_all] >= 0
        found = there & (keys[order][place] == wanted)
        kept &= found | ~there
        entries.append(np.where(found, order[place], -1))
    return whose_all[kept], value_all[kept], [entry[kept] for entry in entries]


def _value_counts(views: list[_View], placed: Integers) -> Integers:
    """Return for each view and row the number of values of its group; a very large number where it has none."""
    none = np.iinfo(np.int32).max
    return np.stack(
        [np.where(groups >= 0, np.diff(view.starts)[groups], none) for view, groups in zip(views, placed, strict=True)]
    )


def _beliefs_of_all(views: list[_View]) -> _Beliefs | None:
    """Return beliefs about everybody in any of the releases, scaled to all of them; None if there would be too many."""
    rows = np.unique(np.concatenate([view.rows for view in views]))
    placed = np.stack([view.groups_of(rows) for view in views])
    if int(_value_counts(views, placed).min(axis=0).sum()) > _BELIEFS:
        return None
    whose, value, entries = _possible(views, rows)
    kept = _not_ruled_out(views, whose, entries, len(rows))
    whose, value, entries = whose[kept], value[kept], [entry[kept] for entry in entries]
    weight = np.ones(len(whose))
    for _ in range(_ROUNDS if len(whose) <= _MANY else _FEW_ROUNDS):
        for view, entry in zip(views, entries, strict=True):
            inside = np.flatnonzero(entry >= 0)
            total = np.bincount(entry[inside], weight[inside], minlength=len(view.counts))
            factor = view.counts / np.maximum(total, 1e-300)
            weight[inside] *= factor[entry[inside]]
            weight = _sum_to_one(weight, whose, len(rows))
    return _Beliefs(rows, whose, value, weight)


def _not_ruled_out(views: list[_View], whose: Integers, entries: list[Integers], count: int) -> NDArray[np.bool_]:
    """Return which pairs of a person and a value remain possible when the values of each group are counted."""
    kept = np.ones(len(whose), bool)
    while True:
        before = int(kept.sum())
        for view, entry in zip(views, entries, strict=True):
            only = kept & (np.bincount(whose[kept], minlength=count)[whose] == 1)
            taken = np.bincount(entry[only & (entry >= 0)], minlength=len(view.counts)) == view.counts
            kept &= only | (entry < 0) | ~taken[entry]
            needed = np.bincount(entry[kept & (entry >= 0)], minlength=len(view.counts)) == view.counts
            needed &= view.full
            forced = kept & (entry >= 0) & needed[entry]
            # of somebody who is needed for two values at once, the releases contradict each other, and nothing follows
            times = np.bincount(whose[forced], minlength=count)[whose]
            kept &= forced | (times != 1)
        if int(kept.sum()) == before:
            return kept


def _sum_to_one(weight: Floats, whose: Integers, count: int) -> Floats:
    return np.asarray(weight / np.maximum(np.bincount(whose, weight, minlength=count), 1e-300)[whose])


def _smallest_groups(views: list[_View], rows: Integers) -> _Beliefs:
    """Return beliefs about some rows alone: the share in the group with the fewest values, of values in all groups."""
    whose, value, entries = _possible(views, rows)
    smallest = np.argmin(_value_counts(views, np.stack([view.groups_of(rows) for view in views])), axis=0)[whose]
    weight = np.zeros(len(whose))
    for number, (view, entry) in enumerate(zip(views, entries, strict=True)):
        weight = np.where(smallest == number, view.counts[entry], weight)
    return _Beliefs(rows, whose, value, _sum_to_one(weight, whose, len(rows)))


def _single_releases(views: list[_View], rows: Integers) -> tuple[Integers, Integers]:
    """Return for each row the most frequent value of its group in the last release, and where its share is largest."""
    guess, share = np.full(len(rows), -1), np.zeros(len(rows))
    first: Integers | None = None
    for view in views:
        groups = np.repeat(np.arange(len(view.sizes)), np.diff(view.starts))
        order = np.lexsort((-view.values, view.counts, groups))
        top = order[view.starts[1:] - 1]
        group = view.groups_of(rows)
        inside = group >= 0
        own = np.where(inside, view.counts[top][group] / view.sizes[group], 0.0)
        better = own > share + 1e-12
        guess = np.where(better, view.values[top][group], guess)
        share = np.where(better, own, share)
        first = guess.copy() if first is None else first
    assert first is not None
    return first, guess
