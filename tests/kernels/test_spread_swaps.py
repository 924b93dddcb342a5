"""Swaps by spread: the arrays stay right, no cost rises, the rows of groups come closer, and the loss can fall then."""

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
from sfumato.kernels.spread_swaps import swap_by_spread

SCALE = np.array([0.25, 1.0])


@pytest.fixture(params=[0, 4], ids=["groups are not counted", "groups are counted"], autouse=True)
def counted(request, monkeypatch):
    """Small groups look at each row, large ones keep counts: both must be right."""
    monkeypatch.setattr(layout, "_TIMES_THE_ROOM", request.param)


def spread_of(place, group):
    """The sum over groups of the squared distances of their rows from the mean of the group."""
    scaled = place * SCALE
    return sum(float(((scaled[group == g] - scaled[group == g].mean(axis=0)) ** 2).sum()) for g in np.unique(group).tolist())


@given(st.integers(0, 2**31), st.integers(4, 24), st.booleans())
def test_passes_lower_the_spread_and_raise_no_cost(seed, rows, with_condition):
    case, price, random = SearchCase(seed, rows, with_condition), 2.0, np.array([seed + 1], np.uint64)
    for _ in range(3):
        before, sizes = case.cost(price), case.arrays.size.tolist()
        spread = spread_of(case.place, case.arrays.group)
        swaps = swap_by_spread(
            case.shares, case.limits, case.conditions, case.arrays, case.order, 4, rows, price,
            unset(case.arrays.low.shape), SCALE, 2**60, random,
        )  # fmt: skip
        case.check()
        assert case.arrays.size.tolist() == sizes
        assert case.cost(price) <= before + 1e-6
        after = spread_of(case.place, case.arrays.group)
        assert after < spread if swaps else after == spread


def test_thinner_ends_let_the_loss_fall():
    # two rows at either end of both groups: the loss falls only when both of them have left
    ages = [30, 30, 40, 40, 30, 30, 40, 40]
    table = sf.Table(pa.table({"age": ages}), sf.Schema(["age"]))
    state = SearchState(SearchProblem.of(sf.anonymization.Task(table, (sf.KAnonymity(4),))), 0)
    state.regroup(np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    for _ in range(10):
        state.new_order()
        state.exchange_pass(8, 10, 0.0, state.prohibitive)
    assert state.loss == 1, "no single swap lowers the loss"
    for _ in range(10):
        state.gather(4, 10, state.prohibitive)
    assert state.loss == 0
