"""What Theorem 2 of Fang, Ashrafi & Ng (2011) omits: an attacker who knows how attributes depend combines their tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.projected.attacker_view import AttackerView, view_attributes
from sfumato.attacks.projected.confidence import Confidence, ConfidenceGain, confidence_of_parts
from sfumato.data.attribute import Attribute
from sfumato.data.table import Table
from sfumato.exact.shown_levels import level_shown

_MAX_CELLS = 4_000_000
"""The largest joint distribution of two attributes that is held in memory; larger pairs are skipped and reported."""
_MAX_STEPS = 20_000_000_000
"""The largest number of multiplications for one pair of attributes; larger pairs are skipped and reported."""
_MAX_SHARES = 4_000_000
"""The number of shares (pairs of groups times values) that is held in memory at a time."""


@dataclass(frozen=True)
class Inference(ConfidenceGain):
    """What an attribute of another table reveals about an attribute, through their dependence."""

    target: str
    table: int
    """The projected table of the target, from 0."""
    helper: str
    helper_table: int
    people: int
    """The number of rows in both tables."""
    before: Confidence
    """The confidence from the target's table alone."""
    after: Confidence
    """The confidence from both tables."""
    truth_before: Fraction
    """The mean probability that the attacker assigns to the true value, before."""
    truth: float
    """The same after: if it does not rise with the confidence, the attacker is misled rather than informed."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "target": self.target,
            "table": self.table,
            "helper": self.helper,
            "helper_table": self.helper_table,
            "people": self.people,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "gain": {"mean": float(self.mean_gain), "newly_certain": self.newly_certain},
            "truth": {"before": float(self.truth_before), "after": self.truth},
        }

    def __repr__(self) -> str:
        return (
            f"{self.helper} of table {self.helper_table + 1} reveals {self.target} of table {self.table + 1}: "
            f"{float(self.before.mean):.4f} to {self.after.mean:.4f} on average, "
            f"at most {level_shown(self.before.largest)} to {level_shown(self.after.largest)}, "
            f"certain of {self.before.certain:,} to {self.after.certain:,} of {self.people:,}"
        )


@dataclass(frozen=True)
class SkippedPair:
    """A pair of attributes that was not combined, and why."""

    attributes: tuple[str, str]
    reason: str


def infer_pairs(table: Table, views: Sequence[AttackerView]) -> Iterator[Inference | SkippedPair]:
    """Yield for each pair of attributes in different tables what each reveals about the other, or why it was skipped."""
    by_name = view_attributes(table, views)
    for (u, one), (w, other) in combinations(enumerate(views), 2):
        rows = np.flatnonzero((one.of_row >= 0) & (other.of_row >= 0))
        if not len(rows):
            continue
        pair_of_views = _ViewPair((one, other), rows)
        for first, second in product(one.attributes, other.attributes):
            attributes = by_name[first], by_name[second]
            reason = pair_of_views.too_large(*attributes)
            if reason is not None:
                yield SkippedPair((first, second), reason)
                continue
            for target, (before, after, truth_before, truth) in enumerate(pair_of_views.combine(*attributes)):
                names = (first, u), (second, w)
                yield Inference(*names[target], *names[1 - target], len(rows), before, after, truth_before, truth)


class _ViewPair:
    """The people of two projected tables by their pair of groups; each distinct pair is computed once."""

    def __init__(self, views: tuple[AttackerView, AttackerView], rows: NDArray[np.int64]) -> None:
        self.views = views
        self.rows = rows
        """The rows in both tables; "person" below means a position in this array."""
        self.groups = []
        """For each of the two tables, the group of each person."""
        for view in views:
            group_of_row = np.zeros(len(view.of_row), np.int64)
            group_of_row[view.rows] = view.groups
            self.groups.append(group_of_row[rows])
        second_count = len(views[1].sizes)
        pairs, self.pair_of_person, self.people = np.unique(
            self.groups[0] * second_count + self.groups[1], return_inverse=True, return_counts=True
        )
        # people[p]: the number of people in pair p; pairs[t][p]: the group of pair p in table t
        self.pairs = np.divmod(pairs, second_count)

    def too_large(self, first: Attribute, second: Attribute) -> str | None:
        """Return why two attributes are not combined, if they have too many values."""
        cells, steps = len(first) * len(second), len(self.people) * len(first) * len(second)
        shares = max(len(view.sizes) * len(each) for view, each in zip(self.views, (first, second), strict=True))
        if cells <= _MAX_CELLS and steps <= _MAX_STEPS and shares <= 10 * _MAX_SHARES:
            return None
        return (
            f"{len(first):,} by {len(second):,} values in {len(self.people):,} pairs of groups exceed the limit; "
            "bin the values, and run the attack again"
        )

    def combine(self, *attributes: Attribute) -> Iterator[tuple[Confidence, Confidence, Fraction, float]]:
        """Yield for each of the two attributes: confidence before and after, probability of the truth before and after."""
        counts = [
            count_values(view.groups, attribute.codes[view.rows], len(view.sizes), len(attribute))
            for view, attribute in zip(self.views, attributes, strict=True)
        ]
        codes = [attribute.codes[self.rows] for attribute in attributes]
        largest, certain, truth = self._posteriors(attributes, counts, codes)
        for which, view in enumerate(self.views):
            groups = self.groups[which]
            people = np.bincount(groups, minlength=len(view.sizes))
            most = counts[which].max(axis=1)
            # A single possible value has probability 1; the float of the division may be slightly less.
            confidence = np.where(certain[which], 1.0, largest[which])
            true_counts = counts[which][groups, codes[which]]
            yield (
                confidence_before(most, view.sizes, people),
                Confidence(
                    float(confidence.max()),
                    float(confidence @ self.people) / len(self.rows),
                    int(self.people[certain[which]].sum()),
                ),
                mean_share(true_counts, view.sizes[groups]),
                float(truth[which].mean()),
            )

    def _posteriors(
        self, attributes: Sequence[Attribute], counts: Sequence[NDArray[np.int64]], codes: Sequence[NDArray[np.int64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
        """Return the attacker's posterior from both tables, for each of the two attributes along the first axis.

        The largest probability and whether only one value is possible, for each pair of groups; and the probability of the
        true value, for each person.
        """
        shares = [count / view.sizes[:, None] for count, view in zip(counts, self.views, strict=True)]
        lift = _lift(*attributes)
        largest, certain = np.zeros((2, len(self.people))), np.zeros((2, len(self.people)), bool)
        truth = np.zeros((2, len(self.rows)))
        by_pair = np.argsort(self.pair_of_person, kind="stable")
        ends = np.cumsum(self.people)  # people of pair p: by_pair[ends[p - 1]:ends[p]]
        # Chunks of pairs of groups bound the memory; results are written into the arrays allocated above.
        step = max(1, _MAX_SHARES // sum(map(len, attributes)))
        for start in range(0, len(self.people), step):
            chunk = slice(start, start + step)
            a, b = shares[0][self.pairs[0][chunk]], shares[1][self.pairs[1][chunk]]
            # P(a, b) ∝ share(a)·share(b)·lift(a, b), summed over the values of the other attribute
            mass = a * (b @ lift.T), b * (a @ lift)
            total = mass[0].sum(axis=1)  # the same for both; positive, because the true pair of values has a positive mass
            persons = by_pair[(ends[start - 1] if start else 0) : ends[min(start + step, len(ends)) - 1]]
            for which, each in enumerate(mass):
                posterior = each / total[:, None]
                largest[which, chunk] = posterior.max(axis=1)
                certain[which, chunk] = (each > 0).sum(axis=1) == 1
                truth[which, persons] = posterior[self.pair_of_person[persons] - start, codes[which][persons]]
        return largest, certain, truth


def count_values(
    groups: NDArray[np.int32] | NDArray[np.int64], codes: NDArray[np.int64], group_count: int, domain: int
) -> NDArray[np.int64]:
    """Return how often each value occurs in each group, as a matrix of groups by values."""
    keys = groups.astype(np.int64) * domain + codes
    return np.bincount(keys, minlength=group_count * domain).reshape(group_count, domain)


def _lift(first: Attribute, second: Attribute) -> NDArray[np.float64]:
    """Return J(a,b) / (J(a)·J(b)) over the whole table: how much likelier two values are together than if independent."""
    joint = count_values(first.codes, second.codes, len(first), len(second))
    return joint * len(first.codes) / np.outer(first.counts, second.counts)


def confidence_before(most: NDArray[np.int64], sizes: NDArray[np.int64], people: NDArray[np.int64]) -> Confidence:
    """Return the confidence from one table alone; each group is weighted by its people in both tables."""
    occupied = people > 0
    return Confidence(
        confidence_of_parts(most[occupied], sizes[occupied]).largest,
        mean_share(np.repeat(most, people), np.repeat(sizes, people)),
        int(people[most == sizes].sum()),
    )


def mean_share(counts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Fraction:
    """Return the mean of shares, exactly: shares of the same size are added before the division."""
    distinct, index = np.unique(sizes, return_inverse=True)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, index, counts)
    total = sum((Fraction(int(count), int(size)) for count, size in zip(sums, distinct, strict=True)), Fraction(0))
    return total / len(counts)
