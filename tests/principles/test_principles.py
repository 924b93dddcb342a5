"""Every principle against its oracle, on adversarial tables."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import sfumato as sf
from sfumato.exact import written
from small_tables import NUMBERS, ORDER, THRESHOLDS, TREE, by_group, measured, numbers, tables, texts


def agree(measurement, levels, holds, part=0):
    """Levels, verdicts per group, and the overall level and verdict are exactly the oracle's."""
    found = measurement.parts[part]
    assert [found.at(g) for g in range(len(levels))] == levels
    assert found.holds.tolist() == holds
    worst = min(levels) if found.higher_is_better else max(levels)
    assert found.worst == worst
    assert isinstance(found.worst, Fraction) or math.isinf(found.worst)


def draw_threshold(data, levels, least=Fraction(0), most=None):
    """A threshold: often one that some group meets exactly."""
    ties = [Fraction(level) for level in levels if level != naive.INF]
    pool = [t for t in [*ties, *ties, *THRESHOLDS] if t >= least and (most is None or t <= most)]
    return data.draw(st.sampled_from(pool or [least]))


def fractions(rows):
    return [(g, Fraction(v)) for g, v in rows]


@given(tables(texts), st.integers(1, 10))
def test_k_anonymity(rows, k):
    if k > len(rows):
        with pytest.raises(sf.errors.ParameterError):
            measured(rows, sf.KAnonymity(k))
        return
    sizes = [len(group) for group in by_group(rows)]
    agree(measured(rows, sf.KAnonymity(k)), sizes, [size >= k for size in sizes])


@given(tables(st.tuples(texts, st.integers(0, 3))), st.integers(1, 3))
def test_k_counts_people(rows, k):
    frame = pa.table({"q": [g for g, _ in rows], "id": [p for _, (_, p) in rows]})
    people = [len({person for _, person in group}) for group in by_group(rows)]
    schema = sf.Schema(quasi_identifiers=["q"], person_id="id")
    everyone = len({person for _, (_, person) in rows})
    if k > everyone:
        with pytest.raises(sf.errors.ParameterError, match="people"):
            sf.audit(frame, schema, [sf.KAnonymity(k)])
        return
    agree(sf.audit(frame, schema, [sf.KAnonymity(k)])[0].measurement, people, [p >= k for p in people])


@given(tables(numbers), st.sampled_from(["0", "0.1", "0.2", "0.4", "0.7", "1", "9"]), st.data())
def test_dissimilarity_of_numbers(rows, epsilon, data):
    groups = by_group(fractions(rows))
    levels = [naive.risk(group, lambda x, y: abs(x - y) <= Fraction(epsilon)) for group in groups]
    delta = 1 - draw_threshold(data, levels, most=Fraction(1))
    found = measured(rows, sf.Dissimilarity(epsilon, written(delta)), numeric=True)
    agree(found, levels, [level <= 1 - delta for level in levels])


@given(tables(texts), st.data())
def test_dissimilarity_of_categories(rows, data):
    levels = [naive.risk(group, lambda x, y: x == y) for group in by_group(rows)]
    delta = 1 - draw_threshold(data, levels, most=Fraction(1))
    k = data.draw(st.integers(1, len(rows)))
    found = measured(rows, sf.Dissimilarity(0, written(delta), k))
    agree(found, levels, [level <= 1 - delta for level in levels])
    sizes = [len(group) for group in by_group(rows)]
    agree(found, sizes, [size >= k for size in sizes], part=1)


