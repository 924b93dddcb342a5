"""Bounds against naive answers; counter-examples to bounds of Wang & Liu (2010)."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from hypothesis import assume, example, given
from hypothesis import strategies as st

import sfumato as sf
from all_partitions import degree, graph_table, number_table
from sfumato.anonymization.feasibility import bounds, feasibility
from sfumato.anonymization.feasibility.degree_bounds import (
    equitable_bound,
    inequality_4,
    largest_delta,
    largest_size,
    lemma_2,
    most_groups,
    sizes_of,
    splits,
    swap_bound,
    theorem_3,
)
from sfumato.principles import View
from sfumato.principles.clique_capacity import allowed_neighbours
from sfumato.principles.cliques import heavy_clique
from small_tables import THRESHOLDS

DELTAS = st.sampled_from(THRESHOLDS)


# bounds


@given(st.integers(1, 60), st.integers(1, 60))
def test_splits_stand_for_all_numbers_of_groups(n, least):
    expected = {}
    for m in range(1, n // least + 1):
        expected[sizes_of(n, m)] = m
    assert {sizes: m for m, sizes in splits(n, least)} == expected
    assert [m for m, _ in splits(n, least)] == sorted(expected.values())


@given(st.integers(2, 40), st.integers(1, 40), DELTAS, st.integers(0, 39), st.integers(1, 3))
@example(n=6, k=3, delta=Fraction(0), theta=5, groups=2)
def test_solved_for_delta_and_size(n, k, delta, theta, groups):
    assume(k <= n and theta < n)
    steps = {1 - Fraction(j, s) for s in range(1, n) for j in range(s + 1)}

    def guaranteed(d, least):
        least = max(least, 2) if d else least
        for m in range(groups, n // least + 1):
            t = allowed_neighbours(n, d)
            if theta < m or theta <= swap_bound(n, m, d) or (m == 1 and theta <= t):
                return True
        return False

    assert largest_delta(n, k, theta, groups) == max((d for d in steps if guaranteed(d, k)), default=None)
    assert largest_size(n, delta, theta, groups) == max((s for s in range(1, n + 1) if guaranteed(delta, s)), default=None)
    assert (most_groups(n, k, delta, theta) >= groups) == guaranteed(delta, k)


@given(st.integers(1, 300), st.integers(1, 300), DELTAS)
def test_the_swap_bound_is_the_sharpest(n, m, delta):
    assume(m <= n)
    t = allowed_neighbours(n // m, delta)
    assert t == sf.Dissimilarity(0, delta).allowed_neighbours(n // m)
    largest = swap_bound(n, m, delta)
    assert largest == n - 1 or largest >= int(lemma_2(m, t))
    assert largest == n - 1 or Fraction(largest + 1) >= equitable_bound(n, m, delta)


def stuck(groups, edges, t):
    """Whether some value has more than t neighbours in its group, and no exchange of such a one lowers the potential."""

    def potential(partition):
        return sum(degree(v, group, edges) for group in partition for v in group)

    violating = [(i, v) for i, group in enumerate(groups) for v in group if degree(v, group, edges) > t]
    for i, v in violating:
        for j, other in enumerate(groups):
            for w in other if i != j else ():
                swapped = [list(group) for group in groups]
                swapped[i][swapped[i].index(v)], swapped[j][swapped[j].index(w)] = w, v
                if potential(swapped) < potential(groups):
                    return False
    return bool(violating)


@given(st.integers(4, 9), st.integers(2, 4), DELTAS, st.randoms(use_true_random=False))
def test_below_the_swap_bound_nothing_is_stuck(n, m, delta, random):
    """A random graph within the bound, and random equitable groups: an exchange is always there."""
    assume(m <= n // 2)
    theta = swap_bound(n, m, delta)
    edges: set = set()
    for a, b in sorted(combinations(range(n), 2), key=lambda _: random.random()):
        if degree(a, range(n), edges) < theta and degree(b, range(n), edges) < theta:
            edges.add((a, b))
    rows = random.sample(range(n), n)
    groups = [rows[i::m] for i in range(m)]
    while not all(degree(v, group, edges) <= allowed_neighbours(len(group), delta) for group in groups for v in group):
        over = [(g, v) for g in groups for v in g if degree(v, g, edges) > allowed_neighbours(len(g), delta)]
        better = _exchange(groups, over, edges)
        assert better is not None
        groups = better


def _exchange(groups, over, edges):
    def potential(partition):
        return sum(degree(v, group, edges) for group in partition for v in group)

    for group, v in over:
        for other in groups:
            for w in other if other is not group else ():
                new = [[w if x == v else v if x == w else x for x in g] for g in groups]
                if potential(new) < potential(groups):
                    return new
    return None


# counter-examples to the bounds of Wang & Liu (2010)

STUCK = {(0, 1), (0, 3), (0, 6), (1, 3), (1, 6), (2, 9), (2, 10), (2, 11)}
STUCK_GROUPS = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def test_erratum_7_inequality_4_drops_the_floor():
    found = bounds(rows=1000, k=10, delta="0.8")
    assert found.inequality_4 == inequality_4(1000, 10, "0.8") == 140
    assert found.lemma_2 == 100
    # swaps can be stuck where it holds
    assert inequality_4(12, 3, "0.7") >= 3 and stuck(STUCK_GROUPS, STUCK, t=0)
    # and no bound is necessary: beyond all of them groups exist
    path = {(0, 1), (1, 2), (2, 3)}
    found = feasibility(graph_table(4, path), None, sf.Dissimilarity("0.5", 1, 2), nearby=False).attributes[0]
    assert "of all groupings" in found.reason and found.theta > max(found.bounds.guaranteed, found.bounds.lemma_2)
    assert not path & {(0, 2), (1, 3)}


def test_erratum_9_swaps_are_stuck_above_their_bound_where_groups_exist():
    """n = 12, k = 3, δ = 0.7, Θ = 3: no exchange helps, a rotation of three rows does; swaps are promised up to 2 only."""
    assert max(degree(v, range(12), STUCK) for v in range(12)) == 3
    assert stuck(STUCK_GROUPS, STUCK, t=0)
    rotated = [[4, 1, 2], [3, 9, 5], [6, 7, 8], [0, 10, 11]]
    assert all(degree(v, group, STUCK) == 0 for group in rotated for v in group)
    assert swap_bound(12, 4, "0.7") == 2
    found = feasibility(graph_table(12, STUCK), None, sf.Dissimilarity("0.5", "0.7", 3)).attributes[0]
    assert (found.verdict, found.groups) == ("guaranteed", 4)
    assert "Hajnal" in found.reason


def test_erratum_10_equitable_sizes_exist_for_every_number_of_groups():
    found = bounds(rows=29, k=10, delta="0.5")
    assert (found.groups, found.sizes) == (2, (14, 15))
    for n in range(1, 40):
        for m in range(1, n + 1):
            sizes = sizes_of(n, m)
            assert any(m - i >= 0 and i * sizes[0] + (m - i) * sizes[-1] == n for i in range(m + 1))


def test_erratum_11_other_sizes_are_stuck_where_lemma_2_would_promise():
    """Sizes 5, 3, 3, 3 with Θ = 2 and t = 0."""
    edges = {(0, 1), (0, 5), (1, 5), (2, 8), (2, 9), (3, 10), (3, 11), (4, 12), (4, 13)}
    groups = [[0, 1, 2, 3, 4], [5, 6, 7], [8, 9, 10], [11, 12, 13]]
    assert max(degree(v, range(14), edges) for v in range(14)) == 2 <= lemma_2(groups=4, neighbours=0)
    assert stuck(groups, edges, t=0)
    # with equitable sizes, 4, 4, 3, 3, it is promised
    assert equitable_bound(14, 4, 1) == Fraction(13, 6)
    assert swap_bound(14, 4, 1) == 2


def test_erratum_12_the_degree_of_theorem_3_is_a_whole_number():
    for theta in range(30):
        for groups in range(1, 30):
            t = theorem_3(theta, groups)
            assert t >= 0
            assert theta <= lemma_2(groups, t)
            assert t == 0 or theta > lemma_2(groups, t - 1)
    assert theorem_3(theta=1, groups=4) == 0 > Fraction(2 * 1, 4) - 1


def test_erratum_14_the_bound_is_not_monotone_in_k():
    assert allowed_neighbours(10, Fraction("0.8")) == 1 and allowed_neighbours(11, Fraction("0.8")) == 2
    assert swap_bound(110, 10, "0.8") > swap_bound(110, 11, "0.8")
    # what is promised for k is the best over all sizes from k on
    found = bounds(110, 10, "0.8")
    assert (found.swaps, found.swap_groups) == (swap_bound(110, 10, "0.8"), 10)
    for k in range(2, 110):
        assert bounds(110, k, "0.8").guaranteed >= bounds(110, k + 1, "0.8").guaranteed


def test_erratum_15_a_clique_above_the_largest_share_rules_it_out():
    delta = Fraction("0.8")
    share = max(Fraction(allowed_neighbours(s, delta) + 1, s) for s in range(10, 111))
    assert share == Fraction(3, 11)
    for count, verdict in ((30, "open"), (31, "impossible")):
        values = [7] * count + [100 + 10 * i for i in range(110 - count)]
        found = feasibility(number_table(values), None, sf.Dissimilarity(1, delta, 10))
        assert found.verdict == verdict
    assert found.certificate.count == 31 > 110 * share
    assert (found.certificate.most, found.certificate.values) == (30, ("7",))
    assert found.attributes[0].nearest.not_excluded.delta < delta


def test_a_value_near_everybody_rules_it_out_though_no_clique_does():
    edges = {(0, v) for v in range(1, 8)}
    table = graph_table(8, edges)
    found = feasibility(table, None, sf.Dissimilarity("0.5", "0.1", 2))
    assert found.certificate.kind == "crowd"
    assert heavy_clique(View(table, ["x"]).graph(Fraction("0.5"))).count == 2
