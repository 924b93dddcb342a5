"""Guarded values against a naive reading of the definition, and what a rule means."""

from __future__ import annotations

import math
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.principles.value_rules import is_known, matching_codes
from small_tables import NUMBERS, ORDER, TREE, by_group, measured, tables, texts

thresholds = st.sampled_from(["1", "1.5", "5/3", "2", "3"])


def expected(group, guarded, near=None):
    """Level of l, of k and the risk of a group, by counting."""
    inside = [value for value in group if guarded(value)]
    share = Fraction(len(group), len(inside)) if inside else math.inf
    size = len(group) if inside else math.inf
    if near is None:
        return share, size
    risk = Fraction(0)
    for i, value in enumerate(group):
        if guarded(value):
            others = [near(value, other) for j, other in enumerate(group) if j != i]
            risk = max(risk, Fraction(sum(others), len(others)) if others else Fraction(1))
    return share, size, risk


def check(found, groups, guarded, principle, near=None):
    levels = [expected(group, guarded, near) for group in groups]
    for place, part in enumerate(found.parts):
        assert [part.at(g) for g in range(len(groups))] == [level[place] for level in levels]
    holds = [
        level[0] >= principle.l and level[1] >= principle.k and (near is None or level[2] <= 1 - principle.delta)
        for level in levels
    ]
    assert found.group_holds.tolist() == holds


@given(tables(texts.filter(bool)), st.sets(texts.filter(bool), min_size=1, max_size=3), thresholds, st.integers(1, 4))
def test_texts(rows, values, l, k):
    frame = pa.table({"q": [g for g, _ in rows], "s": [v for _, v in rows]})
    schema = sf.Schema(["q"], ["s"], kinds={"s": "categorical"})
    principle = sf.GuardedValues(sorted(values), l, k + 1)
    rows, values = [(g, v.strip()) for g, v in rows], {value.strip() for value in values}  # as a table reads them
    if not values <= {value for _, value in rows}:
        with pytest.raises(sf.errors.ParameterError, match="nothing would be guarded"):
            sf.audit(frame, schema, principle)
    found = principle.measure(sf.principles.View(sf.Table(frame, schema)))
    check(found, by_group(rows), lambda value: value in values, principle)


@given(
    tables(st.sampled_from(NUMBERS)), st.sampled_from(["> 0.3", "<= 0.1", ">=1", "< 0", "0.30"]), thresholds,
    st.sampled_from(["0", "0.1", "0.2", "1"]), st.sampled_from(["0", "0.5", "2/3", "1"]),
)  # fmt: skip
def test_numbers(rows, rule, l, epsilon, delta):
    principle = sf.GuardedValues(rule, l, 2, epsilon, delta)
    rows = [*rows, (0, "0.3"), (0, "1e1")]
    exact = [(g, Fraction(v)) for g, v in rows]
    guarded = {
        "> 0.3": lambda v: v > Fraction("0.3"),
        "<= 0.1": lambda v: v <= Fraction("0.1"),
        ">=1": lambda v: v >= 1,
        "< 0": lambda v: v < 0,
        "0.30": lambda v: v == Fraction("0.3"),
    }[rule]
    found = measured(rows, principle, numeric=True)
    check(found, by_group(exact), guarded, principle, lambda x, y: abs(x - y) <= principle.epsilon)


def column(values, **schema):
    return sf.Table(pa.table({"s": values}), sf.Schema(sensitive=["s"], **schema)).column("s")


def meant(values, rules, **schema):
    found = column(values, **schema)
    matching = matching_codes(found, rules, "a test")
    return [values[i] for i, code in enumerate(found.codes.tolist()) if matching[code]]


