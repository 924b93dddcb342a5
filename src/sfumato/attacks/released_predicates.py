"""Predicates that a published table suggests to an attacker who wants to single out somebody, and who fulfils them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease, Secret, sampled
from sfumato.attacks.candidate_bits import Condition, Equality, ItemOwners, few_members, meetings
from sfumato.attacks.person_candidates import PersonCandidates
from sfumato.data.column import Column
from sfumato.data.groups import distinct_pairs, joint_ranks
from sfumato.data.schema import Kind

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_ORDERED = (Kind.NUMERIC, Kind.ORDINAL, Kind.DATE)
"""The kinds of columns whose values have an order that a predicate can use."""


@dataclass(frozen=True, eq=False)
class Family:
    """Predicates of one kind: how many people of the original fulfil each, and of which the attacker is certain.

    A person with several rows fulfils a predicate if one of them does.
    """

    about: str
    counts: Integers
    certain: Flags
    of: int
    """The number of predicates of this kind that can be stated, of which these are all or a sample."""
    labels: tuple[str, ...] = ()
    """What the predicates are about, if the family has several kinds, such as "lowest age"."""
    label: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    """For each predicate its position in `labels`."""

    def figures(self) -> dict[str, float]:
        """Return the share of each label's predicates that isolate somebody."""
        return {
            f"isolated by {text}": float((self.counts[self.label == number] == 1).mean())
            for number, text in enumerate(self.labels)
            if (self.label == number).any()
        }


@dataclass(frozen=True, eq=False)
class _Value:
    """A condition that is added to the cells of a group: for each group a key, or that it has none."""

    label: str
    family: str
    key: Integers
    stated: Flags
    people: Condition
    """The condition on people of the original, in the order of `PersonCandidates`."""
    groups: Condition
    """The condition on groups that a published row of theirs may fulfil it."""
    inside: Integers
    """How many rows of the group fulfil it, as far as the release shows."""


