"""Rotations over three groups: the arrays stay right, the cost falls, and a rotation is found where no swap helps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from search_cases import SearchCase
from sfumato.anonymization.methods import group_arrays as layout
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.anonymization.methods.search_state import SearchState
from sfumato.kernels.rotations import rotate_rows


@pytest.fixture(params=[0, 4], ids=["groups are not counted", "groups are counted"], autouse=True)
def counted(request, monkeypatch):
    """Small groups look at each row, large ones keep counts: both must be right."""
    monkeypatch.setattr(layout, "_TIMES_THE_ROOM", request.param)


@given(st.integers(0, 2**31), st.integers(4, 24), st.booleans(), st.integers(1, 3))
def test_passes_keep_the_arrays_up_to_date_and_lower_the_cost(seed, rows, with_condition, least):
    case, price, random = SearchCase(seed, rows, with_condition), 2.0, np.array([seed + 1], np.uint64)
    for _ in range(3):
        before, sizes = case.cost(price), case.arrays.size.copy()
        changes = rotate_rows(
            case.shares, case.limits, case.conditions, case.arrays, case.order, 8, rows, price, least, 2**60, random
        )
        case.check()
        assert (case.arrays.size >= np.minimum(sizes, least)).all()
        assert case.cost(price) < before if changes else case.cost(price) == before


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 2**31), st.integers(6, 12), st.booleans(), st.integers(1, 2))
def test_a_pass_without_a_rotation_leaves_no_cheapest_group_and_best_substitute_that_gain(seed, rows, with_condition, least):
    case, price, random = SearchCase(seed, rows, with_condition, groups=3), 2.0, np.array([seed + 1], np.uint64)
    changes = 1
    while changes:  # so many tries that a row meets every group
        changes = rotate_rows(
            case.shares, case.limits, case.conditions, case.arrays, case.order, 100, rows, price, least, 2**60, random
        )
    for a in np.flatnonzero(case.arrays.gain > 0):
        here = case.arrays.group[a]
        joining, replacing = _changes(case, a, price, least)
        joining = [(change, g) for change, g in joining if change < case.arrays.gain[a] * case.arrays.size[here]]
        replacing = [(change, g) for change, g in replacing if change < 0]
        # of equal changes either may have been chosen
        cheapest = {g for change, g in joining if change <= min(joining)[0] + 1e-9}
        best = {g for change, g in replacing if change <= min(replacing)[0] + 1e-9}
        if cheapest and best and cheapest.isdisjoint(best):
            assert min(joining)[0] + min(replacing)[0] >= -1e-6


def _changes(case, a, price, least):
    """Return what it costs a row to join each other group, and each row of those to take its place; with the group."""
    joining, replacing, mine = [], [], case.rows_of(case.arrays.group[a])
    for g in set(case.arrays.group.tolist()) - {case.arrays.group[a]}:
        theirs = case.rows_of(g)
        before = case.cost_of(theirs, price)
        if len(theirs) < case.arrays.room[g]:
            joining.append((case.cost_of(np.append(theirs, a), price) - before, g))
        for c in theirs if len(theirs) > least else []:
            after = case.cost_of(np.append(mine[mine != a], c), price) + case.cost_of(theirs[theirs != c], price)
            replacing.append((after - case.cost_of(mine, price) - before, g))
    return joining, replacing


def test_a_rotation_lowers_the_loss_where_no_swap_or_move_does():
    # the row of 60 belongs to the last group, whose rows all fit best where they are; only the second group can give a row
    ages = [30, 30, 60, 30, 30, 30, 30, 60, 60, 60]
    groups = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    table = sf.Table(pa.table({"age": ages}), sf.Schema(["age"]))
    state = SearchState(SearchProblem.of(sf.anonymization.Task(table, (sf.KAnonymity(3),))), 0)
    state.regroup(groups)
    for _ in range(10):
        state.new_order()
        state.exchange_pass(8, 10, 0.0, state.prohibitive)
    assert state.loss > 0
    for _ in range(10):
        state.rotate(8, 10, state.prohibitive)
    assert state.loss == 0
    assert sorted(state.arrays.size.tolist()) == [3, 3, 4]
