"""Pairs of rows of a class are those that two loops list."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.verification.coverage_checks import _pairs_within


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6), st.data())
def test_pairs_within_classes(sizes, data):
    """`sizes`: how many entries each class has on either side."""
    left_at, right_at = (np.cumsum([0, *(pair[side] for pair in sizes)]) for side in (0, 1))
    chosen = data.draw(st.lists(st.sampled_from(range(len(sizes))), unique=True).map(sorted)) if sizes else []
    expected = [
        (i, j)
        for number in chosen
        for i in range(left_at[number], left_at[number + 1])
        for j in range(right_at[number], right_at[number + 1])
    ]
    found = _pairs_within(left_at, right_at, np.array(chosen, np.int64))
    assert list(zip(*(part.tolist() for part in found), strict=True)) == expected
