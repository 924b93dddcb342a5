"""Principles on people with several rows: the definition is every choice of one row per person."""

from __future__ import annotations

from fractions import Fraction
from math import log

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
import naive_units
import sfumato as sf
from sfumato.registry import PRINCIPLES

rows_of_people = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=12
)  # (group, person, value): a person may be in several groups, as in a table that was not anonymized


def groups_of(rows):
    groups = {}
    for group, person, value in rows:
        groups.setdefault(group, {}).setdefault(person, []).append(value)
    return [groups[group] for group in sorted(groups)]


def measured(rows, principle, **schema):
    frame = pa.table({"q": [g for g, _, _ in rows], "id": [p for _, p, _ in rows], "s": [v for _, _, v in rows]})
    return sf.audit(frame, sf.Schema(["q"], ["s"], person_id="id", **schema), [principle])[0].measurement


def near(v, w):
    return abs(v - w) <= 1


EVERY_CHOICE = {
    "alpha-k-anonymity": (sf.AlphaKAnonymity("0.5"), naive.alpha, False),
    "frequency-l-diversity": (sf.FrequencyLDiversity("1.5"), naive.frequency_l, True),
    "dissimilarity": (sf.Dissimilarity(1, "0.5"), lambda group: naive.risk(group, near), False),
    "epsilon-m-anonymity": (sf.EpsilonMAnonymity(1, "1.5"), lambda group: naive.epsilon_m(group, 1), True),
    "delta-l-diversity": (sf.DeltaLDiversity("0.5", "1.5"), lambda group: naive.delta_l(group, Fraction(1, 2)), True),
}


@pytest.mark.parametrize("name", EVERY_CHOICE)
@given(rows=rows_of_people)
def test_levels_are_those_of_the_worst_choice(name, rows):
    principle, level, best_is_high = EVERY_CHOICE[name]
    part = measured(rows, principle).parts[0]
    expected = [naive_units.worst(group, level, best_is_high) for group in groups_of(rows)]
    assert [part.at(g) for g in range(len(expected))] == expected
    limit = part.threshold
    assert part.holds.tolist() == [(e >= limit if best_is_high else e <= limit) for e in expected]


