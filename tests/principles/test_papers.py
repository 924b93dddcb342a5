"""The worked examples of the papers, as computed exactly, and the counter-examples to what is wrong in them."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import sfumato as sf
from sfumato.attacks import belief, theorem_2

EXAMPLES = json.loads((Path(__file__).parent / "paper_examples.json").read_text(encoding="utf-8"))

DISTANCES = {
    "variational": sf.distances.TotalVariation(),
    "min": sf.distances.MinCoordinate(),
    "abs": sf.distances.Absolute(),
}


def graph_of(values, eps, dist):
    """A neighbour graph over the values given, and for each of them its number in the graph."""
    rows = [value if isinstance(value, list) else [value] for value in values]
    names = [f"c{j}" for j in range(len(rows[0]))]
    data = pa.table({name: [str(row[j]) for row in rows] for j, name in enumerate(names)})
    schema = sf.Schema(sensitive=names, kinds=dict.fromkeys(names, "numeric"))
    attribute = sf.Table(data, schema).attribute(names)
    return sf.distances.NeighbourGraph(attribute, DISTANCES[dist], eps), attribute.codes


def neighbourhood(values, i, eps, dist):
    graph, codes = graph_of(values, eps, dist)
    near = set(graph.neighbourhood(int(codes[i])).tolist())
    return [j for j, code in enumerate(codes) if code in near]


def value_prob(values, i, dist):
    return Fraction(len(neighbourhood(values, i, "0", dist)), len(values))


def prob_neighbourhood(values, i, eps, dist):
    return Fraction(len(neighbourhood(values, i, eps, dist)), len(values))


def audit_level(groups, principle, distance=None):
    """The level of a principle on groups of values (numbers, texts, or vectors)."""
    rows = [(g, v) for g, group in enumerate(groups) for v in group]
    vectors = [v if isinstance(v, list) else [v] for _, v in rows]
    names = [f"c{j}" for j in range(len(vectors[0]))]
    numeric = not any(isinstance(v, str) and not v.replace(".", "").isdigit() for vector in vectors for v in vector)
    kinds = dict.fromkeys(names, "numeric" if numeric else "categorical")
    data = pa.table({"q": [g for g, _ in rows], **{n: [str(v[j]) for v in vectors] for j, n in enumerate(names)}})
    schema = sf.Schema(["q"], ["v"], vectors={"v": names}, kinds=kinds, distance=distance)
    return sf.audit(data, schema, principle)[0].measurement.level


def risk(values, eps, dist):
    return audit_level([values], sf.Dissimilarity(eps, 0), DISTANCES[dist])


def edges(values, eps, dist):
    graph, codes = graph_of(values, eps, dist)
    row = {int(code): i for i, code in enumerate(codes)}
    return sorted(sorted([row[v], row[w]]) for v, w in graph.edges())


def is_proper(values, eps, dist, colour):
    groups = {c: [v for v, d in zip(values, colour, strict=True) if d == c] for c in set(colour)}
    return all(risk(group, eps, dist) == 0 for group in groups.values())


def distinct_l(groups):
    return audit_level(groups, sf.DistinctLDiversity(1))


def frequency_l(groups):
    return audit_level(groups, sf.FrequencyLDiversity(1))


def freq_share(l):
    """The largest share that frequency l-diversity lets one value have: l of l tuples, each different."""
    assert audit_level([list(range(l))], sf.FrequencyLDiversity(l)) == l
    return Fraction(1, l)


def t_of(delta, k):
    return sf.Dissimilarity(0, delta).allowed_neighbours(k)


def ex5(k, model):
    """The chance that x (0), with neighbours 1 and 2 among 8 tuples, violates delta = 1/2 in groups of k."""
    allowed = t_of("0.5", k)
    if model == "independent":
        # each neighbour falls into x's group, one of 8/k, on its own
        places = list(product(range(8 // k), repeat=2))
        bad = sum(sum(place == 0 for place in pair) > allowed for pair in places)
        return Fraction(bad, len(places))
    mates = list(combinations(range(1, 8), k - 1))
    return Fraction(sum(len({1, 2} & set(m)) > allowed for m in mates), len(mates))


def eps_m_level(values, eps):
    return audit_level([values], sf.EpsilonMAnonymity(eps, 1))


def delta_l_level(values, delta):
    return audit_level([values], sf.DeltaLDiversity(delta, 1))


def ball_risk(values, eps):
    """Any centre: an interval of width 2·eps that starts at a value."""
    return max(Fraction(sum(v <= w <= v + 2 * Fraction(eps) for w in values), len(values)) for v in values)


def delta_l_scan(values, delta, l, op):
    """Fig. 3 of Zare-Mirakabad (2012) as printed, with its error for groups of one."""
    t, d, l = sorted(map(Fraction, values)), Fraction(delta), Fraction(l)
    overlap = (lambda i, j: t[j] - d < t[i] + d) if op == "<" else (lambda i, j: t[j] - d <= t[i] + d)
    level, j = naive.INF, 1
    i = 0
    while j < len(t):
        while not overlap(i, j):
            i += 1
        while j < len(t) and overlap(i, j):
            j += 1
        level = min(level, Fraction(len(t), j - i))
    return level >= l


def closeness(column, groups):
    return audit_level_of_rows(column, groups, sf.TCloseness(1))


def distinct_l_col(column, groups):
    return audit_level_of_rows(column, groups, sf.DistinctLDiversity(1))


def gamma(table, plan):
    """Γ_α and Γ_β of a plan."""
    dependence = sf.projections.Dependence.of(sf.Table(pa.table(table), sf.Schema(sensitive=list(table))))
    weighed = dependence.ratios(sf.projections.Plan.of(plan, list(table)))
    return [weighed.association_loss, weighed.information_exposure]


def audit_level_of_rows(column, groups, principle):
    of_row = {row: g for g, rows in enumerate(groups) for row in rows}
    data = pa.table({"q": [of_row[row] for row in range(len(column))], "s": column})
    return sf.audit(data, sf.Schema(["q"], ["s"]), principle)[0].measurement.level


def background_join(known, target, group, value):
    """The values that are left for who knows one attribute of a person in a group."""
    table = sf.Table(pa.table({"known": known, "target": target}), sf.Schema(sensitive=["known", "target"]))
    of_row = np.array([0 if row in group else -1 for row in range(len(known))])
    return list(belief(table, sf.attacks.AttackerView(("known", "target"), of_row), 0, "target", {"known": value}))


def thm2_bound(k, l, m, p):
    """The bound does not depend on m, the number of tables that are joined."""
    assert p <= m
    return theorem_2(k, l, p)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e["id"])
def test_example(example):
    result = globals()[example["fn"]](**example["args"])
    expected = example["expected"]
    if isinstance(expected, str):
        expected = Fraction(expected)
    assert result == expected


# errata: exact comparison


def test_floats_lose_a_neighbour_and_we_do_not():
    """Paper 000, Table I: tuples 2 and 4 are exactly 0.1 apart."""
    table = [["0.4", "0.3", "0.2", "0.1"], ["0.3", "0.4", "0.2", "0.1"]]
    in_floats = sum(abs(float(a) - float(b)) for a, b in zip(*table, strict=True)) / 2
    assert in_floats > 0.1
    assert neighbourhood(table, 0, "0.1", "variational") == [0, 1]


def test_allowed_neighbours_in_floats_are_wrong_where_ours_are_right():
    wrong = [
        (d, k) for d in range(1, 100) for k in range(2, 103) if int((1 - d / 100) * (k - 1)) != (100 - d) * (k - 1) // 100
    ]
    assert wrong
    for d, k in wrong:
        assert sf.Dissimilarity(0, d / 100).allowed_neighbours(k) == (100 - d) * (k - 1) // 100
    assert t_of("0.8", 11) == 2
    assert int((1 - 0.8) * 10) == 1


def test_risk_at_the_threshold():
    """1/5 against 1 − 0.8, which floats get wrong."""
    assert not 1 / 5 <= 1 - 0.8
    group = [0, 1, 100, 200, 300, 400]
    assert audit_level([group], sf.Dissimilarity(1, "0.8")) == Fraction(1, 5)
    data = pa.table({"q": [0] * 6, "s": group})
    assert sf.audit(data, sf.Schema(["q"], ["s"]), sf.Dissimilarity(1, 0.8)).holds


@pytest.mark.parametrize("l", range(2, 60))
def test_entropy_of_uniform_groups(l):
    data = pa.table({"q": [0] * (3 * l), "s": [str(v) for v in range(l)] * 3})
    assert sf.audit(data, sf.Schema(["q"], ["s"]), sf.EntropyLDiversity(l)).holds
    above = sf.EntropyLDiversity(Fraction(l) + Fraction(1, 10**12))
    assert not sf.audit(data, sf.Schema(["q"], ["s"]), above).holds


# errata: proximity


def test_delta_one_can_hold():
    """001.1: with "less than" it never could."""
    assert audit_level([[1, 20, 300]], sf.Dissimilarity(1, 1)) == 0
    data = pa.table({"q": [0] * 3, "s": [1, 20, 300]})
    assert sf.audit(data, sf.Schema(["q"], ["s"]), sf.Dissimilarity(1, 1)).holds


def test_everything_near_admits_only_delta_zero():
    """001.2: at ε = ∞ no partition achieves any δ > 0."""
    data = pa.table({"q": [0] * 3, "s": [1, 2, 3]})
    schema = sf.Schema(["q"], ["s"])
    assert not sf.audit(data, schema, sf.Dissimilarity(10**9, "0.0001")).holds
    assert sf.audit(data, schema, sf.Dissimilarity(10**9, 0)).holds


def test_union_raises_risk():
    """001.3."""
    assert [audit_level([g], sf.Dissimilarity(15, 0)) for g in ([40, 60], [50, 80], [40, 60, 50, 80])] == [
        0, 0, Fraction(2, 3),
    ]  # fmt: skip


def test_alpha_k_is_stricter_than_dissimilarity():
    """001.4: 5 equal of 9."""
    group = ["a"] * 5 + ["b", "c", "d", "e"]
    data = pa.table({"q": [0] * 9, "s": group})
    schema = sf.Schema(["q"], ["s"])
    assert not sf.audit(data, schema, sf.AlphaKAnonymity("0.5")).holds
    assert sf.audit(data, schema, sf.Dissimilarity(0, "0.5")).holds


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=12), st.sampled_from(["1/3", "0.5", "0.6", "0.8"]))
def test_alpha_k_implies_dissimilarity(group, alpha):
    data = pa.table({"q": [0] * len(group), "s": group})
    schema = sf.Schema(["q"], ["s"])
    strict, loose = sf.AlphaKAnonymity(alpha), sf.Dissimilarity(0, 1 - Fraction(alpha))
    if sf.audit(data, schema, strict).holds:
        assert sf.audit(data, schema, loose).holds


def test_sensitive_values_are_a_multiset():
    """001.5: {5,5,5,9}."""
    assert audit_level([[5, 5, 5, 9]], sf.Dissimilarity(0, 0)) == Fraction(2, 3)
    graph, codes = graph_of([5, 5, 5, 9], "0", "abs")
    assert graph.degrees[codes].tolist() == [2, 2, 2, 0]


def test_min_coordinate_is_no_metric():
    """001.6: d(x,z) = 1 though d(x,y) = d(y,z) = 0, and x ≠ y."""
    graph, codes = graph_of([["0", "0"], ["0", "1"], ["1", "1"]], "0", "min")
    x, y, z = codes
    apart = graph.bound.distances(np.array([x, y, x]), np.array([y, z, z])).diagonal()
    assert apart.tolist() == [0, 0, 1]
    assert not sf.distances.MinCoordinate.is_metric


def test_larger_groups_may_be_easier():
    """001.14: t depends on each group's own size, and k = 11 allows more than k = 10."""
    assert [t_of("0.8", k) for k in (10, 11, 15, 16)] == [1, 2, 2, 3]


