"""The two lowest and the two highest places of a group."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import compiled
from sfumato.kernels import group_extent
from sfumato.kernels.group_extent import FULL

ends_of = compiled(group_extent.ends_of)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.integers(0, 2), st.integers(0, 2))
def test_ends_are_those_of_the_sorted_places(places, before, after):
    rows = np.random.default_rng(len(places)).permutation(len(places) + before + after)
    table = np.full((len(rows), 2), 9, np.int32)
    start, stop = before, before + len(places)
    table[rows[start:stop], 1] = places
    ascending = sorted(places)
    second, before_last = (ascending[1], ascending[-2]) if len(places) > 1 else (FULL, -1)
    assert ends_of(table, rows, start, stop, 1) == (ascending[0], second, ascending[-1], before_last)
