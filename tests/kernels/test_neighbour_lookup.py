"""Whether two values are neighbours: windows and bits agree with the relation that they encode."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import packed
from sfumato.kernels.neighbour_lookup import BITS, WINDOWS, near


@given(st.integers(0, 2**31), st.integers(1, 80))
def test_both_representations_say_what_the_relation_says(seed, values):
    draw = np.random.default_rng(seed)
    position = draw.permutation(values)
    reach = int(draw.integers(0, values + 1))
    related = np.abs(position[:, None] - position) <= reach
    ranks = np.arange(values)
    low, high = np.maximum(ranks - reach, 0), np.minimum(ranks + reach + 1, values)
    nothing, no_bits = np.zeros(0, np.int64), np.zeros((0, 0), np.uint64)
    bits = packed(related)
    for u, v in draw.integers(0, values, (20, 2)):
        assert near(WINDOWS, position, low, high, no_bits, u, v) == related[u, v]
        assert near(BITS, nothing, nothing, nothing, bits, u, v) == related[u, v]
