"""Attacks on projected tables: against naive oracles, on the paper's example, and where its theorem fails."""

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
from sfumato.attacks import attack, belief, inference, theorem_2
from sfumato.attacks.linkability import links


def table_of(columns):
    return sf.Table(pa.table(columns), sf.Schema(sensitive=list(columns)))


def seen_of(attributes, groups):
    return sf.attacks.AttackerView(tuple(attributes), np.array([-1 if group is None else group for group in groups]))


@st.composite
def cases(draw):
    """A table of a few columns, cut into projected tables, each with groups of its own; some rows are not published."""
    rows = draw(st.integers(1, 9))
    names = [f"s{j}" for j in range(draw(st.integers(1, 4)))]
    values = st.sampled_from(["a", "b", "c", None])
    table = {name: draw(st.lists(values, min_size=rows, max_size=rows)) for name in names}
    places = draw(st.lists(st.integers(0, 2), min_size=len(names), max_size=len(names)))
    group = st.sampled_from([0, 0, 1, 1, 4, 7, None])
    seen = []
    for place in sorted(set(places)):
        groups = draw(st.lists(group, min_size=rows, max_size=rows).filter(lambda them: set(them) != {None}))
        seen.append(([name for name, at in zip(names, places, strict=True) if at == place], groups))
    return table, seen


def exactly(confidence):
    return confidence.largest, confidence.mean, confidence.certain


@given(cases(), st.sampled_from([1, 2, "others"]))
def test_background_joins_are_those_of_the_definition(case, known):
    table, seen = case
    found = sf.attacks.background_join(table_of(table), [seen_of(*each) for each in seen], known)
    expected = set()
    for join in found.joins:
        attributes, groups = seen[join.table]
        before, after = naive.background(table, attributes, groups, join.known, join.target)
        assert exactly(join.before) == naive.confidence(before)
        assert exactly(join.after) == naive.confidence(after)
        assert join.gain == max(b - a for a, b in zip(before, after, strict=True))
        assert join.mean_gain >= 0
        assert join.people == len(before)
        assert join.newly_certain >= 0
        expected.add((join.known, join.target))
    ways = 0
    for attributes, _ in seen:
        others = len(attributes) - 1
        size = others if known == "others" else min(known, others)
        ways += len(attributes) * (0 if not others else sum(1 for _ in naive.combinations(range(others), size)))
    assert len(expected) == len(found.joins) == ways
    assert (found.worst is None) == (ways == 0)


@given(cases())
def test_links_are_the_largest_products_of_shares(case):
    table, seen = case
    k, l, found = links(table_of(table), [seen_of(*each) for each in seen])
    for link in found:
        best = naive.linked(table, seen, link.tables)
        assert link.largest == max(best)
        there = [float(share) for share in best if share]
        assert link.mean == pytest.approx(sum(there) / len(there))
        assert link.largest <= link.mended
    groups = [
        (names, [i for i, g in enumerate(of_row) if g == each]) for names, of_row in seen for each in set(of_row) - {None}
    ]
    sizes = {len(rows) for _, rows in groups}
    assert k == min(sizes)
    assert l == min(len({table[name][row] for row in rows}) for names, rows in groups for name in names)
    if len(sizes) == 1:
        assert not any(link.exceeds for link in found), "groups of one size: the theorem as it is stated"


