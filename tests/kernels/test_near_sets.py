"""The largest near sets of random graphs, with values that several rows and several units have, against their definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_shapes as shapes
from kernel_inputs import unset
from sfumato.kernels.near_sets import (
    fullest_balls,
    fullest_boxes,
    heaviest_cliques,
    largest_blocks,
    largest_components,
)

POINTS = st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 1))
"""Two coordinates and a class."""


def graph(draw, size, density):
    near = np.triu(draw.random((size, size)) < density, 1)
    return near | near.T | np.eye(size, dtype=bool)


def as_bits(near):
    bits = np.zeros((len(near), -(-len(near) // 64)), np.uint64)
    packed = np.packbits(near, axis=1, bitorder="little")
    bits.view(np.uint8)[:, : packed.shape[1]] = packed
    return bits


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 2**31), st.integers(1, 6), st.floats(0, 1))
def test_small_graphs_with_several_rows_per_value(seed, size, density):
    """Two sets of entries at once; values that no set has come before and after those that they have."""
    draw = np.random.default_rng(seed)
    near = graph(draw, size + 60, density)
    sets = [draw.permutation(size + 60)[:size], draw.permutation(size + 60)[:2]]
    values = np.concatenate(sets)
    counts = draw.integers(1, 3, len(values))
    offsets, bits, nobody = np.array([0, size, size + 2]), as_bits(near), np.full(len(values), -1)
    rows = [np.repeat(values[a:b], counts[a:b]).tolist() for a, b in ((0, size), (size, size + 2))]
    out, more = unset(2, np.int64), unset(2, np.int64)

    def is_near(v, w):
        return near[v, w]

    heaviest_cliques(bits, offsets, values, counts, nobody, 99, 10**6, out, more)
    assert out.tolist() == more.tolist() == [shapes.clique(group, is_near) for group in rows]
    largest_components(bits, offsets, values, counts, out)
    assert out.tolist() == [shapes.chain(group, is_near) for group in rows]
    largest_blocks(bits, offsets, values, counts, out)
    assert out.tolist() == [shapes.cycle(group, is_near) for group in rows]
    fullest_balls(bits, offsets, values, counts, nobody, out)
    assert out.tolist() == [shapes.ball(group, is_near, range(size + 60)) for group in rows]


@pytest.mark.parametrize(("size", "density"), [(14, 0.5), (14, 0.9), (13, 0.2)])
def test_heavy_cliques_by_all_sets(size, density):
    for seed in range(8):
        draw = np.random.default_rng(seed)
        near, counts = graph(draw, size, density), draw.integers(1, 9, size)
        masks = [sum(1 << int(w) for w in np.flatnonzero(row)) for row in near]
        best, common = 0, {0: (1 << size) - 1}
        for chosen in range(1, 1 << size):
            lowest = (chosen & -chosen).bit_length() - 1
            common[chosen] = common[chosen & (chosen - 1)] & masks[lowest]
            if chosen & ~common[chosen] == 0:
                best = max(best, sum(int(counts[v]) for v in range(size) if chosen >> v & 1))
        least, most = unset(1, np.int64), unset(1, np.int64)
        entries = np.array([0, size]), np.arange(size), counts, np.full(size, -1)
        heaviest_cliques(as_bits(near), *entries, 99, 10**6, least, most)
        assert least[0] == most[0] == best
        for limits in ((99, 0), (99, 5), (3, 10**6)):  # too few branches, or too many entries: bounds
            heaviest_cliques(as_bits(near), *entries, *limits, least, most)
            assert least[0] <= best <= most[0]


@given(st.integers(0, 2**31), st.integers(1, 7), st.floats(0, 1), st.sampled_from([0, 99]))
def test_entries_of_one_owner_are_not_in_one_clique(seed, size, density, largest):
    draw = np.random.default_rng(seed)
    near, counts, owner = graph(draw, size, density), draw.integers(1, 9, size), draw.integers(-1, 2, size)
    best = 0
    for chosen in range(1, 1 << size):
        inside = [v for v in range(size) if chosen >> v & 1]
        owned = [owner[v] for v in inside if owner[v] >= 0]
        if near[np.ix_(inside, inside)].all() and len(set(owned)) == len(owned):
            best = max(best, int(counts[inside].sum()))
    least, most = unset(1, np.int64), unset(1, np.int64)
    heaviest_cliques(as_bits(near), np.array([0, size]), np.arange(size), counts, owner, largest, 10**6, least, most)
    star = [sum(counts[j] for j in range(size) if near[i, j] and (j == i or owner[i] < 0 or owner[i] != owner[j]))
            for i in range(size)]  # fmt: skip
    if largest:
        assert least[0] == most[0] == best
    else:
        assert (least[0], most[0]) == (counts.max(), max(star))


def test_a_clique_of_more_than_a_word():
    """130 values, of which 70 are pairwise near, across the words of the bits."""
    near = np.eye(130, dtype=bool)
    inside = np.arange(0, 130)[30:100]
    near[np.ix_(inside, inside)] = True
    least, most = unset(1, np.int64), unset(1, np.int64)
    ones = np.ones(130, np.int64)
    heaviest_cliques(as_bits(near), np.array([0, 130]), np.arange(130), ones, -ones, 200, 1000, least, most)
    assert (least[0], most[0]) == (70, 70)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 1)), min_size=1, max_size=8), st.integers(0, 4)
)
def test_boxes(points, side):
    ordered = sorted(points, key=lambda p: (p[2], p[1]))
    x, y, of_class = (np.array([p[j] for p in ordered]) for j in range(3))
    counts = np.arange(1, len(ordered) + 1)
    out, corner = unset(1, np.int64), np.zeros((1, 2), np.int64)
    fullest_boxes(np.array([0, len(ordered)]), x, y, of_class, counts, side, out, corner)
    fits = [
        sum(int(counts[i]) for i in chosen)
        for size in range(1, len(ordered) + 1)
        for chosen in combinations(range(len(ordered)), size)
        if len({of_class[i] for i in chosen}) == 1 and all(np.ptp(a[list(chosen)]) <= side for a in (x, y))
    ]
    assert out[0] == max(fits)
    left, low = corner[0]
    inside = (of_class == of_class[left]) & (x >= x[left]) & (x <= x[left] + side) & (y >= y[low]) & (y <= y[low] + side)
    assert counts[inside].sum() == out[0], "the corner is that of a fullest box"
