"""Records beside a dictionary, as numbers: which individuals are consistent with which record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.dictionary_matching import (
    consistent_counts,
    consistent_lists,
    consistent_with,
    counts_without,
    own_among,
)

Rule = NDArray[np.bool_]
"""A disclosure rule on records: whether attribute j of record i is disclosed, as `rule[i, j]` (paper 002, Definition 1)."""

_MANY = 20_000_000
"""Individuals to look at, over all records, from which on it pays to find the records of which the same is disclosed."""


@dataclass(frozen=True, eq=False)
class Matching:
    """Records and a dictionary over the same attributes, ready to be matched.

    ρ(y, θ), the individuals who are consistent with a record as it is disclosed, are those who in every disclosed attribute
    have a value that is consistent with the record's, or none (paper 002, Definition 6); or in all but `misfits` of them.
    Missing and withheld values of a record are consistent with anybody.

    >>> ages = Matching.of_codes(np.array([[30, 1], [41, -1]]), np.array([[30, 1], [30, -1], [41, 2]]))
    >>> ages.sizes(ages.everything).tolist(), ages.sizes(np.zeros((2, 2), bool)).tolist()
    ([2, 1], [3, 3])
    """

    values: NDArray[np.int32]
    """What record i has of attribute j, as a number that is unique over all attributes; -1 where it is missing."""
    held: NDArray[np.int32]
    """What individual v has of attribute j, likewise numbered, apart from those of the records."""
    near_starts: NDArray[np.int64]
    near: NDArray[np.int32]
    """The dictionary's values that a record's value a is consistent with: `near[near_starts[a]:near_starts[a + 1]]`."""
    weights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """How much the attacker leans to each individual; empty if to all alike."""
    own: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """For each record the individual whose it is; -1 where the dictionary does not have them, or nobody knows."""

    misfits: int = 0
    """In how many of the attributes that are disclosed an individual may misfit, and still be consistent."""

    def __post_init__(self) -> None:
        if not len(self.own):
            object.__setattr__(self, "own", np.full(len(self.values), -1, np.int64))

    @classmethod
    def of_codes(cls, values: NDArray[Any], held: NDArray[Any], **more: Any) -> Matching:
        """Match by equality where both sides are coded alike, column by column; -1 is missing."""
        mine, theirs = np.full(values.shape, -1, np.int32), np.full(held.shape, -1, np.int32)
        hits, near, base, other = [], [], 0, 0
        for j in range(values.shape[1]):
            here, there = values[:, j] >= 0, held[:, j] >= 0
            ones, others = np.unique(values[here, j]), np.unique(held[there, j])
            mine[here, j] = base + np.searchsorted(ones, values[here, j])
            theirs[there, j] = other + np.searchsorted(others, held[there, j])
            found = np.isin(ones, others)
            hits.append(found)
            near.append((other + np.searchsorted(others, ones[found])).astype(np.int32))
            base, other = base + len(ones), other + len(others)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(hits))]).astype(np.int64)
        return cls(mine, theirs, starts, np.concatenate(near), **more)

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.values)

    @property
    def individuals(self) -> int:
        """The number of individuals in the dictionary."""
        return len(self.held)

    @property
    def attributes(self) -> int:
        """The number of attributes."""
        return int(self.values.shape[1])

    @property
    def everything(self) -> Rule:
        """The rule that withholds nothing: every value that a record has is disclosed."""
        return np.asarray(self.values >= 0)

    @cached_property
    def known(self) -> tuple[NDArray[Any], ...]:
        """The dictionary as kernels take it, with the individuals who have each value, and those who have none."""
        flat = self.held.ravel()
        present = flat >= 0
        top = int(max(self.held.max(initial=-1), self.near.max(initial=-1))) + 1
        who = np.repeat(np.arange(self.individuals, dtype=np.int32), self.attributes)[present]
        who = who[np.argsort(flat[present], kind="stable")]
        who_starts = np.concatenate([[0], np.cumsum(np.bincount(flat[present], minlength=top))]).astype(np.int64)
        lists = [np.flatnonzero(self.held[:, j] < 0).astype(np.int32) for j in range(self.attributes)]
        absent_starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        absent = np.concatenate(lists) if lists else np.zeros(0, np.int32)
        return np.ascontiguousarray(self.held.T), self.near_starts, self.near, who_starts, who, absent_starts, absent

    def among(self, individuals: NDArray[np.int64]) -> Matching:
        """The same records beside a part of the dictionary: these individuals, each once, in this order.

        >>> ages = Matching.of_codes(np.array([[30], [41]]), np.array([[30], [30], [41]]), own=np.array([1, 2]))
        >>> fewer = ages.among(np.array([0, 2]))
        >>> fewer.sizes(fewer.everything).tolist(), fewer.own.tolist()
        ([1, 1], [-1, 1])
        """
        place = np.full(self.individuals + 1, -1, np.int64)  # one more, for those who are nobody's: -1
        place[individuals] = np.arange(len(individuals))
        weights = self.weights[individuals] if len(self.weights) else self.weights
        return replace(self, held=self.held[individuals], weights=weights, own=place[self.own])

    def only(self, records: NDArray[np.int64]) -> Matching:
        """Some of the records, in this order, beside the same dictionary."""
        return replace(self, values=self.values[records], own=self.own[records])

    @cached_property
    def reach(self) -> NDArray[np.int64]:
        """For each of the records' values how many individuals are consistent with it alone."""
        _, near_starts, near, who_starts, _, absent_starts, _ = self.known
        attribute = np.zeros(len(near_starts) - 1, np.int64)
        for j in range(self.attributes):
            attribute[self.values[self.values[:, j] >= 0, j]] = j
        upto = np.concatenate([[0], np.cumsum(np.diff(who_starts)[near])])
        return np.asarray(upto[near_starts[1:]] - upto[near_starts[:-1]] + np.diff(absent_starts)[attribute])

    @property
    def _room(self) -> NDArray[np.int64]:
        """Room for individuals, as kernels ask for it."""
        return np.empty(self.individuals * (2 if self.misfits else 1), np.int64)

    def sizes(self, rule: Rule) -> NDArray[np.int64]:
        """|ρ|: for every record how many individuals are consistent with what is disclosed of it."""
        return self.match(rule)[0]

    def match(self, rule: Rule) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
        """For every record: |ρ|, the weight of ρ, and whether the record's own individual is in ρ."""
        distinct, of_record = self._once(rule)
        counts, sums = np.zeros(len(distinct), np.int64), np.zeros(len(distinct))
        among = np.zeros(self.records, bool)
        consistent_counts(self.known, distinct, self.weights, self.misfits, self._room, counts, sums)
        own_among(self.known, distinct[of_record], self.own, self.misfits, among)
        return counts[of_record], sums[of_record], among

    def probabilities_without(self, rule: Rule) -> NDArray[np.float64]:
        """The chance of identification of record i if attribute j, which it discloses, were withheld; 0 if it does not.

        >>> two = Matching.of_codes(np.array([[1, 5]]), np.array([[1, 5], [1, 6], [2, 5]]))
        >>> two.probabilities(two.everything).tolist(), two.probabilities_without(two.everything).tolist()
        ([1.0], [[0.5, 0.5]])
        """
        if self.misfits:  # each is measured anew
            without = [self.probabilities(rule & (np.arange(self.attributes) != j)) for j in range(self.attributes)]
            return np.asarray(np.where(rule & self.everything, np.array(without).T, 0.0))
        distinct, of_record = self._once(rule)
        shown = distinct[of_record]
        more = np.zeros(distinct.shape)
        out, misfit = np.empty((2, self.individuals), np.int64)
        counts_without(self.known, distinct, self.weights, out, misfit, more)
        total = self.match(rule)[1][:, None] + more[of_record]
        mine = np.ones(shown.shape)
        if len(self.weights):
            for j in range(self.attributes):
                among, rest = np.zeros(self.records, bool), shown.copy()
                rest[:, j] = -1
                own_among(self.known, rest, self.own, 0, among)
                mine[:, j] = np.where(among, self.weights[self.own], 0.0)
        return np.divide(mine, total, out=np.zeros(shown.shape), where=(total > 0) & (shown >= 0))

    def _once(self, rule: Rule) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """What is disclosed of the records, and for each which row of that is its own.

        Where many individuals are to be looked at, records of which the same is disclosed share a row.
        """
        shown = np.where(rule, self.values, np.int32(-1))
        if self.misfits:
            once, back = np.unique(shown, axis=0, return_inverse=True)
            return np.ascontiguousarray(once), back.reshape(-1)
        reached = np.where(shown >= 0, np.append(self.reach, self.individuals)[shown], self.individuals)
        if reached.min(axis=1, initial=self.individuals).sum() < _MANY:
            return shown, np.arange(self.records)
        once, back = np.unique(shown, axis=0, return_inverse=True)
        return np.ascontiguousarray(once), back.reshape(-1)

    def lists(self, rule: Rule, sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """ρ of every record, given their sizes: that of record i is `individuals[starts[i]:starts[i + 1]]`, ascending."""
        starts = np.concatenate([[0], np.cumsum(sizes)])
        individuals = np.empty(int(starts[-1]), np.int32)
        shown = np.where(rule, self.values, np.int32(-1))
        consistent_lists(self.known, shown, self.misfits, starts, self._room, individuals)
        return starts, individuals

    def consistent(self, record: int, rule: Rule) -> NDArray[np.int64]:
        """ρ: the individuals who are consistent with one record."""
        out = self._room
        shown = np.where(rule[record], self.values[record], np.int32(-1))
        count = consistent_with(self.known, shown, np.empty(self.attributes, np.int64), self.misfits, out)
        return np.sort(out[:count])

    def probabilities(self, rule: Rule) -> NDArray[np.float64]:
        """The chance that the attacker picks the right individual, record by record.

        One over |ρ| if he picks any of them alike (paper 002, Definition 6), whether or not the record's own individual is
        among them, and 0 if ρ is empty. With weights, the share that the record's own individual has in the weight of ρ: it
        is 0 if that individual is not known, not in the dictionary or not consistent, since then he is wrong for sure.
        """
        return self.sizes_and_probabilities(rule)[1]

    def sizes_and_probabilities(self, rule: Rule) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """|ρ| and the chance that the attacker picks the right individual, record by record."""
        counts, sums, among = self.match(rule)
        if not len(self.weights):
            return counts, np.where(counts > 0, 1 / np.maximum(counts, 1), 0.0)
        mine = np.where(among, self.weights[self.own], 0.0)
        return counts, np.divide(mine, sums, out=np.zeros(len(sums)), where=sums > 0)
