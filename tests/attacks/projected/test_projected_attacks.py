"""Attacks on projected tables: against naive oracles, on the paper's example, and where the paper's theorem fails."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_attacks as naive
import sfumato as sf
from sfumato.attacks import attack_projected, belief, theorem_2
from sfumato.attacks.projected import inference
from sfumato.attacks.projected.linkability import measure_links


def table_of(columns):
    return sf.Table(pa.table(columns), sf.Schema(sensitive=list(columns)))


def view_of(attributes, groups):
    return sf.attacks.AttackerView(tuple(attributes), np.array([-1 if group is None else group for group in groups]))


@st.composite
def cases(draw):
    """A table of a few columns, divided into projected tables, each with its own groups; some rows are not published."""
    rows = draw(st.integers(1, 9))
    names = [f"s{j}" for j in range(draw(st.integers(1, 4)))]
    values = st.sampled_from(["a", "b", "c", None])
    table = {name: draw(st.lists(values, min_size=rows, max_size=rows)) for name in names}
    places = draw(st.lists(st.integers(0, 2), min_size=len(names), max_size=len(names)))
    group = st.sampled_from([0, 0, 1, 1, 4, 7, None])
    views = []
    for place in sorted(set(places)):
        groups = draw(st.lists(group, min_size=rows, max_size=rows).filter(lambda them: set(them) != {None}))
        views.append(([name for name, at in zip(names, places, strict=True) if at == place], groups))
    return table, views


def exactly(confidence):
    return confidence.largest, confidence.mean, confidence.certain


@given(cases(), st.sampled_from([1, 2, "others"]))
def test_background_joins_are_those_of_the_definition(case, known):
    table, views = case
    results = sf.attacks.background_join(table_of(table), [view_of(*each) for each in views], known)
    expected = set()
    for join in results.joins:
        attributes, groups = views[join.table]
        before, after = naive.background(table, attributes, groups, join.known, join.target)
        assert exactly(join.before) == naive.confidence(before)
        assert exactly(join.after) == naive.confidence(after)
        assert join.gain == max(b - a for a, b in zip(before, after, strict=True))
        assert join.mean_gain >= 0
        assert join.people == len(before)
        assert join.newly_certain >= 0
        expected.add((join.known, join.target))
    ways = 0
    for attributes, _ in views:
        others = len(attributes) - 1
        size = others if known == "others" else min(known, others)
        ways += len(attributes) * (0 if not others else sum(1 for _ in naive.combinations(range(others), size)))
    assert len(expected) == len(results.joins) == ways
    assert (results.worst is None) == (ways == 0)


@given(cases())
def test_links_are_the_largest_products_of_shares(case):
    table, views = case
    k, l, results = measure_links(table_of(table), [view_of(*each) for each in views])
    for link in results:
        best = naive.largest_products(table, views, link.tables)
        assert link.largest == max(best)
        there = [float(share) for share in best if share]
        assert link.mean == pytest.approx(sum(there) / len(there))
        assert link.largest <= link.corrected_bound
    groups = [
        (names, [i for i, g in enumerate(of_row) if g == each]) for names, of_row in views for each in set(of_row) - {None}
    ]
    sizes = {len(rows) for _, rows in groups}
    assert k == min(sizes)
    assert l == min(len({table[name][row] for row in rows}) for names, rows in groups for name in names)
    if len(sizes) == 1:
        assert not any(link.exceeds for link in results), "groups of one size: the bound holds as stated"


@given(cases())
def test_combining_two_tables_follows_bayes_rule(case):
    table, views = case
    results = sf.attacks.intersection(table_of(table), [view_of(*each) for each in views])
    assert not results.skipped
    for each in results.inferences:
        persons = list(naive.posteriors(table, each.target, views[each.table][1], each.helper, views[each.helper_table][1]))
        assert each.people == len(persons)
        assert exactly(each.before) == naive.confidence([max(before.values()) for before, _, _ in persons])
        largest, mean, certain = naive.confidence([max(after.values()) for _, after, _ in persons])
        assert each.after.largest == pytest.approx(float(largest))
        assert each.after.mean == pytest.approx(float(mean))
        assert each.after.certain == certain
        assert each.truth_before == sum(before[true] for before, _, true in persons) / len(persons)
        assert each.truth == pytest.approx(float(sum(after[true] for _, after, true in persons)) / len(persons))
    tried = {(each.target, each.helper) for each in results.inferences}
    wanted = {
        (a, b)
        for i, (ones, mine) in enumerate(views)
        for j, (others, theirs) in enumerate(views)
        if i != j and any(None not in pair for pair in zip(mine, theirs, strict=True))
        for a in ones
        for b in others
    }
    assert tried == wanted


# the paper


PATIENTS = {
    "diagnosis": ["HT", "HT", "DB", "AS"],
    "family_history": ["HT", "DB", "HT", "AS"],
    "job": ["teacher", "lawyer", "farmer", "teacher"],
}


def test_example_2():
    """Eve knows that Bob is a teacher: in E2 of Table 1(b) that is one row."""
    table = table_of(PATIENTS)
    views = view_of(PATIENTS, [0, 0, 1, 1])
    assert belief(table, views, 1, "diagnosis", {}) == {"AS": Fraction(1, 2), "DB": Fraction(1, 2)}
    assert belief(table, views, 1, "diagnosis", {"job": "teacher"}) == {"AS": Fraction(1)}
    assert belief(table, views, 1, "diagnosis", {"job": "lawyer"}) == {}
    results = sf.attacks.background_join(table, [views])
    (join,) = [each for each in results.joins if (each.known, each.target) == (("job",), "diagnosis")]
    assert join.gain == Fraction(1, 2)
    assert join.newly_certain == 2
    assert join.example["among"] == 1
    apart = sf.attacks.background_join(table, [view_of([name], [0, 0, 1, 1]) for name in PATIENTS])
    assert apart.joins == ()
    assert "nothing to join" in repr(apart)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_theorem_2_is_exceeded_where_groups_are_larger_than_k(p):
    """Erratum 4: k = 2 and l = 2 imply 1/2, and a group of ten rows with two values may contain nine equal values."""
    values = ["x"] * 9 + ["y"] + ["x", "y"]
    table = table_of({f"s{j}": values for j in range(p)})
    views = [view_of([f"s{j}"], [0] * 10 + [1] * 2) for j in range(p)]
    link = sf.attacks.intersection(table, views).links[p - 1]
    assert link.bound == Fraction(1, 2) ** p
    assert link.largest == link.corrected_bound == Fraction(9, 10) ** p
    assert link.exceeds
    assert "EXCEEDED" in repr(link)


def test_a_function_across_tables_makes_people_certain_although_the_theorem_calls_them_safe():
    """Erratum 4: job determines the syndrome; both tables are 2-diverse with groups of exactly k = 2."""
    table = table_of({"job": list("abcd"), "syndrome": list("ABCD")})
    jobs, syndromes = view_of(["job"], [0, 0, 1, 1]), view_of(["syndrome"], [0, 1, 0, 1])
    results = sf.attacks.intersection(table, [jobs, syndromes])
    assert (results.k, results.l) == (2, 2)
    assert [link.exceeds for link in results.links] == [False, False]
    assert {each.before.certain for each in results.inferences} == {0}
    assert {each.after.certain for each in results.inferences} == {4}
    assert {each.truth for each in results.inferences} == {1.0}


def test_independent_attributes_reveal_nothing():
    jobs, sick = zip(*[(job, ill) for job in "abc" for ill in "xyz"], strict=True)
    table = table_of({"job": list(jobs), "sick": list(sick)})
    groups = [0, 0, 0, 0, 1, 1, 1, 1, 1]
    results = sf.attacks.intersection(table, [view_of(["job"], groups), view_of(["sick"], groups[::-1])])
    for each in results.inferences:
        assert each.after.mean == pytest.approx(float(each.before.mean))
        assert each.truth == pytest.approx(float(each.truth_before))
    assert attack_projected(table, [view_of(["job"], groups), view_of(["sick"], groups)]).warnings == ()


def test_the_bound_of_the_theorem():
    assert theorem_2(5, 2, 1) == Fraction(4, 5)
    assert theorem_2(5, 2, 3) == Fraction(64, 125)


# warnings and results of all attacks


def test_warnings_are_sorted_strongest_first():
    data = {"a": list("xxyyzz"), "b": list("112233"), "c": list("mmmnnn"), "d": list("pqpqpq")}
    results = attack_projected(table_of(data), [view_of([name], [0] * 6) for name in data])
    shares = [pair.share for pair in results.warnings]
    assert shares == sorted(shares, reverse=True)
    assert results.warnings[0].attributes == ("a", "b")
    assert results.warnings[0].share == 1
    assert "The bound of Theorem 2 does not hold for them" in results.warnings[0].text
    assert ("a", "d") not in [pair.attributes for pair in results.warnings], "a and d are independent"
    together = attack_projected(table_of(data), [view_of(data, [0] * 6)])
    assert together.warnings == ()
    assert together.intersection.worst is None


def test_a_constant_attribute_gives_no_warning():
    data = {"a": list("xxyy"), "same": list("cccc")}
    assert attack_projected(table_of(data), [view_of([name], [0] * 4) for name in data]).warnings == ()


def test_the_result_is_plain_data():
    views = [view_of(["diagnosis", "job"], [0, 0, 1, 1]), view_of(["family_history"], [0, None, 0, 0])]
    results = attack_projected(table_of(PATIENTS), views)
    plain = json.loads(results.to_json())
    assert plain == results.to_dict()
    assert plain["tables"] == [["diagnosis", "job"], ["family_history"]]
    assert plain["attacks"]["background-join"]["joins"][0]["after"].keys() == {"largest", "exact", "mean", "certain"}
    assert plain["attacks"]["intersection"]["inferences"][0]["people"] == 3
    assert results.warnings[0].text in repr(results)


def test_pairs_with_too_many_values_are_skipped_and_reported(monkeypatch):
    monkeypatch.setattr(inference, "_MAX_CELLS", 3)
    table = table_of({"job": list("abcd"), "sick": list("xyxy")})
    results = sf.attacks.intersection(table, [view_of(["job"], [0, 0, 1, 1]), view_of(["sick"], [0, 0, 1, 1])])
    assert results.inferences == ()
    assert results.skipped[0].attributes == ("job", "sick")
    assert "4 by 2 values" in repr(results)


# bad input


@pytest.mark.parametrize(
    ("views", "problem"),
    [
        ([], "no table to attack"),
        ([view_of([], [0, 0])], "table 1 has no attribute"),
        ([view_of(["a"], [0, 0]), view_of(["a"], [0, 0])], "'a' is in table 1 and in table 2"),
        ([view_of(["a"], [0])], "groups for 1 row; the original has 2"),
        ([view_of(["a"], [None, None])], "publishes no row"),
        ([view_of(["wrong"], [0, 0])], "no such column"),
    ],
)
def test_invalid_views(views, problem):
    table = table_of({"a": ["x", "y"]})
    for run in (sf.attacks.background_join, sf.attacks.intersection):
        with pytest.raises(sf.SfumatoError, match=problem):
            run(table, views)


@pytest.mark.parametrize("groups", [[0.5, 1.0], [-2, 0], ["a", "b"], [[0, 1]], 3])
def test_invalid_groups(groups):
    with pytest.raises(sf.errors.ParameterError, match="one-dimensional array of integers"):
        sf.attacks.AttackerView(("a",), groups)
    with pytest.raises(sf.errors.ParameterError, match="list of AttackerView"):
        sf.attacks.intersection(table_of({"a": ["x", "y"]}), [("a", groups)])


def test_lists_and_a_single_view_are_accepted():
    views = sf.attacks.AttackerView("a", [0, 0])
    assert views.attributes == ("a",)
    assert sf.attacks.intersection(table_of({"a": ["x", "y"]}), views).links[0].largest == Fraction(1, 2)


def test_a_vector_is_one_attribute_and_so_is_a_set():
    data = pa.table({"x": [1, 1, 2, 2], "y": [1, 2, 1, 2], "of": [["p"], ["q"], ["q", "p"], []], "z": list("aabb")})
    schema = sf.Schema(sensitive=["at", "of", "z"], vectors={"at": ["x", "y"]})
    table = sf.Table(data, schema)
    results = attack_projected(table, [view_of(["at", "of"], [0] * 4), view_of(["z"], [0] * 4)])
    assert [join.newly_certain for join in results.background.joins] == [4, 4]
    assert results.background.worst.example["values"] == {"at": "1 + 1"}
    assert {(each.target, each.helper) for each in results.intersection.inferences} == {
        ("at", "z"), ("z", "at"), ("of", "z"), ("z", "of"),
    }  # fmt: skip
    assert [pair.share for pair in results.warnings] == [1, 1]


@pytest.mark.parametrize("known", [0, -1, True, "all", 1.5])
def test_invalid_knowledge(known):
    with pytest.raises(sf.errors.ParameterError, match="invalid number of known attributes"):
        sf.attacks.background_join(table_of({"a": ["x"], "b": ["y"]}), [view_of(["a", "b"], [0])], known)


def test_too_many_subsets_of_known_attributes():
    names = [f"s{j}" for j in range(16)]
    table = table_of({name: ["x"] for name in names})
    with pytest.raises(sf.errors.ParameterError, match="12,870 subsets of 8"):
        sf.attacks.background_join(table, [view_of(names, [0])], 8)
    assert len(sf.attacks.background_join(table, [view_of(names, [0])], "others").joins) == 16


def test_attacks_by_name():
    table = table_of(PATIENTS)
    views = [view_of(PATIENTS, [0, 0, 1, 1])]
    results = attack_projected(table, views, ["intersection"])
    assert list(results.results) == ["intersection"]
    assert "knows a person's group" in results.to_dict()["attacks"]["intersection"]["assumptions"]
    with pytest.raises(sf.errors.ParameterError, match="intersektion"):
        attack_projected(table, views, ["intersektion"])
