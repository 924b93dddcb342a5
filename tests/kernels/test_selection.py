"""Ranks and orders, against Python's sort."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import compiled
from sfumato.kernels import selection

select, sort = compiled(selection.select), compiled(selection.sort)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=80), st.data())
def test_the_value_at_a_rank(values, data):
    rank, array = data.draw(st.integers(0, len(values) - 1)), np.array([*values, -1])
    value, below, through = select(array, len(values), rank)
    assert value == sorted(values)[rank]
    assert below == sum(each < value for each in values)
    assert through == sum(each <= value for each in values)
    assert sorted(array[:-1].tolist()) == sorted(values), "permuted"
    assert array[-1] == -1, "what follows is not touched"


@given(st.one_of(st.lists(st.integers(-5, 1_000), max_size=30), st.lists(st.integers(-5, 1_000), min_size=25, max_size=60)))
def test_ascending(values):
    array = np.array([*values, -9])
    sort(array, len(values))
    assert array.tolist() == [*sorted(values), -9]