@given(tables(st.tuples(numbers, st.sampled_from("xyz"))), st.data())
def test_dissimilarity_of_several_columns(rows, data):
    frame = pa.table({"q": [g for g, _ in rows], "n": [n for _, (n, _) in rows], "c": [c for _, (_, c) in rows]})
    values = [(Fraction(n), c) for _, (n, c) in rows]
    span = max(n for n, _ in values) - min(n for n, _ in values)
    weight = Fraction(data.draw(st.sampled_from(["0.1", "0.3", "1/3", "0.5"])))

    def distance(x, y):
        return weight * (abs(x[0] - y[0]) / span if span else 0) + (1 - weight) * (x[1] != y[1])

    near_ties = sorted({distance(x, y) for x in values for y in values})
    epsilon = data.draw(st.sampled_from(near_ties + THRESHOLDS))
    groups = by_group([(g, v) for (g, _), v in zip(rows, values, strict=True)])
    levels = [naive.risk(group, lambda x, y: distance(x, y) <= epsilon) for group in groups]
    schema = sf.Schema(
        quasi_identifiers=["q"],
        sensitive=["n", "c"],
        kinds={"n": "numeric"},
        distance=sf.distances.Lp(weights={"n": weight, "c": 1 - weight}),
    )
    delta = 1 - draw_threshold(data, levels, most=Fraction(1))
    found = sf.audit(frame, schema, [sf.Dissimilarity(epsilon, delta)])[0].measurement
    agree(found, levels, [level <= 1 - delta for level in levels])


@given(tables(texts), st.data())
def test_alpha_k(rows, data):
    levels = [naive.alpha(group) for group in by_group(rows)]
    alpha = draw_threshold(data, levels, most=Fraction(1))
    agree(measured(rows, sf.AlphaKAnonymity(alpha)), levels, [level <= alpha for level in levels])


@given(tables(texts), st.integers(1, 5))
def test_distinct_l(rows, l):
    levels = [naive.distinct(group) for group in by_group(rows)]
    agree(measured(rows, sf.DistinctLDiversity(l)), levels, [level >= l for level in levels])


@given(tables(texts), st.data())
def test_frequency_l(rows, data):
    levels = [naive.frequency_l(group) for group in by_group(rows)]
    l = draw_threshold(data, levels, least=Fraction(1))
    agree(measured(rows, sf.FrequencyLDiversity(l)), levels, [level >= l for level in levels])


@given(tables(texts, most_rows=16, most_groups=3), st.sampled_from(["1", "2", "3", "4", "1.5", "7/3", "2.000000001"]))
def test_entropy_l(rows, l):
    groups = by_group(rows)
    found = measured(rows, sf.EntropyLDiversity(l)).parts[0]
    assert found.holds.tolist() == [naive.entropy_reaches(group, l) for group in groups]
    for g, group in enumerate(groups):
        shares = [group.count(v) / len(group) for v in set(group)]
        assert found.at(g) == pytest.approx(math.exp(-sum(p * math.log(p) for p in shares)))


@given(tables(texts), st.integers(1, 4), st.data())
def test_recursive_c_l(rows, l, data):
    levels = [naive.recursive_level(group, l) for group in by_group(rows)]
    c = draw_threshold(data, levels, least=Fraction("0.1"))
    agree(measured(rows, sf.RecursiveLDiversity(c, l)), levels, [level < c for level in levels])


@given(tables(texts), st.integers(1, 4), st.data())
def test_p_sensitivity(rows, p, data):
    k = data.draw(st.integers(1, len(rows)))
    groups = by_group(rows)
    found = measured(rows, sf.PSensitivity(p, k))
    agree(found, [naive.distinct(g) for g in groups], [naive.distinct(g) >= p for g in groups])
    agree(found, [len(g) for g in groups], [len(g) >= k for g in groups], part=1)


@given(tables(numbers), st.sampled_from(["0", "0.1", "0.2", "0.4", "1", "9.9", "2e6"]), st.data())
def test_epsilon_m_absolute(rows, epsilon, data):
    levels = [naive.epsilon_m(group, Fraction(epsilon)) for group in by_group(fractions(rows))]
    m = draw_threshold(data, levels, least=Fraction(1))
    agree(measured(rows, sf.EpsilonMAnonymity(epsilon, m), numeric=True), levels, [level >= m for level in levels])


