"""(c,k)-safety against all worlds and all facts of tiny releases."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import naive_knowledge
import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.principles.worst_case_disclosure import disclosures, least_probabilities
from small_tables import by_group, measured

few = settings(max_examples=settings.default.max_examples // 5)

releases = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=3)


def worlds(groups):
    """How many ways there are to give the secrets to people."""
    return prod(factorial(len(g)) // prod(factorial(g.count(v)) for v in set(g)) for g in groups)


def rows_of(groups):
    return [(number, value) for number, group in enumerate(groups) for value in group]


def levels(groups, k):
    (part,) = measured(rows_of(groups), sf.CKSafety(1, k)).parts
    return [part.at(number) for number in range(len(groups))]


@few
@given(releases, st.integers(1, 2))
def test_no_facts_reveal_more(groups, k):
    """The level is the largest probability after any k implications, whatever their conclusions."""
    assume(worlds(groups) <= 40 and sum(map(len, groups)) <= (7 if k == 1 else 5))
    assert levels(groups, k) == naive_knowledge.disclosures(groups, naive_knowledge.simple_facts(groups), k)


@few
@given(releases)
def test_facts_with_several_premises_and_conclusions_reveal_no_more(groups):
    assume(worlds(groups) <= 20 and sum(map(len, groups)) <= 5)
    assert levels(groups, 1) == naive_knowledge.disclosures(groups, naive_knowledge.basic_facts(groups), 1)


def test_three_facts():
    for texts in (["aab", "bc"], ["abc", "a", "b"], ["aaab"], ["ab", "ab"]):
        groups = [list(text) for text in texts]
        assert levels(groups, 3) == naive_knowledge.disclosures(groups, naive_knowledge.simple_facts(groups), 3)


@given(st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=9), min_size=1, max_size=6))
def test_one_fact_case_by_case(groups):
    """Larger groups, and many of them: the group of the fact is found among all others."""
    expected = [
        naive_knowledge.disclosure_after_one_fact(group, groups[:number] + groups[number + 1 :])
        for number, group in enumerate(groups)
    ]
    assert levels(groups, 1) == expected


profiles = st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=4), min_size=1, max_size=4)


def by_distinct_groups(shown, number, k):
    """The level by a program over all other groups, each of them once."""

    def least(groups, left):
        if not groups:
            return Fraction(1)
        return min(least_probabilities(groups[0], left)[here] * least(groups[1:], left - here) for here in range(left + 1))

    own, others = least_probabilities(shown[number], k + 1), shown[:number] + shown[number + 1 :]
    ratio = min(own[here + 1] * least(others, k - here) for here in range(k + 1)) * Fraction(*shown[number][:2])
    return 1 / (1 + ratio)


@given(profiles, st.integers(1, 4))
def test_no_group_is_counted_twice(counts, k):
    shown = [[sum(one), *sorted(one, reverse=True), *[0] * 5][: k + 2] for one in counts]
    assert disclosures(shown, k) == [by_distinct_groups(shown, number, k) for number in range(len(shown))]


def test_facts_about_two_other_groups():
    """One statement is best about a group with one frequent value, two about a group with two; together they are better."""
    diverse, one, two = [[1000, *[1] * 4], [100, 50, 1, 1, 1], [100, 38, 38, 1, 1]]
    p = least_probabilities(one, 3), least_probabilities(two, 3)
    assert p[0][1] * p[1][2] == Fraction(50, 100) * Fraction(24, 100) < min(p[0][3], p[1][3])
    found = disclosures([diverse, one, two], 3)
    assert found[0] == 1 / (1 + Fraction(999, 1000) * Fraction(12, 100) / Fraction(1, 1000))
    assert found == [by_distinct_groups([diverse, one, two], number, 3) for number in range(3)]


@given(releases, st.integers(1, 3))
def test_merging_two_groups_reveals_no_more(groups, k):
    """Neither about them, whose level is at most the larger one, nor about others."""
    assume(len(groups) > 1)
    before, after = levels(groups, k), levels([groups[0] + groups[1], *groups[2:]], k)
    assert after[0] <= max(before[:2])
    assert all(now <= then for now, then in zip(after[1:], before[2:], strict=True))


@example([(0, "a"), (0, "b"), (0, "c")], "0.5", 1)  # the share is the limit, which must not be reached
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abcde")), min_size=1, max_size=16),
    st.sampled_from(["0.3", "0.5", "2/3", "1"]), st.integers(1, 3),
)  # fmt: skip
def test_groups_within_the_limit_of_a_search_are_safe(rows, c, k):
    """Whatever the other groups are, as long as all are within it."""
    principle = sf.CKSafety(c, k)
    names, values = zip(*rows, strict=True)
    view = sf.principles.View(sf.Table(pa.table({"q": names, "s": values}), sf.Schema(["q"], ["s"])))
    (limit,) = principle.search_conditions(view)
    groups = by_group(rows)
    within = all(group.count(v) - 1 <= limit.allowed(len(group)) for group in groups for v in group)
    if within:
        assert principle.holds(view)
    # the limit is the one that the proof needs: the share p of a value is below c / (1 + k·c)
    share = Fraction(c) / (1 + k * Fraction(c))
    assert within == all(Fraction(group.count(v), len(group)) < share for group in groups for v in group)


def patients(rows=200, seed=0):
    draw = np.random.default_rng(seed)
    ill = draw.choice(["flu", "gout", "cold", "ulcer", "asthma", "mumps"], rows, p=[0.25, 0.2, 0.2, 0.15, 0.1, 0.1])
    return pa.table({"age": draw.integers(18, 80, rows), "sex": draw.choice(["f", "m"], rows), "ill": ill})


@pytest.mark.parametrize("method", ["auto", "mondrian", "lattice"])
def test_methods_and_verification(method, tmp_path):
    rows, principle = patients(), sf.CKSafety("0.8", 2)
    schema = sf.Schema(["age", "sex"], ["ill"], hierarchies={"age": sf.Intervals((20, 40))} if method == "lattice" else {})
    release = sf.anonymize(rows, schema, principle, method=method, seed=0)
    assert release.audit.groups.count > 1
    folder = release.save(tmp_path / "out")
    result = sf.verify(folder, rows)
    assert result.holds and not result.not_checked
    checks = {check.name: check.holds for check in sf.verify(folder).checks}
    assert checks[f"{principle.label} on ill"] is True, "a release alone suffices"
    groups = {}
    for group, ill in zip(release.frame["group"].to_pylist(), release.frame["ill"].to_pylist(), strict=True):
        groups.setdefault(group, []).append(ill)
    groups = list(groups.values())
    for number, group in enumerate(groups):
        # one fact is among two
        assert naive_knowledge.disclosure_after_one_fact(group, groups[:number] + groups[number + 1 :]) < Fraction("0.8")


@pytest.mark.parametrize("method", ["xcolor", "exact"])
def test_other_methods_are_refused(method):
    with pytest.raises(ParameterError, match=f"the method {method} (does not support|supports)"):
        sf.anonymize(patients(), sf.Schema(["age", "sex"], ["ill"]), sf.CKSafety("0.8", 1), method=method)


def test_a_release_that_follows_another_is_refused(tmp_path):
    rows = patients(60).append_column("name", pa.array([f"Ann {i}" for i in range(60)]))
    schema = sf.Schema(["age", "sex"], ["ill"], identifiers=["name"])
    first = sf.anonymize(rows, schema, sf.KAnonymity(4), method="mondrian", seed=0)
    folder = first.save(tmp_path / "first", key=tmp_path / "key.json")
    with pytest.raises(ParameterError, match="what facts about some people tell about others in all releases"):
        sf.anonymize(rows, schema, sf.CKSafety("0.9", 1), after=(folder, tmp_path / "key.json"))


def test_a_table_that_fails_as_one_group_is_refused():
    rows = pa.table({"age": [30, 31, 32, 33], "ill": ["flu", "flu", "flu", "gout"]})
    schema = sf.Schema(["age"], ["ill"])
    assert sf.feasibility(rows, schema, sf.CKSafety("0.9", 1)).verdict == "impossible"
    with pytest.raises(sf.errors.RequirementError, match=r"disclosure 1, wanted below 0\.9"):
        sf.anonymize(rows, schema, sf.CKSafety("0.9", 1))


def test_facts_about_other_groups_count():
    """Five illnesses each: alone a fact excludes one of them; if two of another group have the flu, it tells more."""
    lone = list("abcde")
    assert levels([lone], 1) == [Fraction(1, 4)]
    assert levels([lone, list("ab")], 1) == [Fraction(1, 3), 1]
    assert levels([lone, lone], 1) == [Fraction(1, 4)] * 2


@pytest.mark.parametrize(("c", "k", "words"), [(0, 1, "can never hold"), (2, 1, "out of range"), ("0.5", 0, "whole number")])
def test_bad_parameters(c, k, words):
    with pytest.raises(ParameterError, match=words):
        sf.CKSafety(c, k)
