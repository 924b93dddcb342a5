"""New cuts of pairs of groups: the arrays stay right, no cost rises, and no better cut along one attribute is missed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import cell_cost, unset
from search_cases import SearchCase
from sfumato.anonymization.methods import group_arrays as layout
from sfumato.kernels.pair_cuts import cut_pairs, sample_members

PRICE = 2.0


@pytest.fixture(params=[0, 4], ids=["groups are not counted", "groups are counted"], autouse=True)
def counted(request, monkeypatch):
    """Small groups look at each row, large ones keep counts: both must be right."""
    monkeypatch.setattr(layout, "_TIMES_THE_ROOM", request.param)


def cost_of(case, rows):
    return cell_cost(case.domains, case.place[rows]) * len(rows) + PRICE * case.excess(rows)


def scratch(most):
    """Return the scratch of `cut_pairs` for pairs of up to this many rows."""
    return unset((3, most), np.int64), unset(most + 1)


def cheapest_cut(case, one, other, least):
    """Return the least cost of a cut of two groups between two places of an attribute; only parts that have room."""
    rows = np.flatnonzero((case.arrays.group == one) | (case.arrays.group == other))
    costs = [np.inf]
    for j in range(case.place.shape[1]):
        for p in np.unique(case.place[rows, j])[:-1]:
            below = case.place[rows, j] <= p
            parts = rows[below], rows[~below]
            fits = len(parts[0]) <= case.arrays.room[one] and len(parts[1]) <= case.arrays.room[other]
            if fits and min(map(len, parts)) >= least:
                costs.append(sum(cost_of(case, part) for part in parts))
    return min(costs)


@given(st.integers(0, 2**31), st.integers(4, 20), st.booleans(), st.integers(1, 3))
def test_no_better_cut_of_two_groups_is_missed(seed, rows, with_condition, least):
    case = SearchCase(seed, rows, with_condition)
    random = np.array([seed + 1], np.uint64)
    for one, other in itertools.combinations(range(len(case.arrays.size)), 2):
        before, best = case.cost(PRICE), cheapest_cut(case, one, other, least)
        pair = sum(cost_of(case, np.flatnonzero(case.arrays.group == g)) for g in (one, other))
        order = sample_members(case.arrays.first, case.arrays.size, case.arrays.member, random)[[one, other]]
        assert case.arrays.group[order].tolist() == [one, other]
        changes = cut_pairs(case.shares, case.limits, case.conditions, case.arrays, order, 1, PRICE, least, *scratch(rows))
        case.check()
        assert (case.arrays.size <= case.arrays.room).all()
        assert case.cost(PRICE) < before if changes else case.cost(PRICE) == before
        assert case.cost(PRICE) - before <= min(0.0, best - pair) + 1e-6


@given(st.integers(0, 2**31), st.integers(4, 20), st.booleans())
def test_large_pairs_are_left_as_they_are(seed, rows, with_condition):
    case = SearchCase(seed, rows, with_condition)
    labels = case.arrays.group.copy()
    order = sample_members(case.arrays.first, case.arrays.size, case.arrays.member, np.array([seed + 1], np.uint64))
    cut_pairs(case.shares, case.limits, case.conditions, case.arrays, order, rows, PRICE, 1, *scratch(1))
    assert (case.arrays.group == labels).all()
