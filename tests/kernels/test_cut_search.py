"""Sets of rows that fractional groups violate, against counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.cut_search import search_cuts


@given(st.integers(0, 2**31), st.integers(3, 12), st.integers(2, 4), st.integers(1, 3))
def test_sets_have_the_size_and_the_excess_that_counting_gives(seed, rows, part, times):
    draw = np.random.default_rng(seed)
    size = part * times + part - 1
    if size > rows:
        return
    member = draw.random((int(draw.integers(1, 9)), rows)) < 0.5
    groups, weight = (member @ (1 << np.arange(rows))).astype(np.int64), draw.integers(1, 5, len(member)) / 4
    together = np.ascontiguousarray((member * weight[:, None]).T @ member.astype(float))
    found, excess = unset(rows, np.int64), unset(rows)
    search_cuts(together, groups, weight, part, times, unset(rows), unset(len(groups), np.int64), found, excess)
    for start in range(rows):
        chosen = [row for row in range(rows) if int(found[start]) >> row & 1]
        assert len(chosen) == size
        expected = sum(w * (group[chosen].sum() // part) for group, w in zip(member, weight, strict=True)) - times
        assert excess[start] == pytest.approx(expected)


def test_a_violated_set_is_found():
    """Three pairs of three rows, each taken half: only one pair of them is possible."""
    groups, weight = np.array([0b00011, 0b00101, 0b00110, 0b11000]), np.array([0.5, 0.5, 0.5, 1.0])
    member = groups[:, None] >> np.arange(5) & 1
    together = np.ascontiguousarray((member * weight[:, None]).T @ member.astype(float))
    found, excess = unset(5, np.int64), unset(5)
    search_cuts(together, groups, weight, 2, 1, unset(5), unset(4, np.int64), found, excess)
    assert (0b111, 0.5) in zip(found.tolist(), excess.tolist(), strict=True)
