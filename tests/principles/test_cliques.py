"""Heavy cliques against all sets of values, and the searches for one where no order of the values shows it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from all_partitions import number_table
from sfumato.principles import View, cliques
from sfumato.principles.cliques import heavy_clique
from small_tables import THRESHOLDS, TREE


def naive_clique(bound, epsilon, counts):
    size = len(counts)
    near = bound.near(np.arange(size), np.arange(size), epsilon)
    best = 0
    for mask in range(1, 2**size):
        chosen = [v for v in range(size) if mask >> v & 1]
        if near[np.ix_(chosen, chosen)].all():
            best = max(best, sum(int(counts[v]) for v in chosen))
    return best


@given(
    st.lists(st.sampled_from("abcde"), min_size=1, max_size=9),
    st.sampled_from(["discrete", "taxonomy"]),
    st.sampled_from(THRESHOLDS),
)
def test_the_heaviest_clique_along_an_order(values, kind, epsilon):
    schema = sf.Schema(
        sensitive=["x"],
        hierarchies={"x": sf.Hierarchy.from_rows(TREE.values())} if kind == "taxonomy" else {},
        distance=sf.distances.Taxonomy() if kind == "taxonomy" else sf.distances.Discrete(),
    )
    view = View(sf.Table(pa.table({"x": values}), schema), ["x"])
    clique = heavy_clique(view.graph(epsilon))
    assert clique.largest
    assert clique.count == naive_clique(view.graph(epsilon).bound, epsilon, view.attribute.counts)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9), st.integers(0, 9))
def test_the_heaviest_clique_of_numbers(values, epsilon):
    view = View(number_table(values), ["x"])
    clique = heavy_clique(view.graph(Fraction(epsilon)))
    assert clique.count == max(sum(low <= v <= low + epsilon for v in values) for low in values)


def plane_graph(points, epsilon, metric):
    distance = sf.distances.Lp(p=1) if metric else sf.distances.MinCoordinate()
    table = sf.Table(
        pa.table({"x": [x for x, _ in points], "y": [y for _, y in points]}),
        sf.Schema(sensitive=["x", "y"], distance=distance),
    )
    return View(table, ["x", "y"]).graph(epsilon)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=10), st.integers(0, 12), st.booleans())
def test_a_clique_that_was_searched_for_is_one(points, epsilon, metric):
    graph = plane_graph(points, Fraction(epsilon, 12) if metric else Fraction(epsilon), metric)
    clique = heavy_clique(graph)
    counts = graph.attribute.counts
    assert graph.bound.near(clique.values, clique.values, graph.epsilon).all()
    assert clique.count == int(counts[clique.values].sum())
    assert len(set(clique.values.tolist())) == len(clique.values)
    assert not clique.largest or clique.count == naive_clique(graph.bound, graph.epsilon, counts)
    everything = len(points) == clique.count
    assert clique.largest == everything or graph.windows is not None


def custom_graph(counts, near):
    """Return the graph of values 0, 1, … with numbers of rows, whose edges are the pairs for which `near` is true."""
    distance = sf.distances.Custom(lambda x, y: 0 if x == y else 0.25 if near(int(x), int(y)) else 1)
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    return View(sf.Table(pa.table({"x": values}), sf.Schema(sensitive=["x"], distance=distance)), ["x"]).graph(
        Fraction(1, 2)
    )


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=8))
def test_of_cliques_without_an_edge_between_them_the_heaviest_is_found(values):
    """Its values have the highest degree."""
    where, counts = zip(*values, strict=True)
    weights = [sum(count for place, count in values if place == clique) for clique in range(3)]
    found = heavy_clique(custom_graph(counts, lambda x, y: where[x] == where[y]))
    assert found.count == max(weights)
    assert found.largest == (len(set(where)) == 1)


def test_cliques_where_the_distance_is_no_metric():
    """Three points on a line; the fourth is farther than 1 from each in both coordinates."""
    assert heavy_clique(plane_graph([(0, 0), (0, 5), (0, 9), (4, 7)], Fraction(1), metric=False)).count == 3


def test_all_values_within_half_the_distance_of_one_are_a_clique():
    """Five values are pairwise within 4 of one another, but two others have more neighbours, and one has more rows."""

    def around(x, y, far):
        return [(x + far, y), (x - far, y), (x, y + far), (x, y - far)]

    hubs = [(20, 4), (20, 40)]
    twice = 2 * [point for hub in hubs for point in around(*hub, 4)]  # farther than 4 from one another
    points = [*hubs, *twice, (50, 30), *around(50, 30, 2), *3 * [(0, 0)], (60, 60)]
    assert heavy_clique(plane_graph(points, Fraction(4, 2 * 60), metric=True)).count == 5


@pytest.mark.parametrize(("pairs", "look", "found"), [(5, 1, 2), (6, 1, 3), (10, 1, 4), (10, 5, 3), (1, 1, 2)])
def test_a_search_ends_after_so_many_pairs(monkeypatch, pairs, look, found):
    """Values 0 to 5 are pairwise near, value 6 is apart: adding to a clique compares the next value with all that are left.

    The five others cost 5 pairs, then 4, 3, 2 and 1; fewer than `look` cost as many as that.
    """
    monkeypatch.setattr(cliques, "_COSTLY_PAIRS", pairs)
    monkeypatch.setattr(cliques, "_LOOK", look)
    assert heavy_clique(custom_graph([1] * 7, lambda x, y: max(x, y) < 6)).count == found
