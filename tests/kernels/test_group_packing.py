"""Packing: no row gets too many neighbours, groups have their size, and counts are those of all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import limit_arrays, neighbours, random_limit, unset
from sfumato.kernels.group_packing import crowding, pack


@given(st.integers(0, 2**31), st.integers(1, 8), st.integers(1, 30), st.integers(1, 6))
def test_packed_groups_respect_the_limit(seed, values, count, size):
    draw = np.random.default_rng(seed)
    one = random_limit(draw, values, count)
    limit = one[0]
    value = draw.integers(0, values, 40)
    rows = draw.permutation(40)[:count]
    groups = count // size
    out = unset(count, np.int64)
    left = pack(limit_arrays([one], [value]), rows, size, groups, out)
    assert left == (out < 0).sum()
    made = np.unique(out[out >= 0])
    assert made.tolist() == list(range(len(made)))
    assert len(made) <= groups
    for group in made:
        members = value[rows[out == group]].tolist()
        assert len(members) >= size
        assert max(neighbours(limit, members)) <= limit.allowed[size]


def test_l_diverse_groups_are_always_found():
    """If equal values are the only neighbours, groups exist whenever no value has more rows than there are groups."""
    near = [{v} for v in range(5)]
    for seed in range(50):
        draw = np.random.default_rng(seed)
        size, groups = int(draw.integers(2, 5)), int(draw.integers(1, 6))
        value = np.concatenate([np.full(groups, v) for v in draw.permutation(5)[:size]])
        draw.shuffle(value)
        limit, _, rank = random_limit(draw, 5, size, windowed=False)
        limit.near, limit.allowed = near, [0] * (size + 1)
        out = unset(len(value), np.int64)
        assert pack(limit_arrays([(limit, False, rank)], [value]), np.arange(len(value)), size, groups, out) == 0


@given(st.integers(0, 2**31), st.integers(1, 8), st.integers(1, 12), st.integers(1, 12))
def test_crowding_counts_neighbours(seed, values, count, others):
    draw = np.random.default_rng(seed)
    one = random_limit(draw, values, 3)
    value = draw.integers(0, values, 20)
    rows, them = draw.integers(0, 20, count), draw.integers(0, 20, others)
    out = unset(count, np.int64)
    crowding(limit_arrays([one], [value]), rows, them, out)
    assert out.tolist() == [sum(int(value[q]) in one[0].near[value[i]] for q in them) for i in rows]