@given(tables(numbers), st.sampled_from(["0", "0.1", "1/3", "2/3", "0.9", "1"]), st.data())
def test_epsilon_m_relative(rows, epsilon, data):
    levels = [naive.epsilon_m_relative(group, Fraction(epsilon)) for group in by_group(fractions(rows))]
    m = draw_threshold(data, levels, least=Fraction(1))
    found = measured(rows, sf.EpsilonMAnonymity(epsilon, m, "relative"), numeric=True)
    agree(found, levels, [level >= m for level in levels])


@given(tables(numbers), st.sampled_from(["0", "0.05", "0.1", "0.15", "1/3", "5"]), st.data())
def test_delta_l(rows, delta, data):
    levels = [naive.delta_l(group, Fraction(delta)) for group in by_group(fractions(rows))]
    l = draw_threshold(data, levels, least=Fraction(1))
    agree(measured(rows, sf.DeltaLDiversity(delta, l), numeric=True), levels, [level >= l for level in levels])


@given(tables(numbers), st.integers(1, 4), st.data())
def test_k_e(rows, k, data):
    groups = by_group(fractions(rows))
    levels = [naive.value_range(group) for group in groups]
    e = draw_threshold(data, levels)
    found = measured(rows, sf.KEAnonymity(k, e), numeric=True)
    agree(found, levels, [level >= e for level in levels])
    agree(found, [naive.distinct(g) for g in groups], [naive.distinct(g) >= k for g in groups], part=1)


huge = st.sampled_from([*NUMBERS, "123456789012345678901234567890.123", "-9e18", "1e-20"])


@given(tables(huge), st.data())
def test_variance(rows, data):
    levels = [naive.variance(group) for group in by_group(fractions(rows))]
    least = draw_threshold(data, levels)
    found = measured(rows, sf.VarianceControl(least), numeric=True)
    agree(found, levels, [level >= least for level in levels])


@given(tables(texts), st.data())
def test_t_closeness_equal(rows, data):
    whole = [v for _, v in rows]
    levels = [naive.emd_equal(group, whole) for group in by_group(rows)]
    t = draw_threshold(data, levels, most=Fraction(1))
    agree(measured(rows, sf.TCloseness(t)), levels, [level <= t for level in levels])


@given(tables(numbers), st.data())
def test_t_closeness_of_numbers(rows, data):
    exact = fractions(rows)
    whole = [v for _, v in exact]
    levels = [naive.emd_ordered(group, whole, sorted(set(whole))) for group in by_group(exact)]
    t = draw_threshold(data, levels, most=Fraction(1))
    agree(measured(rows, sf.TCloseness(t, "ordered"), numeric=True), levels, [level <= t for level in levels])


@given(tables(st.sampled_from(ORDER)), st.data())
def test_t_closeness_of_ranks(rows, data):
    whole = [v for _, v in rows]
    levels = [naive.emd_ordered(group, whole, ORDER) for group in by_group(rows)]
    t = draw_threshold(data, levels, most=Fraction(1))
    found = measured(rows, sf.TCloseness(t, "ordered"), orders={"s": ORDER})
    agree(found, levels, [level <= t for level in levels])


@given(tables(st.sampled_from(list(TREE))), st.data())
def test_t_closeness_hierarchical(rows, data):
    whole = [v for _, v in rows]
    levels = [naive.emd_hierarchical(group, whole, TREE) for group in by_group(rows)]
    t = draw_threshold(data, levels, most=Fraction(1))
    tree = sf.Hierarchy.from_rows(TREE.values())
    found = measured(rows, sf.TCloseness(t, "hierarchical"), hierarchies={"s": tree})
    agree(found, levels, [level <= t for level in levels])


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from(ORDER)), min_size=1, max_size=12),
    st.sampled_from(["equal", "ordered"]),
    st.data(),
)
def test_n_t_closeness(rows, ground, data):
    n = data.draw(st.integers(1, len(rows)))
    keys, values = [row[:2] for row in rows], [row[2] for row in rows]

    def distance(group, wider):
        return naive.emd_equal(group, wider) if ground == "equal" else naive.emd_ordered(group, wider, ORDER)

    by_key = naive.n_t_level(keys, values, n, distance)
    levels = [by_key[key] for key in sorted(by_key)]
    t = draw_threshold(data, levels, most=Fraction(1))
    frame = pa.table({"a": [k[0] for k in keys], "b": [k[1] for k in keys], "s": values})
    schema = sf.Schema(quasi_identifiers=["a", "b"], sensitive=["s"], orders={"s": ORDER})
    found = sf.audit(frame, schema, [sf.NTCloseness(n, t, ground)])[0].measurement
    agree(found, levels, [level <= t for level in levels])


