"""Which individuals are consistent with a row, against loops over all individuals and attributes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.dictionary_matching import (
    consistent_counts,
    consistent_individuals,
    consistent_lists,
    contains_sorted,
    owner_is_consistent,
    weight_without_attribute,
)

VALUES = 3
"""Distinct values of an attribute, on either side."""


class Case:
    """Random rows, a dictionary, and a relation between their values, as arrays and as a naive test."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        rows, people, m = random.integers(1, 5), random.integers(1, 7), random.integers(1, 4)
        self.related = random.random((m, VALUES, VALUES)) < random.choice([0.3, 0.7])
        self.rows = np.where(random.random((rows, m)) < 0.2, -1, random.integers(0, VALUES, (rows, m)))
        self.held = np.where(random.random((people, m)) < 0.2, -1, random.integers(0, VALUES, (people, m)))
        self.own = random.integers(-1, people, rows)
        self.weights = random.integers(0, 5, people).astype(float) if random.random() < 0.5 else np.zeros(0)
        shift = VALUES * np.arange(m)  # values are numbered over all attributes
        self.values = np.where(self.rows >= 0, self.rows + shift, -1).astype(np.int32)
        held = np.where(self.held >= 0, self.held + shift, -1).astype(np.int32)
        near = [np.flatnonzero(self.related[j, a]) + VALUES * j for j in range(m) for a in range(VALUES)]
        who = [np.flatnonzero(held[:, j] == VALUES * j + b) for j in range(m) for b in range(VALUES)]
        absent = [np.flatnonzero(held[:, j] < 0) for j in range(m)]

        def joined(lists):
            return np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(np.int32)

        self.index = (np.ascontiguousarray(held.T), *joined(near), *joined(who), *joined(absent))

    def misfits(self, i, v):
        """The disclosed attributes in which individual v is inconsistent with row i."""
        shown = [j for j, a in enumerate(self.rows[i]) if a >= 0 and self.held[v, j] >= 0]
        return [j for j in shown if not self.related[j, self.rows[i, j], self.held[v, j]]]

    def consistent(self, i, most):
        return [v for v in range(len(self.held)) if len(self.misfits(i, v)) <= most]

    def weight(self, v):
        return self.weights[v] if len(self.weights) else 1.0


@given(st.lists(st.integers(0, 9), max_size=6, unique=True), st.integers(0, 9))
def test_contains_sorted(numbers, other):
    near = np.array([-1, *sorted(numbers), 99])
    assert contains_sorted(near, 1, 1 + len(numbers), other) == (other in numbers)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2))
def test_consistent_individuals(seed, misfits):
    case = Case(seed)
    out, order = unset(2 * len(case.held), np.int64), unset(case.rows.shape[1], np.int64)
    counts, sums = unset(len(case.rows), np.int64), unset(len(case.rows))
    wanted = [case.consistent(i, misfits) for i in range(len(case.rows))]
    for i, who in enumerate(wanted):
        count = consistent_individuals(case.index, case.values[i], order, misfits, out)
        assert sorted(out[:count].tolist()) == who
    consistent_counts(case.index, case.values, case.weights, misfits, out, counts, sums)
    assert counts.tolist() == [len(who) for who in wanted]
    assert sums.tolist() == [sum(map(case.weight, who)) for who in wanted]
    starts = np.cumsum([0, *counts])
    lists = unset(starts[-1], np.int32)
    consistent_lists(case.index, case.values, misfits, starts, out, lists)
    assert lists.tolist() == [v for who in wanted for v in who]
    flags = unset(len(case.rows), bool)
    owner_is_consistent(case.index, case.values, case.own, misfits, flags)
    assert flags.tolist() == [own in who for own, who in zip(case.own.tolist(), wanted, strict=True)]


@given(st.integers(0, 2**32 - 1))
def test_weight_without_attribute(seed):
    """Only those who misfit in attribute j alone become consistent if it is not disclosed."""
    case = Case(seed)
    more = np.zeros(case.values.shape)
    out, misfit = unset((2, len(case.held)), np.int64)
    weight_without_attribute(case.index, case.values, case.weights, out, misfit, more)
    for i in range(len(case.rows)):
        for j in range(case.values.shape[1]):
            alone = [v for v in range(len(case.held)) if case.misfits(i, v) == [j]]
            assert more[i, j] == sum(map(case.weight, alone))
