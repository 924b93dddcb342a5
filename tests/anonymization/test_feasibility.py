"""Verdicts, certificates and the nearest parameters against all partitions of small tables; contours and frontiers."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import naive
import sfumato as sf
from all_partitions import all_partitions, degree, equitable, graph_table, number_table, satisfied
from sfumato.anonymization.feasibility import bounds, feasibility, frontier, vulnerability
from sfumato.exact import written
from sfumato.principles import View
from sfumato.principles.proximity_certificate import Crowding, excluded
from small_tables import THRESHOLDS

DELTAS = st.sampled_from(THRESHOLDS)


def crowding_of(table, epsilon):
    return Crowding.of(View(table, ["x"]).graph(Fraction(epsilon)))


graphs = st.integers(1, 7).flatmap(
    lambda n: st.tuples(st.just(n), st.sets(st.sampled_from(list(combinations(range(n), 2)) or [(0, 0)])).map(frozenset))
)
numbers = st.lists(st.integers(0, 9), min_size=1, max_size=6)


# verdicts


@given(graphs, DELTAS, st.integers(1, 7))
def test_verdicts_on_graphs(graph, delta, k):
    n, edges = graph
    edges = {(a, b) for a, b in edges if a != b}
    assume(k <= n)
    found = feasibility(graph_table(n, edges), None, sf.Dissimilarity("0.5", delta, k), nearby=False).attributes[0]

    def near(v, w):
        return v == w or (min(v, w), max(v, w)) in edges

    good = [groups for groups in all_partitions(n) if satisfied(groups, range(n), near, delta, k)]
    assert found.theta == max(degree(v, range(n), edges) for v in range(n))
    if found.verdict == "impossible":
        assert not good
        assert found.groups == 0
        assert found.certificate is not None
    elif found.verdict == "guaranteed":
        assert any(len(groups) == found.groups and equitable(groups) for groups in good)
    else:
        assert found.groups == 0


@settings(max_examples=60)
@given(numbers, st.integers(0, 4), DELTAS, st.integers(1, 4), st.lists(st.integers(1, 3), min_size=7, max_size=7))
def test_verdicts_and_nearest_parameters_on_numbers(values, epsilon, delta, k, times):
    """With one row per person, and with several that have the same value; what is nearest is where the verdict turns."""
    plain = number_table(values)
    who = [person for person, rows in zip(range(len(values)), times, strict=False) for _ in range(rows)]
    shared = sf.Table(
        pa.table({"x": [str(values[person]) for person in who], "who": who}),
        sf.Schema(sensitive=["x"], kinds={"x": "numeric"}, person_id="who"),
    )
    for table in (plain, shared):
        found = feasibility(table, None, sf.Dissimilarity(epsilon, delta, k)).attributes[0]

        def possible(e, d, least):
            return [
                groups
                for groups in all_partitions(len(values))
                if satisfied(groups, values, lambda v, w: abs(v - w) <= e, d, least)
            ]

        good = possible(epsilon, delta, k)
        assert found.verdict != "impossible" or not good
        assert found.verdict != "guaranteed" or any(len(groups) == found.groups for groups in good)
        held, open_ = found.nearest.guaranteed, found.nearest.not_excluded
        for requirement, changed in (
            (held.epsilon, lambda e: (e, delta, k)),
            (held.delta, lambda d: (epsilon, d, k)),
            (held.k, lambda least: (epsilon, delta, least)),
        ):
            assert requirement is None or any(len(groups) > 1 for groups in possible(*changed(requirement)))
        if k <= len(values):
            for above in range(max(values) - min(values) + 1):  # beyond, nothing changes
                assert (open_.epsilon is not None and above <= open_.epsilon) or not possible(above, delta, k)
            for above in [d for d in THRESHOLDS if d > open_.delta]:
                assert not possible(epsilon, above, k)
        for above in range((open_.k or 0) + 1, 8):
            assert not possible(epsilon, delta, above)


@given(graphs, DELTAS, st.integers(1, 7))
def test_a_certificate_is_what_excluded_says(graph, delta, k):
    n, edges = graph
    table = graph_table(n, {(a, b) for a, b in edges if a != b})
    found = sf.Dissimilarity("0.5", delta, k).certificate(View(table, ["x"]).as_one_group())
    assert (found is not None) == excluded(crowding_of(table, "0.5"), delta, k)
    if found is not None and found.kind == "clique":
        assert found.share > found.bound
        assert found.count == len(found.values)


OTHERS = [
    (sf.AlphaKAnonymity(alpha="0.4", k=2), lambda g: len(g) >= 2 and naive.alpha(g) <= Fraction("0.4")),
    (sf.FrequencyLDiversity(2), lambda g: naive.frequency_l(g) >= 2),
    (sf.DistinctLDiversity(3), lambda g: naive.distinct(g) >= 3),
    (sf.PSensitivity(p=2, k=3), lambda g: naive.distinct(g) >= 2 and len(g) >= 3),
    (sf.EntropyLDiversity("1.5"), lambda g: naive.entropy_reaches(g, Fraction("1.5"))),
    (sf.KEAnonymity(k=2, e=3), lambda g: naive.distinct(g) >= 2 and naive.value_range(g) >= 3),
    (sf.VarianceControl(2), lambda g: naive.variance(g) >= 2),
    (sf.KAnonymity(4), lambda g: len(g) >= 4),
    (sf.EpsilonMAnonymity(epsilon=2, m=2), lambda g: naive.epsilon_m(g, 2) >= 2),
    (sf.EpsilonMAnonymity("0.5", 2, "relative"), lambda g: naive.epsilon_m_relative(g, Fraction(1, 2)) >= 2),
    (sf.DeltaLDiversity(delta=1, l="1.5"), lambda g: naive.delta_l(g, 1) >= Fraction("1.5")),
]


@pytest.mark.parametrize(("principle", "fine"), OTHERS, ids=lambda p: p.label if isinstance(p, sf.Principle) else "")
def test_other_principles(principle, fine):
    @settings(max_examples=40)
    @given(st.lists(st.integers(-4, 5), min_size=1, max_size=6))
    def check(values):
        found = feasibility(number_table(values), None, principle)
        good = [g for g in all_partitions(len(values)) if all(fine([values[i] for i in group]) for group in g)]
        if principle.monotone:
            assert found.verdict == ("guaranteed" if good else "impossible")
        assert found.verdict != "impossible" or (not good and found.certificate.sentence)
        assert found.verdict != "guaranteed" or good

    check()


# contour and frontier


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=1, max_size=10))
def test_contour(rows):
    table = sf.Table(pa.table({"q": [q for q, _ in rows], "x": [x for _, x in rows]}), sf.Schema(["q"], ["x"]))
    found = vulnerability(table, None, [0, 1, 3], ["0", "0.5", "0.8", 1])
    groups = [[x for q, x in rows if q == which] for which in {q for q, _ in rows}]
    for i, epsilon in enumerate((0, 1, 3)):
        risks = [naive.risk(group, lambda v, w, e=epsilon: abs(v - w) <= e) for group in groups]
        for j, delta in enumerate(map(Fraction, ("0", "0.5", "0.8", "1"))):
            assert found.shares[i][j] == Fraction(sum(risk > 1 - delta for risk in risks), len(groups))
    assert json.loads(json.dumps(found.to_dict()))["groups"] == len(groups)


@given(numbers)
def test_frontier_says_what_feasibility_says(values):
    table = number_table(values)
    tried = []

    def attempt(principle):
        tried.append(principle)
        return 0.5 if principle.k == 2 else None

    found = frontier(table, None, [0, 2], ["0", "0.6", 1], [1, 2, 9], attempt=attempt)
    for cell in found.cells:
        single = feasibility(table, None, cell.principle, nearby=False)
        assert cell.verdict == single.verdict
        assert cell is found.cell(cell.principle.epsilon, cell.principle.delta, cell.principle.k)
        attempted = cell.verdict != "impossible" and cell.groups < 2
        assert (cell.principle in tried) == attempted
        assert (cell.status == "reached") == (attempted and cell.principle.k == 2)
    assert len(json.loads(json.dumps(found.to_dict()))["cells"]) == 18


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=6),
    st.integers(1, 4),
    st.none() | st.integers(1, 3),
)
def test_a_frontier_with_other_requirements(rows, least, l):
    """What it calls impossible no partition satisfies together with the others; what it guarantees, one does."""
    near, ill = zip(*rows, strict=True)
    table = sf.Table(pa.table({"x": near, "ill": ill}), sf.Schema(sensitive=["x", "ill"]))
    others = [sf.KAnonymity(least), *([] if l is None else [sf.DistinctLDiversity(l, on="ill")])]
    found = frontier(table, None, [0, 2], ["0", "0.6", 1], [1, 2], on="x", others=others)
    for cell in found.cells:
        epsilon, delta, size = cell.principle.epsilon, cell.principle.delta, max(cell.principle.k, least)

        def fits(groups, epsilon=epsilon, delta=delta, k=size):
            together = satisfied(groups, near, lambda v, w: abs(v - w) <= epsilon, delta, k)
            return together and all(len({ill[row] for row in group}) >= (l or 1) for group in groups)

        good = [groups for groups in all_partitions(len(rows)) if fits(groups)]
        if cell.verdict == "impossible":
            assert not good
        if cell.groups:
            assert any(len(groups) == cell.groups for groups in good)
    if found.impossible is not None:
        assert "on ill" in found.impossible or "k-anonymity" in found.impossible
        assert all(cell.verdict == "impossible" for cell in found.cells)


def test_frontier_may_try_all_cells():
    table = number_table([1, 5, 9, 13])
    found = frontier(table, None, [0, 100], [1], [2], attempt=lambda _: 0.25, which="all")
    assert [cell.status for cell in found.cells] == ["reached", "impossible"]
    assert "reached 0.25" in repr(found)
    with pytest.raises(sf.errors.ParameterError, match="not on the grid"):
        found.cell(5, 1, 2)


# words, errors and edges


@given(numbers, DELTAS)
@example(values=[1], delta=Fraction(0))
@example(values=[1], delta=Fraction(1))
def test_everything_can_be_written(values, delta):
    found = feasibility(number_table(values), None, sf.Dissimilarity(1, delta, 2))
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["verdict"] == found.verdict and found.verdict in repr(found)
    assert plain["parameters"]["delta"] == written(delta)


def test_several_attributes_are_guaranteed_together_only_as_one_group():
    data = pa.table({"a": [1, 1, 2, 2, 3, 3], "b": [1, 2, 1, 2, 3, 3]})
    table = sf.Table(data, sf.Schema(sensitive=["a", "b"]))
    found = feasibility(table, None, sf.Dissimilarity(0, 1, 2, on="each"))
    assert [outlook.verdict for outlook in found.attributes] == ["guaranteed", "guaranteed"]
    assert replace(found, tried=None).verdict == "open"
    assert found.verdict == "guaranteed", "all groupings of the six rows were tried"
    assert feasibility(table, None, sf.Dissimilarity(0, "0.5", 2, on="each")).verdict == "guaranteed"
    assert feasibility(table, None, sf.DistinctLDiversity(3)).verdict == "guaranteed"
    assert feasibility(table, None, sf.DistinctLDiversity(4)).verdict == "impossible"


def test_too_few_rows():
    table = number_table([1, 5, 9])
    for principle in (
        sf.KAnonymity(4),
        sf.Dissimilarity(0, "0.5", 4),
        sf.AlphaKAnonymity("0.5", 4),
        sf.NTCloseness(4, "0.1"),
    ):
        found = feasibility(table, None, principle)
        assert (found.verdict, found.certificate.kind) == ("impossible", "size")
    assert feasibility(table, None, sf.Dissimilarity(0, "0.5", 4)).attributes[0].nearest.not_excluded.k == 3
    one = feasibility(number_table([1]), None, sf.Dissimilarity(0, "0.5"))
    assert "one row" in one.certificate.sentence
    assert feasibility(table, None, sf.NTCloseness(3, "0.1")).verdict == "guaranteed"


def test_data_of_any_kind(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    content = {"a": [1, 1, 2, 2], "x": [1, 2, 8, 9]}
    schema = sf.Schema(["a"], ["x"])
    path = tmp_path / "x.csv"
    pandas.DataFrame(content).to_csv(path, index=False)
    kinds = [path, str(path), pandas.DataFrame(content), polars.DataFrame(content), pa.table(content)]
    table = sf.Table(pa.table(content), schema)
    for data in kinds:
        requirement = sf.Dissimilarity(1, 1, 2)
        assert sf.feasibility(data, schema, requirement) == sf.feasibility(table, None, requirement)
        assert sf.frontier(data, schema, [1], [1], [2]) == sf.frontier(table, None, [1], [1], [2])
        # both groups hold values that are near
        assert sf.anonymization.vulnerability(data, schema, [1], [1]).breached == ((2,),)
    with pytest.raises(sf.errors.ParameterError, match="no schema"):
        sf.feasibility(pa.table(content), None, sf.KAnonymity(2))
    with pytest.raises(sf.errors.ParameterError, match="requires 'k'"):
        sf.feasibility(table, None, "k-anonymity")


def test_a_quick_answer_looks_at_no_other_epsilon_where_that_is_long():
    many = pa.table({"x": [f"v{i}" for i in range(600)]})
    requirement = sf.Dissimilarity("0.1", 1, 2)
    schema = sf.Schema([], ["x"], distance=sf.distances.Custom(lambda x, y: float(x != y)))
    near = sf.feasibility(many, schema, requirement, nearby="quick").attributes[0].nearest
    assert not near.searched
    assert near.guaranteed.k == 300
    few = many.slice(0, 100)
    assert sf.feasibility(few, schema, requirement, nearby="quick").attributes[0].nearest.searched


def test_errors_name_the_key():
    table = number_table([1, 2])
    for wrong in (
        lambda: bounds(10, 11, "0.5"),
        lambda: bounds(10, 2, 2),
        lambda: vulnerability(table, None, "0.1", [1]),
        lambda: vulnerability(table, None, [1], []),
        lambda: frontier(table, None, [-1], [1], [2]),
        lambda: frontier(table, None, [1], [1], [0]),
    ):
        with pytest.raises(sf.errors.ParameterError) as caught:
            wrong()
        assert caught.value.key
    both = sf.Table(pa.table({"a": [1, 2], "b": [1, 2]}), sf.Schema(sensitive=["a", "b"]))
    for wrong in (vulnerability, lambda t, s, e, d, on: frontier(t, s, e, d, [1], on)):
        with pytest.raises(sf.errors.ParameterError, match="one sensitive attribute"):
            wrong(both, None, [0], [1], on="each")
