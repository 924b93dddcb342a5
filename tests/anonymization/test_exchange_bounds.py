"""Cycles of exchanges: what they guarantee, where they are stuck at any length, and Lemma 1 of Wang & Liu (2010)."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from all_partitions import degree
from exchanged_graphs import degrees, exchanged, graph_task, potential
from naive_exchanges import lowering_cycles, turned
from sfumato.anonymization import cycle_bound, lemma_1, lemma_2, stuck_degree, swap_bound, theorem_3


def near_of(edges, rows):
    near = np.zeros((rows, rows), bool)
    for u, v in edges:
        near[u, v] = near[v, u] = True
    return near


def random_graph(draw, rows, theta):
    """Return the edges of a random graph to which no edge can be added without exceeding a degree."""
    count, edges = np.zeros(rows, int), []
    for u, v in sorted(combinations(range(rows), 2), key=lambda _: draw.random()):
        if count[u] < theta and count[v] < theta:
            edges.append((u, v))
            count[[u, v]] += 1
    return edges


@given(st.sampled_from([(12, 4), (11, 4), (13, 4), (15, 5)]), st.randoms(use_true_random=False))
def test_within_the_bound_a_cycle_of_three_always_helps(shape, random):
    """Random graphs of the largest degree, which swaps do not guarantee, and random groups with neighbours in them."""
    rows, groups = shape
    theta = cycle_bound(rows, groups, 1)
    edges = random_graph(random, rows, theta)
    of_row = [v % groups for v in range(rows)]
    random.shuffle(of_row)
    if potential(edges, of_row):
        assert next(lowering_cycles(near_of(edges, rows), of_row, most=3), None)


def test_cycles_guarantee_more_than_swaps_without_neighbours_in_groups():
    assert swap_bound(12, 4, 1) < cycle_bound(12, 4, 1) == 3  # erratum 9: n = 12, k = 3, t = 0, where swaps are stuck
    for k in range(2, 30):
        for groups in range(1, 30):
            rows = k * groups
            assert swap_bound(rows, groups, 1) <= cycle_bound(rows, groups, 1) < stuck_degree(groups, 0)
            for delta in ("0.5", "0.8"):
                t = sf.Dissimilarity(0, delta).allowed_neighbours(k)
                if k >= t + 2:
                    assert cycle_bound(rows, groups, delta) < stuck_degree(groups, t)


def test_within_the_bound_no_swap_helps_a_violation_and_a_cycle_does():
    """Ten groups of 4 rows and Θ = 7, beyond the bound of swaps.

    Row 0 has one neighbour in its group and one in each of the groups 1 to 6. All rows of the other groups have a neighbour
    among the rows 1 to 3, as have the neighbours of row 0.
    """
    edges, start = [(0, 4 * group) for group in range(7)], np.repeat(np.arange(10), 4)
    edges[0] = (0, 1)
    edges += [(1 + i % 3, row) for i, row in enumerate([*range(4, 28, 4), *range(28, 40)])]
    assert swap_bound(40, 10, 1) < degrees(edges, 40).max() == cycle_bound(40, 10, 1) == 7
    before = potential(edges, start)
    assert all(potential(edges, turned(start, (0, v))) >= before for v in range(4, 40))
    rings = ((0, u, v) for u, v in product(range(28, 40), range(4, 28)))
    assert any(potential(edges, turned(start, ring)) < before for ring in rings)
    found = exchanged(graph_task(edges, range(40)), start, lambda size: 0)
    assert not len(found.violations)
    assert potential(edges, found.of_row) == 0


def stuck_start(groups, size, allowed):
    """Return the start that the module docstring of the bounds constructs: a violation that no cycle helps."""
    r = -(-(allowed + 3) // 2)
    edges = [(0, leaf) for leaf in range(1, allowed + 2)]
    for one, other in combinations(range(groups), 2):
        edges += [(one * size + a, other * size + (a + step) % size) for a in range(size) for step in range(r)]
    return edges, np.repeat(np.arange(groups), size)


@pytest.mark.parametrize(("groups", "size", "allowed"), [(2, 2, 0), (4, 3, 0), (4, 3, 1), (3, 4, 2), (3, 5, 3), (2, 8, 5)])
def test_no_cycle_of_any_length_helps_a_stuck_start(groups, size, allowed):
    edges, start = stuck_start(groups, size, allowed)
    assert degrees(edges, groups * size).max() == stuck_degree(groups, allowed)
    assert degree(0, range(size), edges) == allowed + 1
    assert not list(lowering_cycles(near_of(edges, groups * size), start))
    found = exchanged(graph_task(edges, range(groups * size)), start, lambda size: allowed)
    assert found.violations.tolist() == ([0] if allowed else [0, 1])
    assert found.exhausted and found.swaps == found.cycles == 0


def test_groups_may_exist_where_every_cycle_is_stuck():
    """Three groups of three with one neighbour at most: the start is stuck, and other groups have none too many."""
    edges, start = stuck_start(3, 3, 1)
    assert not list(lowering_cycles(near_of(edges, 9), start))
    assert any(
        all(degree(v, group, edges) <= 1 for group in groups for v in group)
        for first in combinations(range(1, 9), 2)
        for rest in [[v for v in range(1, 9) if v not in first]]
        for second in combinations(rest[1:], 2)
        for groups in [([0, *first], [rest[0], *second], [v for v in rest[1:] if v not in second])]
    )


@given(st.integers(1, 5), st.integers(0, 3), st.integers(1, 10), st.randoms(use_true_random=False))
def test_lemma_1_counts_groups_that_a_row_can_move_to(groups, neighbours, theta, random):
    """For every row of a random graph of that degree, in random groups of any sizes."""
    rows = 12
    edges = random_graph(random, rows, theta)
    theta = int(degrees(edges, rows).max())
    of_row = [random.randrange(groups) for _ in range(rows)]
    members = [[v for v in range(rows) if of_row[v] == group] for group in range(groups)]
    for v in range(rows):
        movable = sum(degree(v, group, edges) <= neighbours for group in members)
        assert movable >= lemma_1(theta, groups, neighbours)


def test_lemma_1_is_tight_and_theorem_3_follows_from_lemma_2():
    # a row with t + 1 neighbours in as many groups as its degree allows
    for theta in range(12):
        for t in range(4):
            for groups in range(1, 6):
                crowded = min(groups, theta // (t + 1))
                assert lemma_1(theta, groups, t) == groups - crowded
                if theorem_3(theta, groups) <= t:
                    assert theta <= lemma_2(groups, t)
                    assert 2 * lemma_1(theta, groups, t) >= groups
