"""Groups that are dissolved: the arrays stay right, the cost falls, and rows return where they would cost more."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from kernel_inputs import unset
from search_cases import SearchCase
from sfumato.anonymization.methods import group_arrays as layout
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.anonymization.methods.search_state import SearchState
from sfumato.kernels.group_dissolution import dissolve_groups


@pytest.fixture(params=[0, 4], ids=["groups are not counted", "groups are counted"], autouse=True)
def counted(request, monkeypatch):
    """Small groups look at each row, large ones keep counts: both must be right."""
    monkeypatch.setattr(layout, "_TIMES_THE_ROOM", request.param)


@given(st.integers(0, 2**31), st.integers(4, 24), st.booleans(), st.integers(1, 24))
def test_passes_keep_the_arrays_up_to_date_and_lower_the_cost(seed, rows, with_condition, largest):
    case, price, random = SearchCase(seed, rows, with_condition), 2.0, np.array([seed + 1], np.uint64)
    for _ in range(3):
        before, sizes, groups = case.cost(price), case.arrays.size.copy(), case.arrays.group.copy()
        order = np.unique(groups, return_index=True)[1]
        dissolved = dissolve_groups(
            case.shares, case.limits, case.conditions, case.arrays, order, 8, rows, price, 2**60,
            unset(largest, np.int64), unset(largest), random,
        )  # fmt: skip
        case.check()
        left = (sizes > 0) & (case.arrays.size == 0)
        assert left.sum() == dissolved
        assert (sizes[left] <= largest).all()
        # the rows of other groups stay where they are, unless their group was dissolved before
        assert left[groups[case.arrays.group != groups]].all()
        assert case.cost(price) < before if dissolved else case.cost(price) == pytest.approx(before)


def _state(ages, groups, least):
    table = sf.Table(pa.table({"age": ages}), sf.Schema(["age"]))
    state = SearchState(SearchProblem.of(sf.anonymization.Task(table, (sf.KAnonymity(least),))), 0)
    state.regroup(np.array(groups))
    return state


def test_a_group_is_dissolved_where_no_exchange_lowers_the_loss():
    # the last group can give no row away, and each of its rows belongs to another group
    state = _state([30] * 3 + [60] * 3 + [30, 30, 60], [0] * 3 + [1] * 3 + [2] * 3, 3)
    for _ in range(10):
        state.new_order()
        state.exchange_pass(8, 10, 0.0, state.prohibitive)
    assert state.loss > 0
    assert sum(state.dissolve(8, 10, state.prohibitive) for _ in range(10)) == 1
    assert state.loss == 0
    assert sorted(state.arrays.size.tolist()) == [4, 5]
    assert set(state.labels.tolist()) == {0, 1}, "the groups are numbered without gaps"


def test_a_group_stays_where_one_row_costs_more_elsewhere():
    # the row of 90 would cost ten rows half of the span; here it costs three rows the whole span
    groups = [0] * 6 + [1] * 9 + [2] * 3
    state = _state([30] * 6 + [60] * 9 + [30, 30, 90], groups, 3)
    before = state.loss
    assert sum(state.dissolve(8, 10, state.prohibitive) for _ in range(10)) == 0
    assert state.loss == before
    assert state.labels.tolist() == groups


@pytest.mark.parametrize(("before", "after", "dissolved"), [(5, 5, 1), (6, 5, 0), (5, 6, 0)])
def test_groups_are_tried_up_to_the_window_on_either_side(before, after, dissolved):
    """One group has rows that belong to two others, one on either side in the order; the groups between are far off."""
    far = [[200 + 2 * i] * 3 for i in range(10)]
    groups = [[30] * 3, *far[: before - 1], [30, 30, 60], *far[10 - after + 1 :], [60] * 3]
    labels = [number for number, group in enumerate(groups) for _ in group]
    state = _state([age for group in groups for age in group], labels, 3)
    order = np.arange(0, 3 * len(groups), 3)
    tries = 500  # nothing is missed by chance
    assert dissolved == dissolve_groups(
        state.shares, state.neighbour_limits, state.conditions, state.arrays, order, tries, 5, state.prohibitive, 2**60,
        unset(3, np.int64), unset(3), state.random,
    )  # fmt: skip
    assert state.labels[3 * before : 3 * before + 3].tolist() == ([0, 0, before + after] if dissolved else [before] * 3)
