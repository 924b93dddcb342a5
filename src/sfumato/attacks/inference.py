"""What Theorem 2 of paper 004 misses: who knows how attributes depend on each other combines the tables they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import level_shown
from sfumato.attacks.attacker_view import AttackerView, secrets
from sfumato.attacks.confidence import Confidence, confidence_of
from sfumato.data.attribute import Attribute
from sfumato.data.table import Table

_CELLS = 4_000_000
"""The largest joint distribution of two attributes that is held; a larger one is left out, and that is told."""
_STEPS = 20_000_000_000
"""The most multiplications for one pair of attributes; where more are needed it is left out, and that is told."""
_AT_ONCE = 4_000_000
"""How many shares of pairs of groups are held at a time."""


@dataclass(frozen=True)
class Inference:
    """What an attribute of another table tells of one, by how the two depend."""

    target: str
    table: int
    """The projected table of the target, from 0."""
    helper: str
    helper_table: int
    people: int
    """Rows that both tables publish."""
    before: Confidence
    """Of who reads the target's table alone."""
    after: Confidence
    """Of who combines the two."""
    truth_before: Fraction
    """The share of belief that he puts in the person's true value, on average, before."""
    truth: float
    """And after: if this does not rise with the confidence, he is misled rather than informed."""

    @property
    def mean_gain(self) -> float:
        """The rise of the confidence, on average over people."""
        return float(self.after.mean) - float(self.before.mean)

    @property
    def newly_certain(self) -> int:
        """People of whom the target becomes certain by combining the two tables."""
        return self.after.certain - self.before.certain

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        return {
            "target": self.target,
            "table": self.table,
            "helper": self.helper,
            "helper_table": self.helper_table,
            "people": self.people,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "gain": {"mean": self.mean_gain, "newly_certain": self.newly_certain},
            "truth": {"before": float(self.truth_before), "after": self.truth},
        }

    def __repr__(self) -> str:
        return (
            f"{self.helper} of table {self.helper_table + 1} tells {self.target} of table {self.table + 1}: "
            f"{float(self.before.mean):.4f} to {self.after.mean:.4f} on average, "
            f"at most {level_shown(self.before.largest)} to {level_shown(self.after.largest)}, "
            f"certain of {self.before.certain:,} to {self.after.certain:,} of {self.people:,}"
        )


@dataclass(frozen=True)
class LeftOut:
    """A pair of attributes whose combination was not tried, and why."""

    attributes: tuple[str, str]
    why: str


def inferences(table: Table, seen: Sequence[AttackerView]) -> Iterator[Inference | LeftOut]:
    """For each two attributes in different tables what each tells of the other, or why it was not tried."""
    known = secrets(table, seen)
    for (u, one), (w, other) in combinations(enumerate(seen), 2):
        rows = np.flatnonzero((one.of_row >= 0) & (other.of_row >= 0))
        if not len(rows):
            continue
        both = _Both((one, other), rows)
        for first, second in product(one.attributes, other.attributes):
            attributes = known[first], known[second]
            why = both.too_much(*attributes)
            if why is not None:
                yield LeftOut((first, second), why)
                continue
            for target, (before, after, truth_before, truth) in enumerate(both.combined(*attributes)):
                names, places = ((first, u), (second, w)), (target, 1 - target)
                yield Inference(*names[places[0]], *names[places[1]], len(rows), before, after, truth_before, truth)


