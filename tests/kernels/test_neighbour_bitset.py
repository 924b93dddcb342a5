"""Counts of neighbours in a bit matrix, against a loop over all pairs: small groups pair by pair, large ones by planes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import packed, unset
from sfumato.kernels.neighbour_bitset import bitset_counts


def check(seed, values, groups, least):
    draw = np.random.default_rng(seed)
    related = draw.random((values, values)) < 0.2
    related |= related.T | np.eye(values, dtype=bool)
    entries = [draw.choice(values, draw.integers(least, values + 1), replace=False) for _ in range(groups)]
    codes = np.concatenate(entries)
    counts = draw.integers(1, 70, len(codes))
    offsets = np.concatenate([[0], np.cumsum([len(entry) for entry in entries])])
    out = unset(len(codes), np.int64)
    bitset_counts(packed(related), offsets, codes, counts, out)
    for g in range(groups):
        part = slice(offsets[g], offsets[g + 1])
        assert out[part].tolist() == (related[np.ix_(codes[part], codes[part])] @ counts[part]).tolist()


@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 4))
def test_small_groups(seed, values, groups):
    check(seed, values, groups, least=1)


@pytest.mark.parametrize("seed", range(5))
def test_large_groups_are_counted_by_bit_planes(seed):
    check(seed, values=150, groups=3, least=64)
