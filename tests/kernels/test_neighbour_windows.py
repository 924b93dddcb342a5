"""Counts of neighbours along an order, against a loop over all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.neighbour_windows import window_counts


@given(st.integers(0, 2**31), st.integers(1, 9), st.integers(1, 4))
def test_window_counts_are_those_of_all_pairs(seed, values, groups):
    draw = np.random.default_rng(seed)
    low = np.minimum(np.sort(draw.integers(0, values, values)), np.arange(values))
    high = np.maximum(np.sort(draw.integers(1, values + 1, values)), np.arange(values) + 1)
    entries = [np.sort(draw.choice(values, draw.integers(1, values + 1), replace=False)) for _ in range(groups)]
    ranks = np.concatenate(entries)
    counts = draw.integers(1, 5, len(ranks))
    offsets = np.concatenate([[0], np.cumsum([len(entry) for entry in entries])])
    out = unset(len(ranks), np.int64)
    window_counts(offsets, ranks, counts, low, high, out)
    for g in range(groups):
        inside = range(offsets[g], offsets[g + 1])
        for i in inside:
            assert out[i] == sum(counts[j] for j in inside if low[ranks[i]] <= ranks[j] < high[ranks[i]])
