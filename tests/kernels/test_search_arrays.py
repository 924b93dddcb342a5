"""What the local search keeps about groups: right at the start and after every change, and changes are foreseen exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import compiled
from search_cases import SearchCase
from sfumato.anonymization.methods import group_arrays as layout
from sfumato.kernels import search_arrays
from sfumato.kernels.search_arrays import NONE

apply_change, excess_after = compiled(search_arrays.apply_change), compiled(search_arrays.excess_after)


@pytest.fixture(params=[0, 4], ids=["groups are not counted", "groups are counted"], autouse=True)
def counted(request, monkeypatch):
    """Small groups look at each row, large ones keep counts: both must be right."""
    monkeypatch.setattr(layout, "_TIMES_THE_ROOM", request.param)


@given(st.integers(0, 2**31), st.integers(2, 20), st.booleans())
def test_arrays_describe_the_groups(seed, rows, with_condition):
    SearchCase(seed, rows, with_condition).check()


@given(st.integers(0, 2**31), st.integers(4, 20), st.booleans(), st.data())
def test_changes_have_the_excess_that_was_foreseen(seed, rows, with_condition, data):
    case = SearchCase(seed, rows, with_condition)
    arrays = case.arrays
    for _ in range(4):
        a = data.draw(st.integers(0, rows - 1))
        here = arrays.group[a]
        others = [g for g in range(len(arrays.size)) if g != here and arrays.size[g] > 0]
        if not others:
            return
        there = data.draw(st.sampled_from(others))
        partner = data.draw(st.sampled_from(np.flatnonzero(arrays.group == there).tolist()))
        moves = arrays.size[here] > 1 and arrays.size[there] < arrays.room[there]
        if moves and data.draw(st.booleans()):
            partner = NONE
        one = excess_after(case.limits, case.conditions, arrays, here, a, partner, 1e300)
        other = excess_after(case.limits, case.conditions, arrays, there, partner, a, 1e300)
        apply_change(case.shares, case.limits, case.conditions, arrays, a, there, partner, one, other)
        case.check()  # compares the excess with that of the groups as they are now