class CellPredicates:
    """Predicates with the cells of some groups, alone and with one more condition."""

    def __init__(self, release: AttackedRelease, groups: Integers) -> None:
        self.release, self.groups = release, groups
        self.people = PersonCandidates(release)
        sizes = release.groups.sizes[groups]
        always = Condition(np.zeros(self.people.population.rows, np.int64), np.equal)
        self.every_group = Condition(np.zeros(release.groups.count, np.int64), np.equal)
        none = np.zeros(len(groups), np.int64)
        self.values = [_Value("cells", "cells", none, sizes > 0, always, self.every_group, sizes), *self._ends()]
        for name in release.secrets:
            self.values += self._secret(release.secret(name))
        if len(release.unchanged) > 1:
            self.values.append(self._combination())

    def families(self) -> list[Family]:
        """Return the predicates, family by family."""
        counts, whose = [np.zeros(len(self.groups), np.int64) for _ in self.values], _whose(self.release)
        owners = None if whose is None else ItemOwners(whose[self.people.order])
        for part, bits in self.people.sets(self.groups):
            listed = few_members(bits)
            for count, value in zip(counts, self.values, strict=True):
                count[part] = value.people.among(bits, value.key[part], listed, owners)
        found: dict[str, list[tuple[_Value, Integers, Flags]]] = {}
        for value, count, certain in zip(self.values, counts, self._certain(), strict=True):
            found.setdefault(value.family, []).append((value, count, certain))
        share = self.release.groups.count / len(self.groups)
        families = []
        for about, parts in found.items():
            stated = [value.stated for value, _, _ in parts]
            labels = tuple(value.label for value, _, _ in parts) if len(parts) > 1 else ()
            families.append(
                Family(
                    about,
                    np.concatenate([count[own] for (_, count, _), own in zip(parts, stated, strict=True)]),
                    np.concatenate([certain[own] for (_, _, certain), own in zip(parts, stated, strict=True)]),
                    round(share * sum(int(own.sum()) for own in stated)),
                    labels,
                    np.concatenate([np.full(int(own.sum()), number) for number, own in enumerate(stated)]),
                )
            )
        return families

    def _certain(self) -> list[Flags]:
        """Return for each condition and group whether one published row fulfils the predicate and no other can."""
        release = self.release
        found = [np.zeros(len(self.groups), bool) for _ in self.values]
        alone = [value.stated & (value.inside == 1) for value in self.values]
        chosen = np.flatnonzero(np.logical_or.reduce(alone))
        conditions = [Condition(cells, release.quasi_identifier(name).overlap) for name, cells in release.cells.items()]
        keys = [cells[self.groups[chosen]] for cells in release.cells.values()]
        for part, bits in meetings(conditions, keys):
            own = chosen[part]
            for flags, value, lone in zip(found, self.values, alone, strict=True):
                if lone[own].any():
                    # the group itself is one of those whose cells share values with its cells
                    flags[own] = lone[own] & (value.groups.among(bits, value.key[own], None) == 1)
        return found

    def _ends(self) -> list[_Value]:
        """Return the lowest and the highest value of each cell of a quasi-identifier with an order."""
        found = []
        for name, cells in self.release.cells.items():
            column = self.people.population.column(name)
            if column.kind not in _ORDERED:
                continue
            own = cells[self.groups]
            for word, codes in zip(("lowest", "highest"), self.release.quasi_identifier(name).ends(), strict=True):
                equal = Equality(self.people.codes(name))
                family = "cells and an end of an interval"
                found.append(
                    _Value(
                        f"the {word} {name}",
                        family,
                        codes[own],
                        codes[own] != -1,
                        equal,
                        self.every_group,
                        # which rows of the group have it is not published
                        np.zeros(len(own), np.int64),
                    )
                )
        return found

    def _secret(self, secret: Secret) -> list[_Value]:
        """Return the rarest value of a sensitive attribute, and the lowest and the highest if it has an order."""
        h, groups = secret.histogram, self.groups
        least = np.minimum.reduceat(h.counts, h.starts)
        rarest = _first(h.group, h.values, h.counts == least[h.group], len(least))
        found = [
            _Value(
                f"the rarest {secret.name}",
                f"cells and the rarest value of {secret.name}",
                rarest[groups],
                np.ones(len(groups), bool),
                Equality(_true_codes(self.release, secret)[self.people.order]),
                Equality(h.values, h.group),
                least[groups],
            )
        ]
        if len(secret.attribute.columns) > 1:
            return found
        orders = value_orders(self.release, secret.attribute.columns[0].name)
        return found if orders is None else [*found, *self._extremes(secret, *orders)]

    def _extremes(self, secret: Secret, shown: Integers, true: Integers) -> list[_Value]:
        """Return the lowest and the highest value of each group; `shown`, `true`: places of values in their order."""
        h, groups = secret.histogram, self.groups
        place = shown[secret.attribute.parts[h.values, 0]]  # −1 if the value is missing
        high = np.maximum.reduceat(place, h.starts)
        low = np.minimum.reduceat(np.where(place < 0, len(shown) + len(true), place), h.starts)
        found = []
        for word, key, holds in (("lowest", low, _at_most), ("highest", high, _at_least)):
            inside = np.add.reduceat(np.where(place == key[h.group], h.counts, 0), h.starts)
            found.append(
                _Value(
                    f"the {word} {secret.name}",
                    f"cells and the lowest or highest {secret.name}",
                    key[groups],
                    high[groups] >= 0,
                    Condition(true[self.people.order], holds),
                    Condition(np.where(high < 0, -1, key), holds),
                    inside[groups],
                )
            )
        return found

    def _combination(self) -> _Value:
        """Return the rarest combination of the unchanged columns of each group."""
        release, groups = self.release, self.groups
        shown, true = combined_codes(release, release.unchanged)
        width = int(shown.max()) + 1
        pairs, counts = np.unique(release.groups.of_row * width + shown, return_counts=True)
        group, values = np.divmod(pairs, width)
        least = np.minimum.reduceat(counts, np.searchsorted(group, np.arange(release.groups.count)))
        rarest = _first(group, values, counts == least[group], len(least))
        about = "cells and the rarest combination of unchanged columns"
        everything = np.ones(len(groups), bool)
        everybody = Equality(true[self.people.order])
        return _Value(about, about, rarest[groups], everything, everybody, Equality(values, group), least[groups])


def value_families(release: AttackedRelease) -> list[Family]:
    """Return predicates without cells: values and combinations that are published once, and extreme values."""
    found, tries, whose = [], [], _whose(release)
    for name in release.unchanged:
        tries.append((f"a value of {name} that is published once", *_once(*combined_codes(release, (name,)), whose)))
        orders = value_orders(release, name)
        if orders is not None:
            tries.append((f"the lowest or highest {name}", *_ends_of_all(release, name, *orders)))
    if tries:
        about, total = "a value, without cells", sum(len(counts) for _, counts, _ in tries)
        chosen = [sampled(len(counts), release.sample) for _, counts, _ in tries]
        counts = np.concatenate([counts[own] for (_, counts, _), own in zip(tries, chosen, strict=True)])
        certain = np.concatenate([sure[own] for (_, _, sure), own in zip(tries, chosen, strict=True)])
        which = np.concatenate([np.full(len(own), number) for number, own in enumerate(chosen)])
        found.append(Family(about, counts, certain, total, tuple(label for label, _, _ in tries), which))
    if len(release.unchanged) > 1:
        counts, certain = _once(*combined_codes(release, release.unchanged), whose)
        own = sampled(len(counts), release.sample)
        about = "a combination of unchanged columns that is published once, without cells"
        found.append(Family(about, counts[own], certain[own], len(counts)))
    return found


