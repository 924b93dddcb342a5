"""The neighbours of rows within groups, counted pair by pair and along an order of the values, against sets."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from search_cases import SearchCase
from sfumato.kernels.neighbour_degrees import PAIRWISE


@given(st.integers(0, 2**31), st.integers(2, 20))
def test_arrays_describe_small_groups_of_many_values(seed, rows):
    """The neighbours of a group that is small compared with the number of values are counted pair by pair."""
    SearchCase(seed, rows, False, values=60).check()


@given(st.integers(0, 2**31))
@settings(max_examples=6)
def test_arrays_describe_groups_that_are_too_large_for_pairs(seed):
    case = SearchCase(seed, 2 * PAIRWISE + 40, False, groups=2)
    assert case.arrays.size.max() > PAIRWISE
    case.check()