# errata: (δ,l)-diversity


@given(
    st.lists(st.sampled_from(["0", "0.1", "0.2", "0.3", "1", "7.5"]), min_size=1, max_size=9),
    st.sampled_from(["0", "0.05", "0.1", "1/3"]),
)
def test_delta_l_is_epsilon_m_at_twice_the_width(group, delta):
    """003.1."""
    assert delta_l_level(group, delta) == eps_m_level(group, 2 * Fraction(delta))


def test_delta_l_at_zero_and_alone():
    """003.2: "<" divides by zero at δ = 0, and the scan calls a single tuple infinitely diverse."""
    assert delta_l_level([7, 7, 8], 0) == Fraction(3, 2)
    assert delta_l_level([7], 1) == 1
    assert delta_l_scan([7], "1", "100", "<") is True


@given(st.lists(st.integers(0, 30), min_size=2, max_size=9), st.integers(0, 10))
def test_interval_risk_lies_between(values, eps):
    """003.3: risk(ε) ≤ the share of the fullest interval of width 2ε ≤ risk(2ε), as shares of all tuples."""
    share = ball_risk(values, eps)
    assert 1 / eps_m_level(values, eps) <= share <= 1 / eps_m_level(values, 2 * eps)


def test_relative_nearness_of_negative_numbers():
    """003.4: with ε·x the neighbourhood of −100 would be empty."""
    assert audit_level_of_rows([-100, -95, 50], [[0, 1, 2]], sf.EpsilonMAnonymity("0.1", 1, "relative")) == Fraction(3, 2)
