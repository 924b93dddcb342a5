"""Common items of pairs of sets, against Python's own intersection."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.set_overlaps import set_overlaps


@given(st.lists(st.frozensets(st.integers(0, 9), max_size=6), min_size=1, max_size=6), st.integers(0, 2**31))
def test_overlaps(sets, seed):
    draw = np.random.default_rng(seed)
    items = np.array([item for members in sets for item in sorted(members)], np.int64)
    offsets = np.append(0, np.cumsum([len(members) for members in sets]))
    ones, others = draw.integers(0, len(sets), (2, 20))
    out = unset(20, np.int64)
    set_overlaps(items, offsets, ones, others, out)
    assert out.tolist() == [len(sets[a] & sets[b]) for a, b in zip(ones, others, strict=True)]
