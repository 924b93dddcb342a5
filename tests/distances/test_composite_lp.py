"""L^p over a taxonomy, sets and texts beside numbers, against exact sums of the components' own distances."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import sfumato as sf
from bound_distances import TREE, bound, decimals, with_missing
from sfumato.distances.jaro import exact_jaro, exact_jaro_winkler
from sfumato.distances.neighbour_counters import BallCounter

composites = st.lists(
    st.tuples(
        st.one_of(decimals, st.none()),
        st.one_of(st.sampled_from(list(TREE)), st.none()),
        st.one_of(st.frozensets(st.sampled_from("pqrs"), max_size=3), st.none()),
        st.one_of(st.sampled_from(["MARTHA", "MARHTA", "BAAAA", "BAABBB", "DIXON"]), st.none()),
    ),
    min_size=1,
    max_size=6,
)
some_weights = st.tuples(*[st.sampled_from(["0", "0.3", "1/3", "1", "2"])] * 4).filter(
    lambda ws: any(Fraction(w) for w in ws)
)


@given(composites, some_weights, st.sampled_from([1, 2, 3, "inf"]), st.sampled_from(["jaro", "jaro-winkler", "discrete"]))
def test_lp_of_a_taxonomy_sets_and_texts(rows, weight, p, texts):
    """Every component has its own exact distance; near at ε exactly if the sum of their powers is at most ε^p."""
    numbers = [None if row[0] is None else Fraction(row[0]) for row in rows]
    known = [number for number in numbers if number is not None]
    span = (max(known) - min(known) if known else 0) or 1
    w = [Fraction(x) for x in weight]
    similarity = {"jaro": exact_jaro, "jaro-winkler": exact_jaro_winkler}.get(texts, lambda a, b: Fraction(a == b))
    components = [
        with_missing(lambda x, y: abs(x - y) / span, Fraction(1)),
        with_missing(lambda x, y: Fraction(naive.common_level(TREE[x], TREE[y]), 2), Fraction(1)),
        with_missing(naive.jaccard, Fraction(1)),
        with_missing(lambda x, y: 1 - similarity(x, y), Fraction(1)),
    ]
    columns = {name: pa.array([row[j] for row in rows], pa.string()) for j, name in enumerate("nct") if name != "t"}
    columns["s"] = pa.array([None if row[2] is None else sorted(row[2]) for row in rows], pa.list_(pa.string()))
    columns["t"] = pa.array([row[3] for row in rows], pa.string())
    distance = sf.distances.Lp(
        p=p, weights=dict(zip("ncst", weight, strict=True)), by={"c": "taxonomy", "s": "jaccard", "t": texts}
    )
    tree = sf.Hierarchy.from_rows(TREE.values())
    bound_, codes = bound(columns, distance, kinds={"n": "numeric", "t": "text"}, hierarchies={"c": tree})

    def power_sum(i, j):
        values = [(numbers[i], numbers[j]), *((rows[i][c], rows[j][c]) for c in (1, 2, 3))]
        parts = [d(x, y) for d, (x, y) in zip(components, values, strict=True)]
        if p == "inf":
            return max(a * d for a, d in zip(w, parts, strict=True)) / max(w)
        return sum(a * d**p for a, d in zip(w, parts, strict=True)) / sum(w)

    power = 1 if p == "inf" else p
    everyone = np.arange(len(bound_.attribute))
    row_of = {int(code): i for i, code in enumerate(codes)}
    sums = {(v, u): power_sum(row_of[v], row_of[u]) for v, u in product(everyone, everyone)}
    ties = {s for s in sums.values() if power == 1}
    tiny = Fraction(1, 10**20)
    for epsilon in {*ties, *(t - tiny for t in ties if t > 0), *map(Fraction, ("0", "0.1", "1/3", "0.5", "2/3", "1", "9"))}:
        expected = np.array([[sums[v, u] <= epsilon**power for u in everyone] for v in everyone])
        assert (bound_.near(everyone, everyone, epsilon) == expected).all(), epsilon
        balls = BallCounter(bound_.balls(epsilon))
        ones = np.ones(len(everyone), np.int64)
        assert (balls.counts(np.array([0, len(everyone)]), everyone, ones) == expected.sum(axis=1)).all()
    floats = bound_.distances(everyone, everyone)
    assert np.allclose(floats, [[float(sums[v, u]) ** (1 / power) for u in everyone] for v in everyone])


@given(st.lists(st.one_of(st.sampled_from(list(TREE)), st.none()), min_size=1, max_size=8), st.sampled_from([1, 2, "inf"]))
def test_lp_of_a_taxonomy_alone_is_the_taxonomy(values, p):
    columns = {"s": pa.array(values, pa.string())}
    tree = {"hierarchies": {"s": sf.Hierarchy.from_rows(TREE.values())}}
    alone, codes = bound(columns, sf.distances.Taxonomy(), **tree)
    lp, _ = bound(columns, sf.distances.Lp(p=p, by={"s": "taxonomy"}), **tree)
    assert lp.exact is not None
    for epsilon in map(Fraction, ("0", "0.49", "0.5", "0.99", "1", "2")):
        assert (alone.near(codes, codes, epsilon) == lp.near(codes, codes, epsilon)).all()


def test_how_a_column_of_lp_may_be_compared():
    assert sf.distances.Lp(by={"s": "jaccard"}).is_metric
    assert not sf.distances.Lp(by={"s": "jaccard", "t": "jaro"}).is_metric
    columns = {"n": [0, 10], "c": ["x", "y"]}
    for by, words_ in (
        ({"c": "taxonomy"}, "requires a hierarchy"),
        ({"c": "jaccard"}, "'jaccard' cannot be applied to a column of kind 'categorical'"),
        ({"n": "jaro"}, "'jaro' cannot be applied to a column of kind 'numeric'"),
        ({"c": "rank"}, "'lp by rank' cannot be applied"),
    ):
        with pytest.raises(sf.errors.ColumnError, match=words_):
            bound(columns, sf.distances.Lp(by=by))
    with pytest.raises(sf.errors.ParameterError, match="not compared by value"):
        bound(columns, sf.distances.Lp(by={"n": "discrete"}, ranges={"n": [0, 10]}))
    bound_, codes = bound(columns, sf.distances.Lp(by={"n": "discrete"}))
    assert bound_.distances(codes, codes).tolist() == [[0, 1], [1, 0]]


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(-2, 6), st.sampled_from("ab")), min_size=3, max_size=7),
    st.booleans(),
    st.sampled_from([["x"], ["x", "y"], ["y", "name"], ["x", "y", "name"]]),
    st.sampled_from([1, "inf", 2]),
    st.fractions(0, 1, max_denominator=12),
    st.sampled_from(["1", "0", "1/2", "3"]),
)
def test_points_of_a_plane_are_near_exactly_where_their_values_are(rows, missing, names, p, epsilon, weight):
    x = ["" if missing and not x else str(x) for x, _, _ in rows]
    frame = pa.table({"x": x, "y": [str(y) for _, y, _ in rows], "name": [name for _, _, name in rows]})
    weights = {name: weight if name == "y" and len(names) > 1 else "1" for name in names}
    schema = sf.Schema(sensitive=names, kinds={"x": "numeric", "y": "numeric"}, distance=sf.distances.Lp(p, weights))
    graph = sf.principles.View(sf.Table(frame, schema), names).graph(epsilon)
    plane, every = graph.plane, np.arange(len(graph.attribute))
    if plane is None:
        assert p == 2 or missing or "name" in names
        return
    apart = [np.abs(along[:, None] - along) > plane.side for along in (plane.x, plane.y)]
    other = plane.of_class[:, None] != plane.of_class
    assert (~(apart[0] | apart[1] | other) == graph.bound.near(every, every, epsilon)).all()
