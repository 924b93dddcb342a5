"""Swaps that would lower the loss: exactly those that a look at every pair of rows finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import cell_cost, unset
from naive_swaps import lowering_swaps
from search_cases import SearchCase
from sfumato.anonymization.methods import group_arrays as layout
from sfumato.kernels.swap_enumeration import find_swaps


@pytest.fixture(params=[0, 4], ids=["groups are not counted", "groups are counted"], autouse=True)
def counted(request, monkeypatch):
    monkeypatch.setattr(layout, "_TIMES_THE_ROOM", request.param)


def found_swaps(case, rows, window, partners=100, most=1000, stratum=None, room=4000):
    groups = len(case.arrays.size)
    position = unset(len(case.order), np.int64)
    position[case.order] = np.arange(len(case.order))
    one, other, saving = unset(room, np.int64), unset(room, np.int64), unset(room)
    stratum = np.zeros(groups, np.int64) if stratum is None else stratum
    count = find_swaps(
        case.shares, case.arrays, stratum, rows, case.order, position, window, partners, most,
        np.full(groups, -1, np.int64), one, other, saving,
    )  # fmt: skip
    return one[:count].tolist(), other[:count].tolist(), saving[:count].tolist()


def members(case):
    return [np.flatnonzero(case.arrays.group == g).tolist() for g in range(len(case.arrays.size))]


def naive_swaps_of(case):
    return lowering_swaps(members(case), lambda rows: cell_cost(case.domains, case.place[rows]))


@given(st.integers(0, 2**31), st.integers(2, 16))
def test_all_swaps_that_lower_the_loss_are_found(seed, rows):
    case = SearchCase(seed, rows, False)
    expected = naive_swaps_of(case)
    one, other, saving = found_swaps(case, np.arange(rows), rows)
    found = {(min(pair), max(pair)): gain for *pair, gain in zip(one, other, saving, strict=True)}
    assert found == pytest.approx(expected)
    assert len(one) == 2 * len(expected)  # each from both of its rows


@given(st.integers(0, 2**31), st.integers(6, 16))
def test_limits_leave_swaps_out(seed, rows):
    case = SearchCase(seed, rows, False)
    expected = naive_swaps_of(case)
    one, other, _ = found_swaps(case, np.array([0]), 2, most=3)
    assert set(one) <= {0}
    assert len(one) <= 3
    near = np.flatnonzero(case.order == 0)[0]
    groups = {int(case.arrays.group[row]) for row in case.order[max(0, near - 2) : near + 3]}
    assert all((min(pair), max(pair)) in expected for pair in zip(one, other, strict=True))
    assert all(int(case.arrays.group[row]) in groups for row in other)
    apart = np.arange(len(case.arrays.size))
    assert found_swaps(case, np.arange(rows), rows, stratum=apart)[0] == []
    assert len(found_swaps(case, np.arange(rows), rows, room=2)[0]) <= 2
