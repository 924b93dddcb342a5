"""The neighbour graph: all four structures give the naive answer, and none needs n × n where it must not."""

from __future__ import annotations

import itertools
import tracemalloc
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.distances.neighbour_counters import BallCounter, BitsetCounter, PairCounter, WindowCounter
from sfumato.exact import written


def attribute_of(columns, **schema):
    table = sf.Table(pa.table(columns), sf.Schema(sensitive=list(columns), **schema))
    return table.attribute(list(columns))


def naive_counts(bound, epsilon, offsets, values, counts):
    near = bound.near(np.arange(len(bound.attribute)), np.arange(len(bound.attribute)), epsilon)
    out = []
    for start, stop in itertools.pairwise(offsets):
        for i in range(start, stop):
            out.append(sum(int(counts[j]) for j in range(start, stop) if near[values[i], values[j]]))
    return out


def random_sets(random, size, sets):
    """Sets of distinct ascending values with counts, some large enough for the bit planes and the tree."""
    offsets, values = [0], []
    for _ in range(sets):
        some = np.flatnonzero(random.random(size) < random.choice([0.02, 0.3, 1.0]))
        some = some if len(some) else np.array([0])
        values.extend(some.tolist())
        offsets.append(len(values))
    counts = random.integers(1, 9, len(values))
    return np.array(offsets), np.array(values), counts


@given(st.integers(0, 10**6), st.sampled_from(["grid", "floats", "names"]), st.sampled_from([1, 2, "inf"]))
def test_structures_agree(seed, shape, p):
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 300))
    if shape == "grid":
        columns = {"x": random.integers(0, 12, size), "y": random.integers(0, 9, size)}
    elif shape == "floats":
        columns = {"x": random.random(size), "y": random.random(size)}
    else:
        columns = {"x": random.integers(0, 30, size), "y": random.choice(list("abc"), size)}
    attribute = attribute_of(columns)
    bound = sf.distances.Lp(p=p, weights={"x": "0.4", "y": "0.6"}).bind(attribute)
    epsilon = Fraction(int(random.integers(0, 12)), 12)
    sets = random_sets(random, len(attribute), 4)
    expected = naive_counts(bound, epsilon, *sets)
    assert BitsetCounter(bound, epsilon, len(attribute)).counts(*sets).tolist() == expected
    assert BallCounter(bound.balls(epsilon)).counts(*sets).tolist() == expected
    assert PairCounter(bound, epsilon).counts(*sets).tolist() == expected


@given(st.integers(0, 10**6), st.sampled_from([1, 2, "inf"]))
def test_structures_agree_on_a_composite_with_missing_parts(seed, p):
    """Numbers (some missing), a taxonomy and sets: the tree lists what the coordinates cannot decide."""
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 200))
    letters = list("abcdefgh")
    tree = sf.Hierarchy.from_rows([[x, str(i % 3), str(i % 3 % 2), "*"] for i, x in enumerate(letters)])
    columns = {
        "x": pa.array(random.integers(0, 40, size), mask=random.random(size) < 0.2),
        "c": random.choice(letters, size),
        "s": [sorted(set(random.choice(list("pqrst"), 3))) for _ in range(size)],
    }
    attribute = attribute_of(columns, hierarchies={"c": tree})
    distance = sf.distances.Lp(p=p, weights={"x": 3, "c": 2, "s": 1}, by={"c": "taxonomy", "s": "jaccard"})
    bound = distance.bind(attribute)
    epsilon = Fraction(int(random.integers(0, 12)), 12)
    sets = random_sets(random, len(attribute), 4)
    expected = naive_counts(bound, epsilon, *sets)
    assert BitsetCounter(bound, epsilon, len(attribute)).counts(*sets).tolist() == expected
    assert BallCounter(bound.balls(epsilon)).counts(*sets).tolist() == expected
    assert sf.distances.NeighbourGraph(attribute, distance, epsilon).counts(*sets).tolist() == expected


@given(st.integers(0, 10**6))
def test_windows_agree(seed):
    random = np.random.default_rng(seed)
    letters = list("abcdefgh")
    tree = sf.Hierarchy.from_rows([[x, str(i % 3), str(i % 3 % 2), "*"] for i, x in enumerate(letters)])
    for columns, distance, schema in (
        ({"s": random.integers(0, 500, 200)}, sf.distances.Absolute(), {}),
        ({"s": random.choice(letters, 40)}, sf.distances.Taxonomy(), {"hierarchies": {"s": tree}}),
        ({"s": random.choice(letters, 40)}, sf.distances.Discrete(), {}),
    ):
        attribute = attribute_of(columns, **schema)
        bound = distance.bind(attribute)
        for epsilon in map(Fraction, ("0", "1/3", "2/3", "1", "40")):
            sets = random_sets(random, len(attribute), 3)
            found = WindowCounter(bound.windows(epsilon)).counts(*sets).tolist()
            assert found == naive_counts(bound, epsilon, *sets)


