"""The dependence of sensitive attributes: compared with the oracle, at ties, under laws, and with invalid input."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_plans as naive
import sfumato as sf
from small_plans import THRESHOLDS, columns, dependence_of, table_of

NEAR = 1e-9


@st.composite
def cases(draw):
    """A table, some harmless values, and a plan."""
    people = draw(columns())
    harmless = {
        name: sorted(draw(st.sets(st.sampled_from([v for v in values if v is not None]))))
        for name, values in people.items()
        if any(v is not None for v in values) and draw(st.booleans())
    }
    return people, harmless, draw(st.sampled_from(naive.partitions(list(people))))


@given(cases())
def test_figures_follow_the_definitions(case):
    people, harmless, blocks = case
    comp, ref = dependence_of(people, harmless), naive.Table(people, harmless)
    plan = sf.projections.Plan.of(blocks, list(people))
    for (i, a), (j, b) in combinations(enumerate(people), 2):
        assert comp.information[i, j] == comp.information[j, i] == pytest.approx(float(ref.i[a, b]), rel=NEAR, abs=1e-14)
        assert (comp.information[i, j] == 0) == (ref.i[a, b] == 0)
        assert comp.exposure[i, j] == comp.exposure[j, i] == pytest.approx(float(ref.e[a, b]), rel=NEAR, abs=1e-14)
        assert comp.conditional[i, j] == pytest.approx(float(naive.entropy(people[a]) - ref.i[a, b]), abs=NEAR)
    assert comp.entropy.tolist() == pytest.approx([float(naive.entropy(values)) for values in people.values()], abs=NEAR)
    assert comp.association_loss(plan) == pytest.approx(float(ref.association_loss(blocks)), abs=NEAR)
    assert comp.information_exposure(plan) == pytest.approx(float(ref.information_exposure(blocks)), abs=NEAR)
    for block in blocks:
        assert comp.average_information(block) == pytest.approx(float(ref.average_information(block)), abs=NEAR)


@given(cases(), st.sampled_from(THRESHOLDS))
def test_verdicts_are_exact(case, limit):
    people, harmless, blocks = case
    comp, ref = dependence_of(people, harmless), naive.Table(people, harmless)
    plan, limit = sf.projections.Plan.of(blocks, list(people)), Fraction(limit)
    assert comp.loses_at_most(plan, limit) == naive.at_most(ref.association_loss(blocks), limit)
    assert comp.exposes_at_most(plan, limit) == naive.at_most(ref.information_exposure(blocks), limit)


@given(cases(), st.integers(-1, 1))
def test_verdicts_next_to_a_tie_are_exact(case, side):
    """A threshold that agrees with the ratio in 30 decimals, beyond the precision of floats."""
    people, harmless, blocks = case
    comp, ref = dependence_of(people, harmless), naive.Table(people, harmless)
    plan = sf.projections.Plan.of(blocks, list(people))
    for ratio, within in [
        (ref.association_loss(blocks), comp.loses_at_most),
        (ref.information_exposure(blocks), comp.exposes_at_most),
    ]:
        limit = Fraction(ratio) + side * Fraction(1, 10**30)
        if side and 0 <= limit <= 1:
            assert within(plan, limit) == (side > 0)


def test_ties_that_need_factorization():
    """Γ_α is exactly 2/3 if three pairs share the same information from different counts: 4 ln 4 is 8 ln 2."""
    people = {name: list("xxyy") for name in "abc"}
    plan = sf.projections.Plan.of([["a", "b"], ["c"]], "abc")
    comp = dependence_of(people)
    assert comp.loses_at_most(plan, "2/3")
    assert not comp.loses_at_most(plan, Fraction(2, 3) - Fraction(1, 10**40))
    four = {"a": list("wxyz") * 4, "b": list("wxyz") * 4, "c": list("wwyy") * 4, "d": list("wwyy") * 4}
    comp = dependence_of(four)  # I is 2 bits for a and b, and 1 bit for each other pair: 7 in all
    plan = sf.projections.Plan.of([["a", "b"], ["c", "d"]], "abcd")
    assert comp.loses_at_most(plan, "4/7")
    assert not comp.loses_at_most(plan, Fraction(4, 7) - Fraction(1, 10**40))


# laws


@given(cases(), st.data())
def test_merging_lowers_the_loss_and_raises_the_exposure(case, data):
    people, harmless, blocks = case
    comp, plan = dependence_of(people, harmless), sf.projections.Plan.of(blocks, list(people))
    if len(plan) > 1:
        u, w = data.draw(st.sampled_from(list(combinations(range(len(plan)), 2))))
        merged = plan.merge(u, w)
        assert comp.association_loss(merged) <= comp.association_loss(plan) + NEAR
        assert comp.information_exposure(merged) >= comp.information_exposure(plan) - NEAR


@given(cases())
def test_the_ends_are_exactly_0_and_1(case):
    people, harmless, _ = case
    comp = dependence_of(people, harmless)
    whole, apart = (
        comp.ratios(sf.projections.Plan.single_table(comp.names)),
        comp.ratios(sf.projections.Plan.singletons(comp.names)),
    )
    pairs = np.triu_indices(len(comp.names), 1)
    assert whole.association_loss == apart.information_exposure == 0.0
    assert apart.association_loss == (1.0 if comp.information[pairs].any() else 0.0)
    assert whole.information_exposure == (1.0 if comp.exposure[pairs].any() else 0.0)


@given(cases(), st.randoms())
def test_neither_the_order_of_rows_nor_the_names_of_values_matter(case, random):
    """To the last bit: sums are rounded once."""
    people, harmless, _ = case
    rows = len(next(iter(people.values())))
    order = random.sample(range(rows), rows)
    renamed = {"x": "q", "y": "p", "z": "r", None: "none"}
    other = {name: [renamed.get(values[row], values[row]) for row in order] for name, values in people.items()}
    less = {name: [renamed.get(value, value) for value in values] for name, values in harmless.items()}
    one, same = dependence_of(people, harmless), dependence_of(other, less)
    for matrix in ("entropy", "information", "exposure", "conditional"):
        assert np.array_equal(getattr(one, matrix), getattr(same, matrix)), matrix


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_independent_attributes_share_exactly_nothing(m, n, times):
    pairs = [(v, w) for v in range(m) for w in range(n)] * times
    comp = dependence_of({"a": [str(v) for v, _ in pairs], "b": [str(w) for _, w in pairs]})
    assert comp.information[0, 1] == 0.0
    assert comp.loses_at_most(sf.projections.Plan.singletons("ab"), 0)


def test_dependence_by_one_row_in_many_is_not_lost():
    """Many rows of independent columns, and one more."""
    comp = dependence_of({"a": [*"xxyy"] * 5000 + ["x"], "b": [*"xyxy"] * 5000 + ["y"]})
    ref = naive.information([*"xxyy"] * 5 + ["x"], [*"xyxy"] * 5 + ["y"])
    assert 0 < comp.information[0, 1] < float(ref)
    assert not comp.loses_at_most(sf.projections.Plan.singletons("ab"), 0)


# errata


def test_exposure_is_symmetric_unlike_the_misprint():
    """004.1: with H(A_j) + H(A_j) the last case would depend on which attribute comes first."""
    people = {"a": list("xyzx"), "b": list("ppqq")}
    h, g, shared = naive.entropy(people["a"]), naive.entropy(people["b"]), naive.information(people["a"], people["b"])
    comp = dependence_of(people)
    assert comp.exposure[0, 1] == pytest.approx(float(h + g - 2 * shared))
    assert abs(comp.exposure[0, 1] - float(g + g - 2 * shared)) > 0.1


def test_a_function_exposes_exactly_nothing_one_way():
    people = {"fine": list("wxyz") * 25, "coarse": list("aabb") * 25, "again": list("WXYZ") * 25}
    comp = dependence_of(people)
    assert comp.conditional[1, 0] == comp.conditional[0, 2] == comp.exposure[0, 2] == 0.0
    assert dependence_of(people, {"fine": list("wxyz")}).exposure[0, 1] == 0.0


def test_a_duplicate_column_counts_twice():
    """Erratum 004.2: reported in a note."""
    people = {"a": list("xxyy"), "b": list("xyyy"), "c": list("xyxx")}
    twice = dependence_of({**people, "d": list("XXYY")})
    assert any("'a' and 'd' determine each other" in note for note in twice.notes)
    assert dependence_of(people).notes == ()
    once, both = (
        sf.projections.Plan.of([["a"], ["b", "c"]], "abc"),
        sf.projections.Plan.of([["a"], ["d"], ["b", "c"]], "abcd"),
    )
    comp = dependence_of(people).information
    assert twice.association_loss(both) == pytest.approx(
        (2 * (comp[0, 1] + comp[0, 2]) + twice.entropy[0]) / (2 * (comp[0, 1] + comp[0, 2]) + twice.entropy[0] + comp[1, 2])
    )
    assert twice.association_loss(both) > dependence_of(people).association_loss(once)


def test_ratios_are_0_if_no_information_is_shared():
    """Erratum 004.5: Γ_α = 1 for all apart, and Γ_β = 1 for the whole, are 0 when the sums are."""
    independent = dependence_of({"a": list("xxyy"), "b": list("xyxy")})
    assert independent.association_loss(sf.projections.Plan.singletons("ab")) == 0.0
    equal = dependence_of({"a": list("xxyy"), "b": list("ppqq")})
    assert equal.information_exposure(sf.projections.Plan.single_table("ab")) == 0.0
    assert equal.exposes_at_most(sf.projections.Plan.single_table("ab"), 0)


# measurement


def test_a_constant_attribute_carries_no_information():
    comp = dependence_of({"a": list("xyxy"), "b": list("kkkk")})
    assert comp.entropy[1] == comp.information[0, 1] == 0.0
    assert comp.notes == ("'b' carries no information: all rows have the same value",)


def test_a_vector_is_one_attribute_and_missing_is_a_value():
    data = pa.table({"x": [1, 1, 2, None], "y": [1, 2, 2, None], "job": ["a", "b", "b", None]})
    schema = sf.Schema(sensitive=["place", "job"], vectors={"place": ["x", "y"]})
    comp = sf.projections.Dependence.of(sf.Table(data, schema))
    ref = naive.Table({"place": [(1, 1), (1, 2), (2, 2), None], "job": ["a", "b", "b", None]})
    assert comp.names == ("place", "job")
    assert comp.information[0, 1] == pytest.approx(float(ref.i["place", "job"]))


def test_harmless_values_by_list_and_by_function():
    data = pa.table({"wage": [0, 0, 5, 7], "dx": [[], ["flu"], ["flu"], None], "job": ["nil", "cook", "nil", "smith"]})
    table = sf.Table(data, sf.Schema(sensitive=["wage", "dx", "job"]))
    given_as = [
        {"wage": [0], "dx": [[]], "job": "nil"},
        {"wage": ["0.0"], "dx": ["{}"], "job": ["nil"]},
        {"wage": lambda v: v == 0, "dx": lambda v: v == frozenset(), "job": lambda v: v == "nil"},
    ]
    assert {sf.projections.Dependence.of(table, harmless=harmless).sensitive_rows for harmless in given_as} == {(2, 3, 2)}
    assert sf.projections.Dependence.of(table, harmless={"dx": [None]}).sensitive_rows == (4, 3, 4)


def test_many_distinct_values():
    """More pairs of values than are counted in an array."""
    rng = np.random.default_rng(7)
    values = rng.integers(0, 3000, 4000)
    people = {"a": [str(v) for v in values], "b": [str(v // 2) for v in values]}
    comp = dependence_of(people)
    assert comp.conditional[1, 0] == 0.0
    assert comp.information[0, 1] == pytest.approx(comp.entropy[1])


# invalid input


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["a"], "the table has one"),
        ([], "the table has none"),
        (["a", "b", "a"], "named twice"),
        (["a", "jo"], "no such column"),
    ],
)
def test_too_few_attributes(names, problem):
    with pytest.raises(sf.errors.ColumnError, match=problem):
        sf.projections.Dependence.of(table_of({"a": ["x"], "b": ["y"], "job": ["z"]}), names)


@pytest.mark.parametrize(
    ("harmless", "message"),
    [
        ({"jobb": ["cook"]}, "'jobb'.*Did you mean 'job'"),
        ({"job": ["coock"]}, "'job'.*'coock'.*Did you mean 'cook'"),
        ({"job": [7]}, "'job'.*7.*'cook', 'smith'"),
        ({"wage": ["abc"]}, "'wage'.*'abc'"),
        ({"wage": [{}]}, "'wage'.*{}"),
        ({"wage": 0}, "'wage'.*0 is neither"),
        ({"job": lambda value: value > 3}, "'job'.*failed on 'cook'"),
        ({"job": lambda value: "yes"}, "'job'.*returned 'yes'"),
    ],
)
def test_invalid_harmless_values(harmless, message):
    data = pa.table({"job": ["cook", "smith"], "wage": [1, 2]})
    with pytest.raises(sf.SfumatoError, match=message) as raised:
        sf.projections.Dependence.of(sf.Table(data, sf.Schema(sensitive=["job", "wage"])), harmless=harmless)
    assert raised.value.column in ("job", "jobb", "wage")


def test_attributes_without_a_measurement():
    comp = dependence_of({"a": list("xy"), "b": list("xy")})
    with pytest.raises(sf.errors.ColumnError, match="'c'"):
        comp.average_information(["a", "c"])
    with pytest.raises(sf.errors.ColumnError, match="leaves out 'b'"):
        comp.association_loss(sf.projections.Plan.single_table(["a"]))


def test_the_oracle_on_fair_coins():
    """Two coins that always agree share one bit."""
    assert naive.information(list("ht"), list("ht")) == Decimal(1)
    assert naive.exposable(list("hhtt"), list("htht")) == Decimal(2)
    assert len(naive.partitions(list("abcde"))) == 52
