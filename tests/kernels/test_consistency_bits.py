"""Individuals consistent with rows of values, against sets of individuals."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.consistency_bits import add_consistent_bits


@given(st.integers(0, 2**31), st.integers(1, 130))
def test_counts_are_added(seed, people):
    draw = np.random.default_rng(seed)
    fits = draw.random((5, people)) < 0.6
    words = -(-people // 64)
    bits = np.zeros((5, words), np.uint64)
    packed = np.packbits(fits, axis=1, bitorder="little")
    bits.view(np.uint8)[:, : packed.shape[1]] = packed
    rows = draw.integers(-1, 5, (4, 3)).astype(np.int32)
    rows[:, 0] = np.maximum(rows[:, 0], 0)
    before = draw.integers(0, 9, 4)
    counts = before.copy()
    add_consistent_bits(bits, rows, unset(words, np.uint64), counts)
    expected = [np.logical_and.reduce([fits[a] for a in row if a >= 0]).sum() for row in rows]
    assert (counts - before).tolist() == expected