def test_what_a_rule_means():
    tree = sf.Hierarchy.from_rows(TREE.values())
    assert meant(["a", "b", "c", "e"], ["X"], hierarchies={"s": tree}) == ["a", "b"]
    assert meant(["a", "b", "c", "e"], ["*"], hierarchies={"s": tree}) == ["a", "b", "c", "e"]
    assert meant(["low", "mid", "top"], [">= mid"], orders={"s": ORDER}) == ["mid", "top"]
    assert meant([["a", "b"], ["b"], []], ["a"]) == [["a", "b"]]
    assert meant(["x", None], ["(missing)"], kinds={"s": "categorical"}) == [None]
    assert meant([None, None], ["x"], kinds={"s": "categorical"}) == []
    assert meant(["> 5", "6"], ["> 5"], kinds={"s": "categorical"}) == ["> 5"]
    assert meant([5, 6, None], ["> 5"]) == [6]
    assert meant(["2020-01-01", "2021-01-01"], ["< 2020-06-01"], kinds={"s": "date"}) == ["2020-01-01"]
    assert is_known(column(["a"], hierarchies={"s": tree}), "Y")
    with pytest.raises(sf.errors.ColumnError, match="'much' in the rule '> much'"):
        meant([5], ["> much"])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"values": []}, "names no value"),
        ({"values": True}, "names no value"),
        ({"values": ["a", ""]}, "names no value"),
        ({"values": None}, "names no value"),
        ({"values": [["a"]]}, "names no value"),
        ({"values": "a"}, "nothing is required"),
        ({"values": "a", "delta": 1}, "epsilon is missing"),
        ({"values": "a", "l": 0}, "l = 0 is out of range"),
        ({"values": "a", "k": 0}, "k = 0 is not a whole number"),
        ({"values": "a", "epsilon": -1, "delta": 0}, "epsilon = -1 is out of range"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(sf.errors.ParameterError, match=words):
        sf.GuardedValues(**parameters)


PEOPLE = pa.table(
    {
        "age": [20 + i % 40 for i in range(120)],
        "ill": ["HIV" if i % 11 == 0 else ["flu", "gout", "cold", "ulcer"][i % 4] for i in range(120)],
        "pay": [(i * 37) % 200 for i in range(120)],
    }
)


@pytest.mark.parametrize("method", ["glaze", "mondrian", "lattice", "deal"])
def test_methods_and_verification(method, tmp_path):
    """Each method satisfies it beside a requirement for everybody, and the written release is verified."""
    requested = [
        sf.KAnonymity(3),
        sf.GuardedValues("HIV", l=5, k=8, on="ill"),
        sf.GuardedValues(">= 150", epsilon=20, delta="0.5", on="pay"),
    ]
    release = sf.anonymize(PEOPLE, sf.Schema(["age"], ["ill", "pay"]), requested, method=method, seed=1)
    assert release.audit.holds
    groups = {}
    for group, ill, pay in zip(*(release.frame.column(name).to_pylist() for name in ("group", "ill", "pay")), strict=True):
        groups.setdefault(group, []).append((ill, int(pay)))
    for members in groups.values():
        count = sum(ill == "HIV" for ill, _ in members)
        assert len(members) >= (8 if count else 3)
        assert 5 * count <= len(members)
        for _, pay in members:
            if pay >= 150:
                assert sum(abs(pay - other) <= 20 for _, other in members) - 1 <= (len(members) - 1) / 2
    folder = release.save(tmp_path / "out")
    assert sf.verify(folder, PEOPLE).holds


def test_a_bit_per_pair_guards_the_same_values():
    """Two numbers as one attribute cannot be guarded; texts, which have no order, are searched with bits."""
    names = pa.table({"q": list(range(60)), "name": [f"{'anna' if i % 3 else 'bert'}{i % 7}" for i in range(60)]})
    schema = sf.Schema(["q"], ["name"], kinds={"name": "text"})
    requirement = sf.GuardedValues([f"bert{i}" for i in range(7)], epsilon="0.2", delta="0.5")
    release = sf.anonymize(names, schema, [sf.KAnonymity(2), requirement], method="glaze", seed=0)
    assert release.audit.holds
    with pytest.raises(sf.errors.ColumnError, match="applies to one column"):
        sf.audit(PEOPLE, sf.Schema(["age"], ["ill", "pay"]), sf.GuardedValues("HIV", l=2, on="whole"))


def test_a_typing_error_is_found():
    for call in (sf.audit, sf.anonymize):
        with pytest.raises(sf.errors.ParameterError, match=r"'HVI'.*nothing would be guarded"):
            call(PEOPLE, sf.Schema(["age"], ["ill"]), [sf.GuardedValues("HVI", l=2)])


def test_an_attribute_of_which_only_some_values_are_guarded_is_not_covered():
    release = sf.anonymize(PEOPLE, sf.Schema(["age"], ["ill"]), [sf.KAnonymity(3), sf.GuardedValues("HIV", l=2)], seed=0)
    assert [warning.attribute for warning in release.warnings] == ["ill"]


@pytest.mark.parametrize("more", [{}, {"epsilon": 0, "delta": "0.1"}])
def test_what_no_grouping_can_reach_is_known(more):
    """11 of 120 have HIV, so no groups hold at most one in twelve; and no group has more people than the table."""
    schema = sf.Schema(["age"], ["ill"])
    for principle in (sf.GuardedValues("HIV", l=12, **more), sf.GuardedValues("HIV", k=121, **more)):
        assert sf.feasibility(PEOPLE, schema, principle).verdict == "impossible"
        assert principle.monotone == (not more)
    assert sf.feasibility(PEOPLE, schema, sf.GuardedValues("HIV", l=10, k=120, **more)).verdict == "guaranteed"


def test_people_with_several_rows():
    twice = pa.table(
        {
            "person": [i // 2 for i in range(240)],
            **{name: [value for value in PEOPLE[name].to_pylist() for _ in "12"] for name in ("age", "ill")},
        }
    )
    schema = sf.Schema(["age"], ["ill"], person_id="person")
    requested = [sf.KAnonymity(3), sf.GuardedValues("HIV", l=4, k=6, epsilon=0, delta="0.5")]
    release = sf.anonymize(twice, schema, requested, method="glaze", seed=0)
    assert release.audit.holds
    groups = {}
    for group, ill in zip(release.frame["group"].to_pylist(), release.frame["ill"].to_pylist(), strict=True):
        groups.setdefault(group, []).append(ill)
    for illnesses in groups.values():
        people, guarded = len(illnesses) / 2, illnesses.count("HIV") / 2
        assert people >= (6 if guarded else 3)
        assert 4 * guarded <= people


@pytest.mark.parametrize(
    ("k", "epsilon", "delta", "least"),
    [(1, None, None, 1), (3, None, None, 3), (1, 1, "0.5", 2), (1, 1, 0, 1), (3, 1, 1, 3)],
)
def test_what_methods_search_for(k, epsilon, delta, least):
    """A group of one has risk 1, so that a δ above 0 requires two rows; at most 1/l of a group has guarded values."""
    frame = pa.table({"q": [1, 1, 2], "s": [1, 2, 3]})
    principle = sf.GuardedValues("> 1", 4, k, epsilon, delta)
    conditions = principle.search_conditions(sf.principles.View(sf.Table(frame, sf.Schema(["q"], ["s"]))))
    assert (conditions[0].threshold, conditions[0].second) == (least, 0.25)
    assert conditions[0].values.tolist() == [0, 1, 1]
    assert len(conditions) == (1 if epsilon is None else 2)
