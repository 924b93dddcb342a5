"""The neighbours of rows within groups, counted pair by pair and along an order of the values, against sets."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernel_inputs import limit_arrays, random_limit
from search_cases import SearchCase
from sfumato.kernels.neighbour_degrees import PAIRWISE, meet_crowded


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


@given(st.integers(0, 2**31), st.integers(2, 12), st.sampled_from([5, 60]), st.integers(0, 3), st.booleans())
@example(seed=1, rows=PAIRWISE + 20, values=5, most=PAIRWISE // 4, windowed=False)
def test_the_relief_of_a_row_counts_the_crowded_rows_whose_neighbour_it_is(seed, rows, values, most, windowed):
    """In a large group without windows, every crowded row counts."""
    draw = np.random.default_rng(seed)
    limit, value = random_limit(draw, values, rows, windowed), draw.integers(0, values, rows)
    near, member = limit[0].near, draw.permutation(rows)
    group = member[1:].tolist()
    degrees = np.array([sum(value[b] in near[value[a]] for b in group if b != a) for a in range(rows)])
    relief = np.zeros(rows)
    looks = meet_crowded(
        limit_arrays([limit], [value]), member, degrees[None], 1, rows, 0, most, np.ones(values + 1), relief
    )  # fmt: skip
    assert looks in (2 * len(group), len(group) ** 2)
    if len(group) > PAIRWISE:
        assert looks == 2 * len(group)
    for row in group:
        crowded = [other for other in group if other != row and degrees[other] > most]
        related = crowded if len(group) > PAIRWISE else [other for other in crowded if value[row] in near[value[other]]]
        assert relief[row] == len(related)
    assert relief[member[0]] == 0
