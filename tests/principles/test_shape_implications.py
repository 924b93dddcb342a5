"""Which shape of a breach implies which, at which ε and δ: the table of the page on shapes, each entry proved or refuted."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_shapes as shapes
import sfumato as sf
from small_tables import measured

IMPLIED = [
    # stronger, at how many times ε; weaker, at ε; whether δ shrinks to δ(1 − 1/k)
    ("ball", 1, "star", False),
    ("star", 1, "clique", True),
    ("ball", 1, "clique", False),
    ("chain", 1, "star", False),
    ("chain", 1, "clique", False),
    ("chain", 1, "cycle", False),
    ("cycle", 1, "clique", False),
    ("clique", 2, "star", False),
    ("clique", 2, "ball", False),
    ("star", 2, "ball", True),
    ("cycle", 2, "star", False),
    ("cycle", 2, "ball", False),
    ("chain", 2, "ball", False),
    ("cycle", 2, "chain", False),
]
"""What the page states for metrics; what is at the same ε holds for every distance."""

NOT_IMPLIED = {
    ("star", "ball"): [490, 510, 510, 700],
    ("star", "chain"): [0, 10, 20, 30, 40, 50],
    ("star", "cycle"): [0, 5, 10, 15, 20, 25, 30, 35],
    ("ball", "chain"): [0, 10, 20, 30, 40, 50, 60],
    ("ball", "cycle"): [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55],
    ("clique", "star"): [490, 500, 510, 700],
    ("clique", "ball"): [490, 500, 510, 700],
    ("clique", "chain"): [0, 10, 20, 700],
    ("clique", "cycle"): [0, 5, 10, 15, 20, 25, 30, 35],
    ("chain", "ball"): [490, 510, 700],
    ("cycle", "star"): [490, 500, 510, 700],
    ("cycle", "ball"): [490, 500, 510, 700],
    ("cycle", "chain"): [490, 500, 510, 700],
}
"""A group at ε = 10 that satisfies the first shape at the second's own level of safety, and violates the second."""


def level(shape, group, epsilon):
    return measured([(0, v) for v in group], sf.Dissimilarity(epsilon, 0, shape=shape), numeric=True).level


def test_every_pair_of_shapes_is_in_one_list():
    stated = {(strong, weak) for strong, times, weak, _ in IMPLIED if times == 1} | NOT_IMPLIED.keys()
    names = ("star", "ball", "clique", "chain", "cycle")
    assert stated == {(one, other) for one in names for other in names if one != other}


@pytest.mark.parametrize(("strong", "times", "weak", "shrinks"), IMPLIED)
@given(group=st.lists(st.integers(0, 14), min_size=1, max_size=8), epsilon=st.integers(0, 4))
def test_implications(strong, times, weak, shrinks, group, epsilon):
    """At the largest δ that the stronger requirement meets, the weaker one holds, for groups of their own size as k."""
    most = level(strong, group, times * epsilon)
    delta = (1 - most) * (1 - Fraction(1, len(group))) if shrinks else 1 - most
    k = len(group)
    assert measured([(0, v) for v in group], sf.Dissimilarity(epsilon, delta, k, shape=weak), numeric=True).holds


@pytest.mark.parametrize(("one", "other"), NOT_IMPLIED)
def test_what_is_not_implied(one, other):
    """The level of the second is above that of the first, by more than one row, so that no definition of a share matters."""
    group = NOT_IMPLIED[one, other]
    epsilon = 10
    safe = 1 - level(one, group, epsilon)
    assert measured([(0, v) for v in group], sf.Dissimilarity(epsilon, safe, shape=one)).holds
    assert not measured([(0, v) for v in group], sf.Dissimilarity(epsilon, safe, shape=other)).holds


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("one", ["star", "ball", "clique"])
def test_no_multiple_of_epsilon_bounds_long_chains_and_cycles(one, times):
    group = [5 * i for i in range(8 * times + 8)]
    assert level("cycle", group, 10) == level("chain", group, 10) == 1
    assert level(one, group, 10 * times) < Fraction(2, 3)


@given(st.lists(st.integers(0, 14), min_size=1, max_size=8), st.integers(0, 4))
def test_among_numbers_a_ball_is_a_clique_at_twice_the_radius(group, epsilon):
    assert level("ball", group, epsilon) == level("clique", group, 2 * epsilon)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=7), st.integers(0, 3))
def test_among_numbers_the_longest_cycle_is_the_block(group, epsilon):
    def near(v, w):
        return abs(v - w) <= epsilon

    block = level("cycle", group, epsilon) * len(group)
    longest = shapes.longest_cycle(group, near)
    assert block == longest if block >= 3 else longest == 0


EDGES = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda e: e[0] < e[1]))


@given(EDGES, st.integers(1, 6))
def test_inclusions_hold_in_every_graph(edges, size):
    """Without any assumption on the distance: clique ⊆ star ⊆ chain, clique ⊆ cycle ⊆ chain, longest cycle ⊆ block."""
    group = list(range(size))

    def near(v, w):
        return v == w or (min(v, w), max(v, w)) in edges

    clique, star, cycle, chain = (count(group, near) for count in (shapes.clique, shapes.star, shapes.cycle, shapes.chain))
    longest = shapes.longest_cycle(group, near)
    for chained in ((clique, star, chain), (clique, cycle, chain), (longest, cycle)):
        assert all(less <= more for less, more in pairwise(chained))
    assert shapes.ball(group, near, group) >= star


def test_a_block_may_exceed_the_longest_cycle_without_an_order():
    """Two values that are both near three others, which are far from one another: each cycle leaves one of those out."""

    def near(v, w):
        return v == w or (v < 2) != (w < 2)

    group = [0, 1, 2, 3, 4]
    assert (shapes.longest_cycle(group, near), shapes.cycle(group, near)) == (4, 5)