def test_pairs_that_floats_cannot_tell_are_settled_exactly():
    """Points of 25 digits, many of them exactly ε apart: every one of these pairs is listed and decided."""
    steps = [Fraction(i, 10**25) + Fraction(i, 10) for i in range(60)]
    texts = [written(step) for step in steps]
    attribute = attribute_of({"x": texts, "y": [0, 1] * 30}, kinds={"x": "numeric"})
    bound = sf.distances.Lp(weights={"x": 1, "y": 0}).bind(attribute)
    assert bound.exact is None
    span = steps[-1] - steps[0]
    epsilon = (steps[1] - steps[0]) / span
    counter = BallCounter(bound.balls(epsilon))
    sets = np.array([0, 60]), np.arange(60), np.ones(60, np.int64)
    assert counter.counts(*sets).tolist() == [2] + [3] * 58 + [2]
    less = epsilon - Fraction(1, 10**40)
    assert BallCounter(bound.balls(less)).counts(*sets).tolist() == [1] * 60


def test_degrees_count_tuples():
    graph = sf.distances.NeighbourGraph(attribute_of({"s": [1, 1, 2, 5, 5, 5]}), sf.distances.Absolute(), 1)
    assert graph.degrees.tolist() == [2, 2, 2]
    assert graph.max_degree == 2
    assert graph.neighbourhood(0).tolist() == [0, 1]
    assert graph.edges() == [(0, 1)]


def test_negative_epsilon():
    with pytest.raises(sf.errors.ParameterError, match="negative"):
        sf.distances.NeighbourGraph(attribute_of({"s": [1]}), sf.distances.Absolute(), -1)


def test_ten_thousand_values_in_one_bitset():
    size = 10_000
    random = np.random.default_rng(0)
    cells = random.permutation(200 * 200)[:size]
    attribute = attribute_of({"x": cells // 200, "y": cells % 200})
    graph = sf.distances.NeighbourGraph(attribute, sf.distances.Lp(), "0.01")
    assert isinstance(graph.counter, BitsetCounter)
    assert graph.counter.bits.nbytes <= size * (size + 64) / 8
    x, y = cells // 200, cells % 200
    # at ε = 0.01 of half-weighted spans of 199: |dx| + |dy| ≤ 3
    for i in random.integers(0, size, 20):
        row = attribute.codes[i]
        assert graph.degrees[row] == ((abs(x - x[i]) + abs(y - y[i])) <= 3).sum() - 1


@pytest.mark.parametrize("dimensions", [1, 2])
def test_three_hundred_thousand_different_values(dimensions):
    size = 300_000
    random = np.random.default_rng(1)
    columns = {f"c{j}": random.random(size) for j in range(dimensions)}
    attribute = attribute_of(columns)
    assert len(attribute) == size
    tracemalloc.start()
    distance = sf.distances.Absolute() if dimensions == 1 else sf.distances.Lp()
    graph = sf.distances.NeighbourGraph(attribute, distance, "0.002")
    degrees = graph.degrees
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400e6
    points = np.column_stack(list(columns.values()))
    spans = points.max(axis=0) - points.min(axis=0)
    for i in random.integers(0, size, 10):
        apart = (np.abs(points - points[i]) / (1 if dimensions == 1 else spans)).mean(axis=1)
        assert degrees[attribute.codes[i]] == (apart <= 0.002).sum() - 1


def test_many_values_of_a_composite_with_sets_and_missing_numbers():
    """The tree over the numbers leaves few pairs whose sets are compared, and never a matrix of all pairs."""
    size = 17_000
    random = np.random.default_rng(2)
    gone = random.random(size) < 0.01
    numbers = random.permutation(size)
    sets = [sorted(set(random.choice(list("abcdef"), 2))) for _ in range(size)]
    attribute = attribute_of({"x": pa.array(numbers, mask=gone), "s": sets})
    graph = sf.distances.NeighbourGraph(
        attribute, sf.distances.Lp(weights={"x": 9, "s": 1}, by={"s": "jaccard"}), Fraction(1, 50)
    )
    tracemalloc.start()
    degrees = graph.degrees
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
    span = int(numbers[~gone].max() - numbers[~gone].min())
    for i in random.integers(0, size, 3):
        near = 0
        for j in range(size):
            apart = Fraction(int(abs(numbers[i] - numbers[j])), span) if not (gone[i] or gone[j]) else gone[i] != gone[j]
            if apart <= Fraction(1, 45):
                one, other = set(sets[i]), set(sets[j])
                near += (9 * apart + 1 - Fraction(len(one & other), len(one | other))) / 10 <= Fraction(1, 50)
        assert degrees[attribute.codes[i]] == near - 1
