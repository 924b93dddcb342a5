"""XColor: exchanges lower the potential, and counter-examples to claims of Wang & Liu (2010)."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from exchanged_graphs import degrees, exchanged, graph_task, potential
from naive_exchanges import lowering_cycles
from sfumato.anonymization.feasibility.exchange_bounds import cycle_bound
from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.mondrian import Mondrian
from sfumato.anonymization.methods.neighbour_arrays import NeighbourArrays
from sfumato.anonymization.methods.xcolor import XColor, guarantee, initialize


def inside(edges, of_row):
    """The number of neighbours that each vertex has in its class."""
    own = [0] * len(of_row)
    for u, v in edges:
        if of_row[u] == of_row[v]:
            own[u] += 1
            own[v] += 1
    return own


def violations(edges, of_row, allowed):
    sizes = np.bincount(of_row)
    own = inside(edges, of_row)
    return [v for v, g in enumerate(of_row) if own[v] > allowed(int(sizes[g]))]


def swaps_that_help(edges, of_row, v):
    """The rows whose exchange with v lowers the potential, by trying every one."""
    before = potential(edges, of_row)
    for u in range(len(of_row)):
        other = list(of_row)
        other[u], other[v] = other[v], other[u]
        if potential(edges, other) < before:
            yield u


def none(size):
    return 0


@st.composite
def graphs(draw, most=12):
    count = draw(st.integers(4, most))
    pairs = list(itertools.combinations(range(count), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=2 * count))
    return edges, draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))


@given(graphs(), st.integers(2, 4), st.sampled_from(["1", "0.7", "0.6", "0.5", "0.3"]))
def test_below_the_bound_nobody_violates(graph, k, delta):
    edges, ages = graph
    principle = sf.Dissimilarity(1, delta, k)
    task = graph_task(edges, ages, principle)
    found = XColor().group(task)
    sizes = np.bincount(found.of_row)
    assert sizes.min() >= k
    assert sizes.max() - sizes.min() <= 1
    assert len(sizes) == len(ages) // k
    left = violations(edges, found.of_row.tolist(), principle.allowed_neighbours)
    assert task.satisfied(found.of_row).all() == (not left)
    bound = guarantee(sizes, principle.allowed_neighbours)
    theta = int(degrees(edges, len(ages)).max())
    certain = theta < bound or theta <= cycle_bound(len(ages), len(sizes), delta)
    assert not (left and certain)
    assert ("were certain" in found.notes[0]) == certain
    assert (len(found.notes) == 2) == bool(left)
    if left:  # stuck means stuck
        near = [[{u, v} in map(set, edges) for u in range(len(ages))] for v in range(len(ages))]
        assert not list(lowering_cycles(near, found.of_row))
    assert (XColor().group(task, seed=3).of_row == found.of_row).all()


@given(graphs(), st.integers(2, 4), st.integers(0, 1), st.randoms(use_true_random=False))
def test_every_exchange_lowers_the_potential(graph, k, t, random):
    edges, ages = graph
    task = graph_task(edges, ages)
    of_row = [v // k for v in range(len(ages))]
    random.shuffle(of_row)
    sizes = np.bincount(of_row)
    while violations(edges, of_row, lambda size: t):
        step = exchanged(task, of_row, lambda size: t, limit=1)
        assert step.potential == (potential(edges, of_row), potential(edges, step.of_row.tolist()))
        assert step.violations.tolist() == violations(edges, step.of_row.tolist(), lambda size: t)
        if not step.swaps + step.cycles:
            break
        assert step.potential[1] < step.potential[0]
        of_row = step.of_row.tolist()
        assert (np.bincount(of_row) == sizes).all()
    assert exchanged(task, of_row, lambda size: t).swaps == 0


@given(graphs(), st.integers(2, 4))
def test_the_least_loss_is_chosen(graph, k):
    """The first swap, against all swaps of the violation whose departure saves most."""
    edges, ages = graph
    of_row = initialize(degrees(edges, len(ages)), k).tolist()
    step = exchanged(graph_task(edges, ages), of_row, none, limit=1)
    if not step.swaps:
        return

    def loss(groups):
        spans = ([age for age, g in zip(ages, groups, strict=True) if g == name] for name in set(groups))
        return sum(len(span) * (max(span) - min(span)) for span in spans)

    def saved(v):
        rest = [age for i, age in enumerate(ages) if of_row[i] == of_row[v] and i != v]
        return max([*rest, ages[v]]) - min([*rest, ages[v]]) - (max(rest) - min(rest))

    def movable(v, u):
        return inside(edges, [of_row[u] if i == v else -1 - i if i == u else g for i, g in enumerate(of_row)])[v] == 0

    def after(v, u):
        other = list(of_row)
        other[u], other[v] = other[v], other[u]
        return loss(other)

    for v in sorted(violations(edges, of_row, none), key=lambda v: (-saved(v), v)):
        helping = list(swaps_that_help(edges, of_row, v))
        if helping:
            best = min((not movable(v, u), after(v, u)) for u in helping)
            assert loss(step.of_row.tolist()) == best[1]
            break


def test_every_violation_is_tried():
    """The first violation finds no partner, where Algorithm 2 of Wang & Liu (2010) stops; others do, and none is left."""
    edges = [(0, 2), (0, 5), (0, 6), (1, 4), (1, 5), (1, 6), (2, 3), (2, 7), (3, 5), (3, 6), (4, 7)]
    ages = [8, 6, 5, 1, 7, 5, 3, 1]  # without row 3 the first group is from 5 to 8
    start = [0, 0, 0, 0, 1, 1, 1, 1]
    assert violations(edges, start, none) == [0, 2, 3, 4, 7]
    assert not list(swaps_that_help(edges, start, 3))
    assert not len(exchanged(graph_task(edges, ages), start, none).violations)
    assert not exchanged(graph_task(edges, ages), start, none, looks=1).exhausted


def test_the_first_violation_is_stuck_by_the_letter():
    """n = 8, k = 2, δ = 0.5, Θ = 3 satisfies Inequality (4) of Wang & Liu (2010); by their Definition 15 row 0 is stuck."""
    edges = [(0, 4), (0, 5), (0, 6), (1, 2), (1, 5), (1, 6), (3, 4), (3, 6), (4, 5)]
    start = initialize(degrees(edges, 8), 2).tolist()
    assert violations(edges, start, none) == [0, 6]
    for u in swaps_that_help(edges, start, 0):
        there = [w for w in range(8) if start[w] == start[u]]
        assert any((0, w) in edges for w in there), "a class with a neighbour is not movable to"
    task = graph_task(edges, [6, 1, 4, 2, 1, 0, 6, 9], sf.Dissimilarity(1, "0.5", 2))
    assert task.satisfied(XColor().group(task).of_row).all()


def test_a_cycle_of_three_helps_where_no_swap_does():
    """n = 12, k = 3, δ = 0.7, Θ = 3: swaps alone are stuck."""
    edges = [(0, 3), (0, 4), (0, 10), (1, 5), (1, 6), (1, 7), (2, 4), (2, 11), (3, 5), (3, 8), (5, 8), (6, 7), (6, 9),
             (7, 9), (8, 10), (9, 11), (10, 11)]  # fmt: skip
    allowed = sf.Dissimilarity(1, "0.7", 3).allowed_neighbours
    task = graph_task(edges, range(12))
    start = [1, 2, 2, 2, 3, 3, 0, 0, 1, 3, 0, 1]
    assert violations(edges, start, allowed) == [6, 7]
    assert not any(list(swaps_that_help(edges, start, v)) for v in (6, 7))
    stuck = exchanged(task, start, allowed, cycle_tests=0)
    assert (stuck.swaps, stuck.cycles, stuck.exhausted) == (0, 0, False)
    found = exchanged(task, start, allowed)
    assert (found.cycles, found.longest_cycle) == (1, 3)
    assert not violations(edges, found.of_row.tolist(), allowed)


def test_sizes_are_equitable():
    """With n = 29 and k = 10 there are two groups of 14 and 15 rows; Algorithm 1 of Wang & Liu (2010) has no bucket left."""
    assert sorted(np.bincount(initialize(np.arange(29), 10))) == [14, 15]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(1, 12))
def test_initial_groups_are_balanced(numbers, k):
    of_row = initialize(np.array(numbers), k)
    sizes = np.bincount(of_row)
    assert len(sizes) == max(len(numbers) // k, 1)
    assert sizes.max() - sizes.min() <= 1
    # each row went to a group whose sum was least among those that were not full then
    sums, filled = [0] * len(sizes), [0] * len(sizes)
    order = np.argsort(-np.array(numbers), kind="stable").tolist()
    for i, row in enumerate(order):
        full = len(numbers) // len(sizes) + (i >= len(numbers) // len(sizes) * len(sizes))
        free = [g for g in range(len(sizes)) if filled[g] < full]
        assert of_row[row] == min(free, key=lambda g: (sums[g], g))
        sums[of_row[row]] += numbers[row]
        filled[of_row[row]] += 1


def test_unequal_sizes_have_a_sharper_bound():
    """Sizes 5, 3, 3, 3 with Θ = 2 are stuck, although success is guaranteed for four groups of 3."""
    edges = [(0, 5), (0, 7), (1, 2), (1, 10), (2, 10), (3, 6), (3, 11), (4, 12), (4, 13), (5, 13), (6, 8), (7, 9), (8, 11)]
    start = [0] * 5 + [1] * 3 + [2] * 3 + [3] * 3
    assert degrees(edges, 14).max() == 2 < guarantee(np.full(4, 3), none)
    assert guarantee(np.bincount(start), none) < 2
    left = violations(edges, start, none)
    assert left
    assert not any(list(swaps_that_help(edges, start, v)) for v in left)
    assert len(exchanged(graph_task(edges, range(14)), start, none, cycle_tests=0).violations) == len(left)


def test_an_exchange_may_raise_the_number_of_violations():
    """So progress is measured by the potential."""
    edges = [(0, 1), (0, 8), (0, 11), (1, 2), (2, 3), (2, 4), (2, 5), (3, 4), (3, 6), (3, 9), (4, 7), (4, 8), (6, 9),
             (6, 10), (6, 11), (7, 10), (7, 11), (8, 9), (9, 11)]  # fmt: skip
    start = [v // 4 for v in range(12)]

    def one(size):
        return 1

    step = exchanged(graph_task(edges, range(12)), start, one, limit=1)
    assert step.swaps == 1
    assert len(step.violations) == 4 > len(violations(edges, start, one)) == 3
    assert step.potential[1] < step.potential[0]
    assert not len(exchanged(graph_task(edges, range(12)), start, one).violations)


def test_utility_comes_last():
    """Even if any groups are allowed, those of XColor span most of the range."""
    task = graph_task([(v, v + 1) for v in range(0, 40, 2)], range(40), sf.Dissimilarity(1, "0.5", 4))

    def widths(of_row):
        return [np.ptp(np.flatnonzero(of_row == g)) for g in range(of_row.max() + 1)]

    assert max(widths(Mondrian().group(task).of_row)) < 8
    assert min(widths(XColor().group(task).of_row)) == 30


def numbers_task(pay, *principles, **schema):
    data = pa.table({"age": list(range(len(pay))), "pay": pay, "who": [str(v // 2) for v in range(len(pay))]})
    return Task(sf.Table(data, sf.Schema(["age"], ["pay"], **schema)), principles)


def test_values_in_an_order_give_the_same_groups_as_pairs():
    """Windows and bits represent the same neighbours."""
    pay = [int(x) for x in np.random.default_rng(5).integers(0, 60, 60)]
    requirement = sf.Dissimilarity(4, "0.7", 5)
    along, paired = (
        numbers_task(pay, requirement),
        numbers_task(pay, requirement, distance=sf.distances.Custom(lambda x, y: abs(x - y))),
    )
    found = XColor().group(along).of_row
    assert (found == XColor().group(paired).of_row).all()
    assert along.satisfied(found).all()


def test_k_is_the_largest_asked_for():
    pay = list(range(0, 120, 10))
    assert XColor().group(numbers_task(pay, sf.Dissimilarity(1, 1, 2), sf.KAnonymity(4))).count == 3
    assert XColor().group(numbers_task(pay, sf.Dissimilarity(1, 1))).count == 6  # a group of one has risk 1
    assert XColor().group(numbers_task(pay, sf.Dissimilarity(1, 0))).count == 12


@pytest.mark.parametrize(
    ("principles", "schema"),
    [
        ((sf.KAnonymity(2),), {}),
        ((sf.Dissimilarity(1, 1), sf.Dissimilarity(2, "0.5")), {}),
        ((sf.Dissimilarity(1, 1), sf.DistinctLDiversity(2)), {}),
        ((sf.Dissimilarity(1, 1, 2),), {"person_id": "who"}),
    ],
)
def test_what_is_not_served_is_refused(principles, schema):
    with pytest.raises(sf.errors.ParameterError, match='"auto"'):
        XColor().group(numbers_task([1, 2, 3, 4], *principles, **schema))


def test_a_k_that_cannot_be_reached_is_an_error():
    with pytest.raises(sf.errors.ParameterError, match="larger than the table"):
        XColor().group(numbers_task([1, 2, 3], sf.Dissimilarity(1, 1, 4)))


def test_too_many_values_without_an_order_are_an_error():
    pay = list(range(41_000))
    with pytest.raises(sf.errors.ParameterError, match="41,000 distinct values"):
        view = numbers_task(pay, sf.Dissimilarity(1, 1, 2), distance=sf.distances.Lp()).views[("pay",)]
        graph = view.graph(sf.Dissimilarity(1, 1).epsilon)
        graph.bound.windows = lambda epsilon: None
        NeighbourArrays.of(graph)


def test_sets_and_no_quasi_identifiers():
    data = pa.table({"town": list("abcabcab"), "pay": [1, 1, 2, 2, 3, 3, 4, 4]})
    for quasi in (["town"], []):
        task = Task(sf.Table(data, sf.Schema(quasi, ["pay"])), (sf.Dissimilarity(0, 1, 4),))
        found = XColor().group(task)
        assert task.satisfied(found.of_row).all()
        assert np.bincount(found.of_row).tolist() == [4, 4]
    # from a start in which each group holds two equal pairs, the swap that leaves the fewest towns in a group is made
    task = Task(sf.Table(data, sf.Schema(["town"], ["pay"])), (sf.Dissimilarity(0, 1, 4),))
    found = exchanged(task, [0, 0, 0, 0, 1, 1, 1, 1], none)
    assert not len(found.violations)


@pytest.mark.data
def test_real_data_ends_without_violations(real_data):
    folder = real_data / "acs2018"
    quasi = ["age", "gender", "marital", "race"]
    hierarchies = {n: folder / f"hierarchies/{n}.csv" for n in (*quasi[1:], "occupation")}
    schema = sf.Schema(quasi, ["occupation"], hierarchies=hierarchies)
    task = Task(sf.read_table(folder / "sal_occ_sample2000.csv", schema), (sf.Dissimilarity("0.25", "0.8", 10),))
    assert task.satisfied(XColor().group(task).of_row).all()