class _Both:
    """The people of two projected tables, by their pair of groups; each distinct pair is looked at once."""

    def __init__(self, seen: tuple[AttackerView, AttackerView], rows: NDArray[np.int64]) -> None:
        self.seen = seen
        self.rows = rows
        self.groups = []
        for each in seen:
            place = np.zeros(len(each.of_row), np.int64)
            place[each.rows] = each.groups
            self.groups.append(place[rows])
        many = len(seen[1].sizes)
        pairs, self.pair, self.people = np.unique(
            self.groups[0] * many + self.groups[1], return_inverse=True, return_counts=True
        )
        self.pairs = np.divmod(pairs, many)

    def too_much(self, one: Attribute, other: Attribute) -> str | None:
        """Why the two are not combined, if they have too many values for it."""
        cells, steps = len(one) * len(other), len(self.people) * len(one) * len(other)
        shares = max(len(each.sizes) * len(a) for each, a in zip(self.seen, (one, other), strict=True))
        if cells <= _CELLS and steps <= _STEPS and shares <= 10 * _AT_ONCE:
            return None
        return (
            f"{len(one):,} by {len(other):,} values in {len(self.people):,} pairs of groups are more than is tried; "
            "bin the values, and attack again"
        )

    def combined(self, *attributes: Attribute) -> Iterator[tuple[Confidence, Confidence, Fraction, float]]:
        """For each of the two attributes: before, after, the belief in the true value before, and after."""
        codes = [attribute.codes[self.rows] for attribute in attributes]
        counts = [
            _counts(each.groups, attribute.codes[each.rows], len(each.sizes), len(attribute))
            for each, attribute in zip(self.seen, attributes, strict=True)
        ]
        shares = [count / each.sizes[:, None] for count, each in zip(counts, self.seen, strict=True)]
        lift = _lift(*attributes)
        largest, certain = np.zeros((2, len(self.people))), np.zeros((2, len(self.people)), bool)
        truth = np.zeros((2, len(self.rows)))
        by_pair = np.argsort(self.pair, kind="stable")
        ends = np.cumsum(self.people)
        step = max(1, _AT_ONCE // sum(map(len, attributes)))
        for start in range(0, len(self.people), step):
            chunk = slice(start, start + step)
            a, b = shares[0][self.pairs[0][chunk]], shares[1][self.pairs[1][chunk]]
            joint = a * (b @ lift.T), b * (a @ lift)  # each summed over the other attribute
            total = joint[0].sum(axis=1)
            some = by_pair[(ends[start - 1] if start else 0) : ends[min(start + step, len(ends)) - 1]]
            for which, mass in enumerate(joint):
                belief = mass / total[:, None]
                largest[which, chunk] = belief.max(axis=1)
                certain[which, chunk] = (mass > 0).sum(axis=1) == 1
                truth[which, some] = belief[self.pair[some] - start, codes[which][some]]
        for which, each in enumerate(self.seen):
            groups = self.groups[which]
            people = np.bincount(groups, minlength=len(each.sizes))
            most = counts[which].max(axis=1)
            sure = np.where(certain[which], 1.0, largest[which])
            right = counts[which][groups, codes[which]]
            yield (
                _before(most, each.sizes, people),
                Confidence(
                    float(sure.max()),
                    float(sure @ self.people) / len(self.rows),
                    int(self.people[certain[which]].sum()),
                ),
                _mean_share(right, each.sizes[groups]),
                float(truth[which].mean()),
            )


def _counts(
    groups: NDArray[np.int32] | NDArray[np.int64], codes: NDArray[np.int64], many: int, domain: int
) -> NDArray[np.int64]:
    """How often each value occurs in each group."""
    keys = groups.astype(np.int64) * domain + codes
    return np.bincount(keys, minlength=many * domain).reshape(many, domain)


def _lift(one: Attribute, other: Attribute) -> NDArray[np.float64]:
    """J(a,b) / (J(a)·J(b)) over the whole table: how much likelier two values are together than apart; 0 for none."""
    joint = _counts(one.codes, other.codes, len(one), len(other))
    return joint * len(one.codes) / np.outer(one.counts, other.counts)


def _before(most: NDArray[np.int64], sizes: NDArray[np.int64], people: NDArray[np.int64]) -> Confidence:
    """Of people in some of the rows of groups: groups count as often as they have such people."""
    there = people > 0
    alone = confidence_of(most[there], sizes[there])
    return Confidence(
        alone.largest,
        _mean_share(np.repeat(most, people), np.repeat(sizes, people)),
        int(people[most == sizes].sum()),
    )


def _mean_share(counts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Fraction:
    """The mean of shares, exactly: those with one size are added before they are divided."""
    distinct, place = np.unique(sizes, return_inverse=True)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, place, counts)
    total = sum((Fraction(int(a), int(n)) for a, n in zip(sums, distinct, strict=True)), Fraction(0))
    return total / len(counts)