def _whose(release: AttackedRelease) -> Integers | None:
    """Return whose row each row of the original is; None if people have one row each."""
    return None if release.several_rows is None else release.unit_of_row


def _once(shown: Integers, true: Integers, whose: Integers | None) -> tuple[Integers, Flags]:
    """Return how many people have each value that is published once; the attacker is certain of all."""
    codes = np.flatnonzero(np.bincount(shown) == 1)
    rows = np.flatnonzero(true >= 0)
    values = true[rows]
    if whose is not None:
        values, _ = distinct_pairs(values, int(values.max(initial=0)) + 1, whose[rows], int(whose.max()) + 1)
    return np.bincount(values, minlength=int(shown.max()) + 1)[codes], np.ones(len(codes), bool)


def _ends_of_all(release: AttackedRelease, name: str, shown: Integers, true: Integers) -> tuple[Integers, Flags]:
    """Return how many people have at most the lowest and at least the highest published value."""
    place = shown[release.published.column(name).codes]
    place = place[place >= 0]
    if not len(place):
        return np.zeros(0, np.int64), np.zeros(0, bool)
    low, high = place.min(), place.max()
    counts = np.array(
        [len(np.unique(release.unit_of_row[inside])) for inside in ((true >= 0) & (true <= low), true >= high)]
    )
    return counts, np.array([(place == low).sum() == 1, (place == high).sum() == 1])


def combined_codes(release: AttackedRelease, names: Sequence[str]) -> tuple[Integers, Integers]:
    """Return the combination of some unchanged columns of each published row, and of each person of the original.

    Published combinations are numbered from 0; −1: the person's combination is not published.
    """
    both = [np.concatenate([release.published.column(name).codes, release.unchanged_codes(name)]) + 1 for name in names]
    ranks = joint_ranks((codes, int(codes.max()) + 1) for codes in both)
    rows = release.published.rows
    shown = np.unique(ranks[:rows])
    number = np.full(int(ranks.max()) + 1, -1)
    number[shown] = np.arange(len(shown))
    return number[ranks[:rows]], number[ranks[rows:]]


def value_orders(release: AttackedRelease, name: str) -> tuple[Integers, Integers] | None:
    """Return the place in their common order of each published value of a column, and of each person's value.

    −1: the value is missing. None if the values have no order, or if not both tables have the same kind of values.
    """
    assert release.population is not None
    if name not in release.population.data.column_names:
        return None
    shown, true = release.published.column(name), release.population.column(name)
    if shown.kind is not true.kind or true.kind not in _ORDERED:
        return None
    if true.numbers is None or shown.numbers is None:  # the order was declared
        values: list[Any] = list(dict.fromkeys([*true.texts, *shown.texts]))
    else:
        values = sorted({_number(column, code) for column in (shown, true) for code in range(column.size)})
    place = {value: position for position, value in enumerate(values)}

    def places(column: Column) -> Integers:
        own = [place[_number(column, code)] for code in range(column.size)]
        return np.array([*own, -1], np.int64)

    return places(shown), places(true)[true.codes]


def _number(column: Column, code: int) -> Any:
    """Return a value that can be compared: an exact number, or the text of an ordinal column."""
    return column.texts[code] if column.numbers is None else column.numbers[code]


def _true_codes(release: AttackedRelease, secret: Secret) -> Integers:
    """Return everybody's value of a sensitive attribute as a published one; −1 if it is not published."""
    assert release.population is not None
    true = release.population.attribute(release.schema.components(secret.name), secret.name)
    number = {secret.attribute.value(value): value for value in range(len(secret.attribute))}
    return np.array([number.get(true.value(value), -1) for value in range(len(true))], np.int64)[true.codes]


def _first(group: Integers, values: Integers, chosen: Flags, groups: int) -> Integers:
    """Return the lowest of the chosen values of each group."""
    found = np.full(groups, np.iinfo(np.int64).max)
    np.minimum.at(found, group[chosen], values[chosen])
    return found


def _at_most(keys: Integers, labels: Integers) -> Flags:
    return np.asarray((labels >= 0) & (labels <= keys))


def _at_least(keys: Integers, labels: Integers) -> Flags:
    return np.asarray((labels >= 0) & (labels >= keys))
