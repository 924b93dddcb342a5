"""Classes and histograms rolled up from finer ones, against grouping the combinations anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.class_rollup import add_moved, roll_classes, roll_entries, sum_costs

CODES = 4
LEVELS = 3


def random_hierarchies(draw, attributes):
    """Return nodes[j][level][code], each level coarser than the last."""
    hierarchies = []
    for _ in range(attributes):
        middle = np.sort(draw.integers(0, 3, CODES))
        middle = np.unique(middle, return_inverse=True)[1]
        hierarchies.append(np.stack([np.arange(CODES), middle, np.zeros(CODES, np.int64)]))
    return hierarchies


def flat(hierarchies, levels):
    """Return all nodes in one array, and where each attribute's level begins."""
    at = [CODES * (LEVELS * j + level) for j, level in enumerate(levels)]
    return np.concatenate([nodes.ravel() for nodes in hierarchies]).astype(np.int64), np.array(at, np.int64)


@pytest.mark.parametrize("exact", [True, False], ids=["keys", "hashes"])
@given(st.integers(0, 2**31), st.integers(1, 3), st.integers(1, 30))
def test_rolled_classes_are_those_of_equal_nodes(exact, seed, attributes, count):
    draw = np.random.default_rng(seed)
    hierarchies = random_hierarchies(draw, attributes)
    codes = np.unique(draw.integers(0, CODES, (count, attributes)), axis=0).astype(np.int32)
    fine = tuple(draw.integers(0, LEVELS, attributes).tolist())
    coarse = tuple(int(draw.integers(level, LEVELS)) for level in fine)
    nodes, before = flat(hierarchies, fine)
    _, after = flat(hierarchies, coarse)
    # hashes that all collide are compared node by node
    strides = np.array([CODES**j for j in range(attributes)] if exact else [0] * attributes, np.int64)
    fine_nodes = np.column_stack([hierarchies[j][fine[j]][codes[:, j]] for j in range(attributes)])
    _, first = np.unique(fine_nodes, axis=0, return_index=True)
    first = np.sort(first).astype(np.int32)
    sizes = draw.integers(1, 9, len(first))
    keys = (fine_nodes[first] * strides).sum(axis=1)
    changed = np.flatnonzero(before != after)
    live = np.flatnonzero(np.array(coarse) < LEVELS - 1)  # the others have one node
    of, firsts = unset(len(first), np.int32), unset(len(first), np.int32)
    new_keys, sums = unset(len(first), np.int64), unset(len(first), np.int64)
    capacity = 1 << (2 * len(first) - 1).bit_length()
    made = roll_classes(
        codes, nodes, changed, before[changed], after[changed], strides, live, after[live], exact, capacity,
        first, keys, sizes, of, firsts, new_keys, sums,
    )  # fmt: skip
    number, expected_sizes = {}, []
    for i, one in enumerate(first):
        key = tuple(int(hierarchies[j][coarse[j]][codes[one, j]]) for j in range(attributes))
        if key not in number:
            number[key] = len(number)
            assert firsts[number[key]] == one
            assert new_keys[number[key]] == sum(node * stride for node, stride in zip(key, strides.tolist(), strict=True))
            expected_sizes.append(0)
        assert of[i] == number[key]
        expected_sizes[number[key]] += sizes[i]
    assert made == len(number)
    assert sums[:made].tolist() == expected_sizes


def random_entries(draw, classes, values):
    """Return a histogram sorted by value: starts, group and counts."""
    table = draw.integers(0, 3, (values, classes))
    table[:, 0] += 1
    value, group = np.nonzero(table)
    starts = np.searchsorted(value, np.arange(values + 1))
    return table, starts, group.astype(np.int32), table[value, group]


@given(st.integers(0, 2**31), st.integers(1, 8), st.integers(1, 5))
def test_rolled_entries_are_the_sums(seed, classes, values):
    draw = np.random.default_rng(seed)
    table, starts, group, counts = random_entries(draw, classes, values)
    of = np.unique(draw.integers(0, 3, classes), return_inverse=True)[1].astype(np.int32)
    merged = int(of.max()) + 1
    to, groups, sums = np.zeros_like(starts), unset(group.shape, group.dtype), unset(counts.shape, counts.dtype)
    roll_entries(starts, group, counts, of, merged, to, groups, sums)
    rolled = np.zeros((values, merged), np.int64)
    for v in range(values):
        part = slice(to[v], to[v + 1])
        assert len(set(groups[part].tolist())) == to[v + 1] - to[v]
        rolled[v, groups[part]] = sums[part]
    assert (rolled == np.stack([table[:, of == g].sum(axis=1) for g in range(merged)], axis=1)).all()


@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 6))
def test_moved_mass_between_class_and_table(seed, classes, values):
    draw = np.random.default_rng(seed)
    table, starts, group, counts = random_entries(draw, classes, values)
    sizes, totals = table.sum(axis=0), table.sum(axis=1)
    whole = int(totals.sum())
    node = np.unique(draw.integers(0, 3, values), return_inverse=True)[1]
    order = np.argsort(node, kind="stable")
    ends = np.searchsorted(node[order], np.arange(int(node.max()) + 2))
    moved = draw.integers(0, 5, classes)
    before = moved.copy()
    add_moved(starts, group, counts, sizes, totals, whole, order, ends, moved)
    for g in range(classes):
        under = [table[node == b, g].sum() * whole - totals[node == b].sum() * sizes[g] for b in range(node.max() + 1)]
        assert moved[g] - before[g] == sum(map(abs, under))


@given(st.integers(0, 2**31), st.integers(1, 8), st.integers(1, 3))
def test_costs_of_chosen_classes(seed, classes, attributes):
    draw = np.random.default_rng(seed)
    codes = draw.integers(0, CODES, (12, attributes)).astype(np.int32)
    costs = draw.integers(0, 9, CODES * LEVELS * attributes)
    at = np.array([CODES * (LEVELS * j + draw.integers(LEVELS)) for j in range(attributes)], np.int64)
    first = draw.integers(0, 12, classes).astype(np.int32)
    weights, chosen = draw.integers(1, 5, classes), draw.random(classes) < 0.5
    sums = np.full(attributes, 99, np.int64)
    sum_costs(codes, costs, at, first, weights, chosen, sums)
    for j in range(attributes):
        assert sums[j] == sum(weights[i] * costs[at[j] + codes[first[i], j]] for i in range(classes) if chosen[i])
