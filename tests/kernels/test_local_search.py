"""The local search: after every pass its arrays describe the groups, and the cost that it lowers has fallen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_cases import SearchCase
from sfumato.anonymization.methods import group_arrays as layout
from sfumato.kernels.local_search import exchange_rows, open_rows


@pytest.fixture(params=[0, 4], ids=["groups are not counted", "groups are counted"], autouse=True)
def counted(request, monkeypatch):
    """Small groups look at each row, large ones keep counts: both must be right."""
    monkeypatch.setattr(layout, "_TIMES_THE_ROOM", request.param)


@pytest.mark.parametrize("heat", [0.0, 0.5])
@given(st.integers(0, 2**31), st.integers(4, 20), st.booleans(), st.booleans(), st.booleans())
def test_passes_keep_the_arrays_up_to_date_and_lower_the_cost(heat, seed, rows, with_condition, focus, moves):
    case, price, random = SearchCase(seed, rows, with_condition), 2.0, np.array([seed + 1], np.uint64)
    for _ in range(3):
        before, smallest = case.cost(price), case.arrays.size.min()
        changes = exchange_rows(
            case.shares, case.limits, case.conditions, case.arrays, case.order, 4, rows, heat, price, 2, focus, moves, random
        )
        case.check()
        assert (case.arrays.size <= case.arrays.room).all()
        assert case.arrays.size.min() >= min(2, smallest)
        if heat == 0:
            assert case.cost(price) < before or not changes
            assert case.cost(price) <= before + 1e-9


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