@given(tables(texts), st.data())
def test_beta_basic(rows, data):
    whole = [v for _, v in rows]
    levels = [max(gain for _, gain in naive.gains(group, whole)) for group in by_group(rows)]
    beta = draw_threshold(data, levels)
    agree(measured(rows, sf.BetaLikeness(beta)), levels, [level <= beta for level in levels])


@given(tables(texts), st.data())
def test_beta_enhanced(rows, data):
    whole = [v for _, v in rows]
    groups = by_group(rows)
    levels = [max(gain for _, gain in naive.gains(group, whole)) for group in groups]
    beta = draw_threshold(data, levels)
    found = measured(rows, sf.BetaLikeness(beta, "enhanced"))
    assert found.group_holds.tolist() == [naive.beta_enhanced_holds(group, whole, beta) for group in groups]


HALVED = [(0, "a"), (0, "b"), (0, "b"), (0, "b"), (1, "a"), (1, "a"), (1, "a"), (1, "b")]
"""The share of `a` is 1/4 in group 0, and 1/2 in the table."""


@example(rows=HALVED, delta="0.69314718055994530941")  # a hair below ln 2, and a hair above: the same float
@example(rows=HALVED, delta="0.69314718055994530942")
@given(tables(st.sampled_from("ab")), st.sampled_from(["0.1", "0.6931471805599453", "0.7", "1.0986", "2"]))
def test_delta_disclosure(rows, delta):
    whole = [v for _, v in rows]
    found = measured(rows, sf.DeltaDisclosure(delta))
    expected = [naive.disclosure_holds(group, whole, Fraction(delta)) for group in by_group(rows)]
    assert found.group_holds.tolist() == expected
    assert found.parts[0].levels.tolist() == pytest.approx([naive.disclosure(group, whole) for group in by_group(rows)])


@pytest.mark.parametrize(
    ("principle", "parameter", "least", "most"),
    [
        (sf.TCloseness, "t", 0, 1),
        (functools.partial(sf.NTCloseness, n=1), "t", 0, 1),
        (functools.partial(sf.AlphaKAnonymity, k=1), "alpha", 0, 1),
        (functools.partial(sf.Dissimilarity, epsilon=0), "delta", 0, 1),
        (sf.EntropyLDiversity, "l", 1, None),
        (sf.FrequencyLDiversity, "l", 1, None),
        (functools.partial(sf.DeltaLDiversity, delta=0), "l", 1, None),
        (functools.partial(sf.EpsilonMAnonymity, epsilon=0), "m", 1, None),
        (functools.partial(sf.GuardedValues, "a", k=2), "l", 1, None),
        (functools.partial(sf.GuardedPeople, "q", "a", k=2), "l", 1, None),
    ],
)
def test_the_least_and_the_largest_parameter(principle, parameter, least, most):
    for value in (least, least if most is None else most):
        assert principle(**{parameter: value}).parameters()[parameter] == str(value)
    for value in (Fraction(least) - Fraction(1, 100), None if most is None else Fraction(most) + Fraction(1, 100)):
        if value is not None:
            with pytest.raises(sf.errors.ParameterError, match=parameter):
                principle(**{parameter: value})


@pytest.mark.parametrize("principle", [sf.DeltaDisclosure, functools.partial(sf.RecursiveLDiversity, l=2)])
def test_parameters_above_zero(principle):
    assert principle("0.01").parameters()
    with pytest.raises(sf.errors.ParameterError, match="above 0"):
        principle(0)
