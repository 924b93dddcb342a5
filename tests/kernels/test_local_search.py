"""The local search: after every pass its arrays describe the groups, and the cost that it lowers has fallen."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_cases import SearchCase
from sfumato.anonymization.methods import group_arrays as layout
from sfumato.kernels.local_search import PARTNERS, exchange_rows, open_rows

UNBOUNDED = 2**60


@pytest.fixture(params=[0, 4], ids=["groups are not counted", "groups are counted"], autouse=True)
def counted(request, monkeypatch):
    """Small groups look at each row, large ones keep counts: both must be right."""
    monkeypatch.setattr(layout, "_TIMES_THE_ROOM", request.param)


@pytest.mark.parametrize("heat", [0.0, 0.5])
@given(st.integers(0, 2**31), st.integers(4, 20), st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_passes_keep_the_arrays_up_to_date_and_lower_the_cost(heat, seed, rows, with_condition, focus, moves, neutral):
    case, price, random = SearchCase(seed, rows, with_condition), 2.0, np.array([seed + 1], np.uint64)
    for _ in range(3):
        before, smallest = case.cost(price), case.arrays.size.min()
        changes = exchange_rows(
            case.shares, case.limits, case.conditions, case.arrays, case.order, 4, rows, heat, price, 2, focus, moves,
            neutral, UNBOUNDED, random,
        )  # fmt: skip
        case.check()
        assert case.arrays.size.min() >= min(2, smallest)
        if heat == 0:
            assert case.cost(price) < before or not changes
            assert case.cost(price) <= before + 1e-9


@settings(max_examples=settings.default.max_examples // 3)
@given(st.integers(0, 2**31), st.integers(4, 8), st.booleans(), st.booleans())
def test_a_pass_without_a_change_leaves_no_swap_or_move_that_gains(seed, rows, with_condition, with_limit):
    case = SearchCase(seed, rows, with_condition, with_limit=with_limit)
    price, least, random = 2.0, 2, np.array([seed + 1], np.uint64)
    changes = 1
    while changes:  # so many tries that a row meets every group
        changes = exchange_rows(
            case.shares, case.limits, case.conditions, case.arrays, case.order, 100, rows, 0.0, price, least, False, True,
            False, UNBOUNDED, random,
        )  # fmt: skip
        case.check()
    groups = [case.rows_of(g) for g in range(len(case.arrays.size))]
    for here, there in permutations(range(len(groups)), 2):
        now = case.cost_of(groups[here], price) + case.cost_of(groups[there], price)
        movable = len(groups[here]) > least and len(groups[there]) < case.arrays.room[there]
        for a in groups[here]:
            for coming in [[c] for c in groups[there]] + [[]] * int(movable):
                one = [*groups[here][groups[here] != a], *coming]
                other = [*groups[there][~np.isin(groups[there], coming)], a]
                assert case.cost_of(np.array(one), price) + case.cost_of(np.array(other), price) >= now - 1e-6


@given(st.integers(0, 2**31), st.integers(20, 60), st.integers(2, 5), st.integers(0, 3000))
def test_a_pass_ends_when_its_work_is_used_up(seed, rows, groups, budget):
    """The last try is finished: at most 24 partners, of which both groups are looked at, and one change of both."""
    case, random = SearchCase(seed, rows, False, groups=groups), np.array([seed + 1], np.uint64)
    before = int(case.arrays.work[0])
    changes = exchange_rows(
        case.shares,
        case.limits,
        case.conditions,
        case.arrays,
        case.order,
        100,
        rows,
        1.0,
        2.0,
        2,
        False,
        True,
        True,
        budget,
        random,
    )
    of_a_try = (2 * PARTNERS + 2 + 8) * rows + rows**2
    assert case.arrays.work[0] - before <= budget + of_a_try
    assert changes <= 1 + budget // (8 * 2 * 2), "a change is work of eight for each member of two groups, of two at least"
    case.check()


@given(st.integers(0, 2**31), st.integers(4, 20), st.booleans(), st.booleans())
def test_open_rows_are_those_that_a_pass_may_change(seed, rows, with_condition, moves):
    case = SearchCase(seed, rows, with_condition)
    arrays, group = case.arrays, case.arrays.group
    random = np.array([seed + 1], np.uint64)
    found = open_rows(
        arrays.first, arrays.size, arrays.member, arrays.loss, arrays.gain, arrays.relief, moves, 2, random
    )  # fmt: skip
    assert len(set(found.tolist())) == len(found)
    assert set(group[found].tolist()) == set(group.tolist()), "every group can be a partner"
    worth = (arrays.gain > 0) | (arrays.relief > 0)
    if moves:
        worth |= (arrays.size[group] > 2) & (arrays.loss[group] > 0)
    assert set(np.flatnonzero(worth).tolist()) <= set(found.tolist())
    assert len(found) <= worth.sum() + len(arrays.size)