@given(cases())
def test_combining_two_tables_follows_bayes(case):
    table, seen = case
    found = sf.attacks.intersection(table_of(table), [seen_of(*each) for each in seen])
    assert not found.left_out
    for each in found.inferences:
        persons = list(naive.combined(table, each.target, seen[each.table][1], each.helper, seen[each.helper_table][1]))
        assert each.people == len(persons)
        assert exactly(each.before) == naive.confidence([max(before.values()) for before, _, _ in persons])
        largest, mean, certain = naive.confidence([max(after.values()) for _, after, _ in persons])
        assert each.after.largest == pytest.approx(float(largest))
        assert each.after.mean == pytest.approx(float(mean))
        assert each.after.certain == certain
        assert each.truth_before == sum(before[true] for before, _, true in persons) / len(persons)
        assert each.truth == pytest.approx(float(sum(after[true] for _, after, true in persons)) / len(persons))
    tried = {(each.target, each.helper) for each in found.inferences}
    wanted = {
        (a, b)
        for i, (ones, mine) in enumerate(seen)
        for j, (others, theirs) in enumerate(seen)
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
    seen = seen_of(PATIENTS, [0, 0, 1, 1])
    assert belief(table, seen, 1, "diagnosis", {}) == {"AS": Fraction(1, 2), "DB": Fraction(1, 2)}
    assert belief(table, seen, 1, "diagnosis", {"job": "teacher"}) == {"AS": Fraction(1)}
    assert belief(table, seen, 1, "diagnosis", {"job": "lawyer"}) == {}
    found = sf.attacks.background_join(table, [seen])
    (join,) = [each for each in found.joins if (each.known, each.target) == (("job",), "diagnosis")]
    assert join.gain == Fraction(1, 2)
    assert join.newly_certain == 2
    assert join.example["among"] == 1
    apart = sf.attacks.background_join(table, [seen_of([name], [0, 0, 1, 1]) for name in PATIENTS])
    assert apart.joins == ()
    assert "nothing to join" in repr(apart)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_theorem_2_is_exceeded_where_groups_are_larger_than_k(p):
    """Erratum 4: k = 2 and l = 2 promise 1/2, and a group of ten rows with two values lets nine be equal."""
    values = ["x"] * 9 + ["y"] + ["x", "y"]
    table = table_of({f"s{j}": values for j in range(p)})
    seen = [seen_of([f"s{j}"], [0] * 10 + [1] * 2) for j in range(p)]
    link = sf.attacks.intersection(table, seen).links[p - 1]
    assert link.stated == Fraction(1, 2) ** p
    assert link.largest == link.mended == Fraction(9, 10) ** p
    assert link.exceeds
    assert "EXCEEDED" in repr(link)


def test_a_function_across_tables_pins_people_whom_the_theorem_calls_safe():
    """Erratum 4: job decides the syndrome's family; both tables are 2-diverse with groups of exactly k = 2."""
    table = table_of({"job": list("abcd"), "syndrome": list("ABCD")})
    jobs, syndromes = seen_of(["job"], [0, 0, 1, 1]), seen_of(["syndrome"], [0, 1, 0, 1])
    found = sf.attacks.intersection(table, [jobs, syndromes])
    assert (found.k, found.l) == (2, 2)
    assert [link.exceeds for link in found.links] == [False, False]
    assert {each.before.certain for each in found.inferences} == {0}
    assert {each.after.certain for each in found.inferences} == {4}
    assert {each.truth for each in found.inferences} == {1.0}


def test_independent_attributes_tell_nothing():
    jobs, sick = zip(*[(job, ill) for job in "abc" for ill in "xyz"], strict=True)
    table = table_of({"job": list(jobs), "sick": list(sick)})
    groups = [0, 0, 0, 0, 1, 1, 1, 1, 1]
    found = sf.attacks.intersection(table, [seen_of(["job"], groups), seen_of(["sick"], groups[::-1])])
    for each in found.inferences:
        assert each.after.mean == pytest.approx(float(each.before.mean))
        assert each.truth == pytest.approx(float(each.truth_before))
    assert attack(table, [seen_of(["job"], groups), seen_of(["sick"], groups)]).warnings == ()


def test_the_bound_of_the_theorem():
    assert theorem_2(5, 2, 1) == Fraction(4, 5)
    assert theorem_2(5, 2, 3) == Fraction(64, 125)


# warnings and the whole


def test_warnings_stand_strongest_first():
    data = {"a": list("xxyyzz"), "b": list("112233"), "c": list("mmmnnn"), "d": list("pqpqpq")}
    found = attack(table_of(data), [seen_of([name], [0] * 6) for name in data])
    shares = [warned.share for warned in found.warnings]
    assert shares == sorted(shares, reverse=True)
    assert found.warnings[0].attributes == ("a", "b")
    assert found.warnings[0].share == 1
    assert "Theorem 2 does not hold there" in found.warnings[0].text
    assert ("a", "d") not in [warned.attributes for warned in found.warnings], "a and d are independent"
    together = attack(table_of(data), [seen_of(data, [0] * 6)])
    assert together.warnings == ()
    assert together.intersection.worst is None


def test_a_constant_attribute_gives_no_warning():
    data = {"a": list("xxyy"), "same": list("cccc")}
    assert attack(table_of(data), [seen_of([name], [0] * 4) for name in data]).warnings == ()


def test_the_result_is_plain_data():
    seen = [seen_of(["diagnosis", "job"], [0, 0, 1, 1]), seen_of(["family_history"], [0, None, 0, 0])]
    found = attack(table_of(PATIENTS), seen)
    told = json.loads(found.to_json())
    assert told == found.to_dict()
    assert told["tables"] == [["diagnosis", "job"], ["family_history"]]
    assert told["background"]["joins"][0]["after"].keys() == {"largest", "exact", "mean", "certain"}
    assert told["intersection"]["inferences"][0]["people"] == 3
    assert found.warnings[0].text in repr(found)


def test_too_many_values_are_left_out_and_told(monkeypatch):
    monkeypatch.setattr(inference, "_CELLS", 3)
    table = table_of({"job": list("abcd"), "sick": list("xyxy")})
    found = sf.attacks.intersection(table, [seen_of(["job"], [0, 0, 1, 1]), seen_of(["sick"], [0, 0, 1, 1])])
    assert found.inferences == ()
    assert found.left_out[0].attributes == ("job", "sick")
    assert "4 by 2 values" in repr(found)


# bad input


@pytest.mark.parametrize(
    ("seen", "problem"),
    [
        ([], "no table to attack"),
        ([seen_of([], [0, 0])], "table 1 has no attribute"),
        ([seen_of(["a"], [0, 0]), seen_of(["a"], [0, 0])], "'a' is in table 1 and in table 2"),
        ([seen_of(["a"], [0])], "the groups of 1 row, not of 2"),
        ([seen_of(["a"], [None, None])], "publishes no row"),
        ([seen_of(["wrong"], [0, 0])], "no such column"),
    ],
)
def test_what_cannot_be_seen(seen, problem):
    table = table_of({"a": ["x", "y"]})
    for attacking in (sf.attacks.background_join, sf.attacks.intersection):
        with pytest.raises(sf.SfumatoError, match=problem):
            attacking(table, seen)


@pytest.mark.parametrize("groups", [[0.5, 1.0], [-2, 0], ["a", "b"], [[0, 1]], 3])
def test_what_is_no_group(groups):
    with pytest.raises(sf.errors.ParameterError, match="no list of whole numbers"):
        sf.attacks.AttackerView(("a",), groups)
    with pytest.raises(sf.errors.ParameterError, match="no list of Seen"):
        sf.attacks.intersection(table_of({"a": ["x", "y"]}), [("a", groups)])


def test_lists_and_one_table_will_do():
    seen = sf.attacks.AttackerView("a", [0, 0])
    assert seen.attributes == ("a",)
    assert sf.attacks.intersection(table_of({"a": ["x", "y"]}), seen).links[0].largest == Fraction(1, 2)


def test_a_vector_is_one_attribute_and_so_is_a_set():
    data = pa.table({"x": [1, 1, 2, 2], "y": [1, 2, 1, 2], "of": [["p"], ["q"], ["q", "p"], []], "z": list("aabb")})
    schema = sf.Schema(sensitive=["at", "of", "z"], vectors={"at": ["x", "y"]})
    table = sf.Table(data, schema)
    found = attack(table, [seen_of(["at", "of"], [0] * 4), seen_of(["z"], [0] * 4)])
    assert [join.newly_certain for join in found.background.joins] == [4, 4]
    assert found.background.worst.example["values"] == {"at": "1 + 1"}
    assert {(each.target, each.helper) for each in found.intersection.inferences} == {
        ("at", "z"), ("z", "at"), ("of", "z"), ("z", "of"),
    }  # fmt: skip
    assert [warned.share for warned in found.warnings] == [1, 1]


@pytest.mark.parametrize("known", [0, -1, True, "all", 1.5])
def test_what_cannot_be_known(known):
    with pytest.raises(sf.errors.ParameterError, match="no number of attributes"):
        sf.attacks.background_join(table_of({"a": ["x"], "b": ["y"]}), [seen_of(["a", "b"], [0])], known)


def test_too_many_ways_to_know():
    names = [f"s{j}" for j in range(16)]
    table = table_of({name: ["x"] for name in names})
    with pytest.raises(sf.errors.ParameterError, match="12,870 ways to know 8"):
        sf.attacks.background_join(table, [seen_of(names, [0])], 8)
    assert len(sf.attacks.background_join(table, [seen_of(names, [0])], "others").joins) == 16
