"""Records and a dictionary as numbers: which individuals are consistent with which record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.sorted_join import blocks, counts_by_join, distinct_rows
from sfumato.kernels.dictionary_matching import (
    consistent_counts,
    consistent_individuals,
    consistent_lists,
    owner_is_consistent,
    weight_without_attribute,
)
from sfumato.summaries import short_repr

Rule = NDArray[np.bool_]
"""A disclosure rule on records: whether attribute j of record i is disclosed, as `rule[i, j]` (Lebanon et al. 2006,
Definition 1)."""

_MANY = 20_000_000
"""Individuals to look at, over all records, from which on records and dictionary are sorted and joined."""


@dataclass(frozen=True, eq=False)
class Matching:
    """Records and a dictionary over the same attributes, ready to be matched.

    ρ(y, θ) is the set of individuals who are consistent with a disclosed record: in every disclosed attribute the
    dictionary holds a value that is consistent with the record's, or none (Lebanon et al. 2006, Definition 6). With
    `misfits`, that many attributes may be inconsistent. A missing or withheld value of a record is consistent with
    everybody.

    >>> ages = Matching.of_codes(np.array([[30, 1], [41, -1]]), np.array([[30, 1], [30, -1], [41, 2]]))
    >>> ages.sizes(ages.everything).tolist(), ages.sizes(np.zeros((2, 2), bool)).tolist()
    ([2, 1], [3, 3])
    """

    values: NDArray[np.int32]
    """The value of attribute j of record i, numbered over all attributes; -1 where it is missing."""
    dictionary_values: NDArray[np.int32]
    """The value of attribute j of individual v, numbered apart from those of the records."""
    near_starts: NDArray[np.int64]
    near: NDArray[np.int32]
    """A record's value a is consistent with the dictionary's values `near[near_starts[a]:near_starts[a + 1]]`."""
    weights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """How strongly the attacker leans towards each individual; empty if towards all alike."""
    own: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """The individual that each record is of; -1 if the dictionary does not have it, or if it is not known."""

    misfits: int = 0
    """The number of disclosed attributes in which an individual may be inconsistent and still count as consistent."""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if not len(self.own):
            object.__setattr__(self, "own", np.full(len(self.values), -1, np.int64))

    @classmethod
    def of_codes(cls, values: NDArray[Any], dictionary_values: NDArray[Any], **more: Any) -> Matching:
        """Match by equality where both sides are coded alike, column by column; -1 is missing."""
        mine, theirs = np.full(values.shape, -1, np.int32), np.full(dictionary_values.shape, -1, np.int32)
        hits, near, base, other = [], [], 0, 0
        for j in range(values.shape[1]):
            here, there = values[:, j] >= 0, dictionary_values[:, j] >= 0
            ones, others = np.unique(values[here, j]), np.unique(dictionary_values[there, j])
            mine[here, j] = base + np.searchsorted(ones, values[here, j])
            theirs[there, j] = other + np.searchsorted(others, dictionary_values[there, j])
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
        return len(self.dictionary_values)

    @property
    def attributes(self) -> int:
        """The number of attributes."""
        return int(self.values.shape[1])

    @property
    def everything(self) -> Rule:
        """The rule that withholds nothing: every value that a record has is disclosed."""
        return np.asarray(self.values >= 0)

    @cached_property
    def index(self) -> tuple[NDArray[Any], ...]:
        """The dictionary as an inverted index, in the order that `kernels/dictionary_matching.py` documents."""
        flat = self.dictionary_values.ravel()
        present = flat >= 0
        top = int(max(self.dictionary_values.max(initial=-1), self.near.max(initial=-1))) + 1
        who = np.repeat(np.arange(self.individuals, dtype=np.int32), self.attributes)[present]
        who = who[np.argsort(flat[present], kind="stable")]
        who_starts = np.concatenate([[0], np.cumsum(np.bincount(flat[present], minlength=top))]).astype(np.int64)
        lists = [np.flatnonzero(self.dictionary_values[:, j] < 0).astype(np.int32) for j in range(self.attributes)]
        absent_starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        absent = np.concatenate(lists) if lists else np.zeros(0, np.int32)
        return (
            np.ascontiguousarray(self.dictionary_values.T),
            self.near_starts,
            self.near,
            who_starts,
            who,
            absent_starts,
            absent,
        )

    def among(self, individuals: NDArray[np.int64]) -> Matching:
        """Return the same records with a part of the dictionary: these individuals, each once, in this order.

        >>> ages = Matching.of_codes(np.array([[30], [41]]), np.array([[30], [30], [41]]), own=np.array([1, 2]))
        >>> fewer = ages.among(np.array([0, 2]))
        >>> fewer.sizes(fewer.everything).tolist(), fewer.own.tolist()
        ([1, 1], [-1, 1])
        """
        place = np.full(self.individuals + 1, -1, np.int64)  # the last entry maps -1, no individual, to itself
        place[individuals] = np.arange(len(individuals))
        weights = self.weights[individuals] if len(self.weights) else self.weights
        return replace(self, dictionary_values=self.dictionary_values[individuals], weights=weights, own=place[self.own])

    def only(self, records: NDArray[np.int64]) -> Matching:
        """Return some of the records, in this order, with the same dictionary."""
        return replace(self, values=self.values[records], own=self.own[records])

    @cached_property
    def reach(self) -> NDArray[np.int64]:
        """For each value of the records the number of individuals who are consistent with it alone."""
        _, near_starts, near, who_starts, _, absent_starts, _ = self.index
        attribute = np.zeros(len(near_starts) - 1, np.int64)
        for j in range(self.attributes):
            attribute[self.values[self.values[:, j] >= 0, j]] = j
        upto = np.concatenate([[0], np.cumsum(np.diff(who_starts)[near])])
        return np.asarray(upto[near_starts[1:]] - upto[near_starts[:-1]] + np.diff(absent_starts)[attribute])

    @property
    def _room(self) -> NDArray[np.int64]:
        """Scratch space for individuals, as kernels require it."""
        return np.empty(self.individuals * (2 if self.misfits else 1), np.int64)

    def sizes(self, rule: Rule) -> NDArray[np.int64]:
        """|ρ|: the number of individuals who are consistent with each record as it is disclosed."""
        return self.match(rule)[0]

    def match(
        self, rule: Rule, progress: Callable[[float], None] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return, for every record, |ρ|, the weight of ρ, and whether the record's own individual is in ρ.

        `progress` is called with the share of the work that is done.
        """
        shown = self._shown(rule)
        counts, sums = self._count(shown, progress)
        among = np.zeros(self.records, bool)
        owner_is_consistent(self.index, shown, self.own, self.misfits, among)
        return counts, sums, among

    def _count(
        self, shown: NDArray[np.int32], progress: Callable[[float], None] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return, for every disclosed row, the number of consistent individuals and their weight."""
        if not self.misfits and self._candidates(shown, 1) >= _MANY:
            return counts_by_join(self, shown, progress)
        distinct, of_record = distinct_rows(shown) if self.misfits else (shown, None)
        counts, sums = np.zeros(len(distinct), np.int64), np.zeros(len(distinct))
        for part, done in blocks(len(distinct)):
            consistent_counts(self.index, distinct[part], self.weights, self.misfits, self._room, counts[part], sums[part])
            if progress is not None:
                progress(done)
        return (counts, sums) if of_record is None else (counts[of_record], sums[of_record])

    def _shown(self, rule: Rule) -> NDArray[np.int32]:
        """The values that a rule discloses, but for attributes that the dictionary does not know: they exclude nobody."""
        return np.where(rule & self.known, self.values, np.int32(-1))

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """For each attribute whether the dictionary holds a value of anybody."""
        return np.asarray((self.dictionary_values >= 0).any(axis=0))

    def _candidates(self, shown: NDArray[np.int32], turns: int) -> int:
        """The individuals to look at if each row goes through those of its most selective attributes, that many."""
        reached = np.where(shown >= 0, np.append(self.reach, self.individuals)[shown], self.individuals)
        if self.attributes > turns:
            reached = np.partition(reached, turns - 1, axis=1)[:, :turns]
        return int(reached.sum())

    def outcomes_without(self, rule: Rule) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The chances of naming the right individual of record i, and another one, without its disclosed attribute j.

        Both are 0 if the attribute is not disclosed.

        >>> two = Matching.of_codes(np.array([[1, 5]]), np.array([[1, 5], [1, 6], [2, 5]]))
        >>> two.probabilities(two.everything).tolist(), two.outcomes_without(two.everything)[0].tolist()
        ([1.0], [[0.5, 0.5]])
        """
        shown = self._shown(rule)
        if self.misfits or self._candidates(shown, 2) >= _MANY:  # the kernel counts exact agreement only: measure each rule
            return self._each_rule_without(rule)
        more = np.zeros(shown.shape)
        out, misfit = np.empty((2, self.individuals), np.int64)
        weight_without_attribute(self.index, shown, self.weights, out, misfit, more)
        total = self._count(shown)[1][:, None] + more
        shown = np.where(rule, self.values, np.int32(-1))
        mine = np.ones(shown.shape)
        if len(self.weights):
            for j in range(self.attributes):
                among, rest = np.zeros(self.records, bool), shown.copy()
                rest[:, j] = -1
                owner_is_consistent(self.index, rest, self.own, 0, among)
                mine[:, j] = np.where(among, self.weights[self.own], 0.0)
        named = (total > 0) & (shown >= 0)
        right = np.divide(mine, total, out=np.zeros(shown.shape), where=named)
        return right, np.where(named, 1 - right, 0.0)

    def _each_rule_without(self, rule: Rule) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The chances without each attribute; only attributes that the dictionary knows make a difference."""
        right, wrong = (np.repeat(chances[:, None], self.attributes, axis=1) for chances in self.outcomes(rule)[1:])
        for j in np.flatnonzero(self.known & (rule & self.everything).any(axis=0)):
            _, right[:, j], wrong[:, j] = self.outcomes(rule & (np.arange(self.attributes) != j))
        shown = rule & self.everything
        return np.where(shown, right, 0.0), np.where(shown, wrong, 0.0)

    def lists(self, rule: Rule, sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """ρ of every record, given the sizes: that of record i is `individuals[starts[i]:starts[i + 1]]`, ascending."""
        starts = np.concatenate([[0], np.cumsum(sizes)])
        individuals = np.empty(int(starts[-1]), np.int32)
        shown = self._shown(rule)
        consistent_lists(self.index, shown, self.misfits, starts, self._room, individuals)
        return starts, individuals

    def individuals_of(self, record: int, rule: Rule) -> NDArray[np.int64]:
        """ρ of one record, ascending."""
        out = self._room
        shown = np.where(rule[record] & self.known, self.values[record], np.int32(-1))
        count = consistent_individuals(self.index, shown, np.empty(self.attributes, np.int64), self.misfits, out)
        return np.sort(out[:count])

    def probabilities(self, rule: Rule) -> NDArray[np.float64]:
        """The chance that the attacker picks the right individual, record by record.

        Without weights it is one over |ρ| (Lebanon et al. 2006, Definition 6), whether or not the record's own individual
        is in ρ, and 0 if ρ is empty. With weights it is the share of the record's own individual in the weight of ρ. It
        is 0 if that individual is not known, not in the dictionary or not consistent, since the attacker is then wrong
        for sure.
        """
        return self.outcomes(rule)[1]

    def outcomes(
        self, rule: Rule, progress: Callable[[float], None] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """|ρ|, and the chances that the attacker names the right individual, and another one, record by record.

        The two chances sum to 1 if the attacker names anybody: if ρ, or with weights its weight, is not 0. Otherwise both
        are 0.

        >>> ages = Matching.of_codes(np.array([[30], [50]]), np.array([[30], [30], [30], [41]]))
        >>> [each.round(3).tolist() for each in ages.outcomes(ages.everything)]
        [[3, 0], [0.333, 0.0], [0.667, 0.0]]
        """
        counts, sums, among = self.match(rule, progress)
        if not len(self.weights):
            right = np.where(counts > 0, 1 / np.maximum(counts, 1), 0.0)
            return counts, right, np.where(counts > 0, 1 - right, 0.0)
        mine = np.where(among, self.weights[self.own], 0.0)
        right = np.divide(mine, sums, out=np.zeros(len(sums)), where=sums > 0)
        return counts, right, np.where(sums > 0, 1 - right, 0.0)