@settings(max_examples=settings.default.max_examples // 4)
@example(rows=[(0, person, value) for person in range(4) for value in (0, 1)], at_once=1)
@given(
    rows=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 4)), min_size=10, max_size=14),
    at_once=st.integers(1, 9),
)
def test_people_are_counted_in_parts_of_any_size(rows, at_once):
    """Parts that bound the memory: some end after each person, others after several or within a group."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.principles.units_counting._AT_ONCE", at_once)
        part = measured(rows, sf.Dissimilarity(1, "0.5")).parts[0]
    expected = [naive_units.worst(group, lambda values: naive.risk(values, near), False) for group in groups_of(rows)]
    assert [part.at(g) for g in range(len(expected))] == expected


@given(rows=rows_of_people, wanted=st.integers(1, 4))
def test_the_fewest_values_of_any_choice(rows, wanted):
    expected = [naive_units.worst(group, naive.distinct, True) for group in groups_of(rows)]
    for principle in (sf.DistinctLDiversity(wanted), sf.PSensitivity(wanted, 1)):
        part = measured(rows, principle).parts[0]
        assert part.holds.tolist() == [level >= wanted for level in expected]
        shown = [part.at(g) for g in range(len(expected))]
        assert all(a == b or (a >= wanted <= b) for a, b in zip(shown, expected, strict=True))


def test_a_family_of_sets_that_needs_a_search():
    """Greedy choices need three values; two hit every person."""
    family = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x"), ("c", "y")]
    rows = [(0, person, value) for person, values in enumerate(family) for value in values]
    assert measured(rows, sf.DistinctLDiversity(2)).holds
    assert not measured(rows, sf.DistinctLDiversity(3)).holds


def test_beyond_the_budget_a_group_counts_as_failing(monkeypatch):
    rows = [(0, person, f"{person}{side}") for person in range(6) for side in "ab"]
    assert measured(rows, sf.DistinctLDiversity(6)).holds
    monkeypatch.setattr("sfumato.principles.units_counting.STEPS", 10)
    assert not measured(rows, sf.DistinctLDiversity(6)).holds
    frame = pa.table({"id": [p for _, p, _ in rows], "s": [v for _, _, v in rows]})
    view = sf.principles.View(sf.Table(frame, sf.Schema(sensitive=["s"], person_id="id")))
    assert sf.DistinctLDiversity(6).certificate(view) is None, "a budget proves nothing"


@given(rows=rows_of_people)
def test_shares_are_those_of_the_people_with_a_value(rows):
    groups = groups_of(rows)
    table = naive_units.together(groups)
    gains, ratios = [], []
    values = sorted({v for _, _, v in rows})
    for group in groups:
        pairs = [(naive_units.share_with(group, v), naive_units.share_with(table, v)) for v in values]
        gains.append(max((q - p) / p for q, p in pairs if q))
        ratios.append(max(abs(log(q / p)) if q else float("inf") for q, p in pairs))
    part = measured(rows, sf.BetaLikeness("0.5")).parts[0]
    assert [part.at(g) for g in range(len(groups))] == gains
    assert part.holds.tolist() == [gain <= Fraction(1, 2) for gain in gains]
    part = measured(rows, sf.DeltaDisclosure("0.7")).parts[0]
    assert part.floats().tolist() == pytest.approx(ratios)


ONE_ROW = {
    "entropy-l-diversity": sf.EntropyLDiversity("1.5"),
    "recursive-l-diversity": sf.RecursiveLDiversity("1.5", 2),
    "ck-safety": sf.CKSafety("0.9", 1),
    "t-closeness": sf.TCloseness("0.4"),
    "k-m-anonymity": sf.KMAnonymity(2, 2),
    "guarded-values": sf.GuardedValues("> 1", "1.5", 2),
    "n-t-closeness": sf.NTCloseness(2, "0.3"),
    "k-e-anonymity": sf.KEAnonymity(2, 1),
    "variance-control": sf.VarianceControl(1),
}


@pytest.mark.parametrize("name", PRINCIPLES)
def test_every_principle_is_tested_here(name):
    assert (PRINCIPLES[name].units == "one row") == (name in ONE_ROW)
    others = {"k-anonymity", "distinct-l-diversity", "p-sensitivity", "beta-likeness", "delta-disclosure"}
    refused = {name for name, kind in PRINCIPLES.items() if kind.units == "rows"}  # their own tests show that
    assert name in {*EVERY_CHOICE, *ONE_ROW, *others, *refused}


@pytest.mark.parametrize("name", ONE_ROW)
@given(people=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(1, 3)), min_size=2, max_size=8))
def test_a_constant_value_counts_once(name, people):
    """People as (group, value, number of rows): the table with one row each has the same levels."""
    principle = ONE_ROW[name]
    several = [(group, person, value) for person, (group, value, times) in enumerate(people) for _ in range(times)]
    once = [(group, person, value) for person, (group, value, _) in enumerate(people)]
    frame = pa.table({"q": [g for g, _, _ in once], "s": [v for _, _, v in once]})
    alone = sf.audit(frame, sf.Schema(["q"], ["s"]), [principle])[0].measurement
    together = measured(several, principle)
    for one, other in zip(alone.parts, together.parts, strict=True):
        assert one.floats().tolist() == other.floats().tolist()
        assert one.holds.tolist() == other.holds.tolist()


@pytest.mark.parametrize("name", ONE_ROW)
def test_a_value_that_varies_is_an_error_that_names_the_principle(name):
    rows = [(0, 0, 1), (0, 0, 2), (0, 1, 3)]
    with pytest.raises(sf.errors.ColumnError, match="per person") as raised:
        measured(rows, ONE_ROW[name])
    assert raised.value.column == "s"
    assert ONE_ROW[name].title in str(raised.value)
    assert "alpha-k-anonymity" in raised.value.remedy


def test_explain_says_how_a_principle_counts():
    assert "every choice of one row per person" in repr(sf.explain("dissimilarity"))
    assert "one row per person" in repr(sf.explain("t-closeness"))
