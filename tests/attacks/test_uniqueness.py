"""Uniqueness by unchanged columns against the oracle, and on releases with and without a weakness."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_row_attacks as naive
import sfumato as sf
from sfumato.attacks import Uniqueness
from sfumato.attacks.attacked_sources import attacked_release
from small_releases import small_releases


@given(small_releases())
def test_agrees_with_the_oracle(case):
    kinds = {
        "1 of 2 sensitive values": [("ill",), ("pay",)],
        "all sensitive values": [("ill", "pay")],
        "unchanged columns": [("plan",)],
        "all sensitive values and unchanged columns": [("ill", "pay", "plan")],
    }
    results = {result.about: result for result in Uniqueness().run(case.attacked)}
    assert len(results) == 2 * len(kinds)
    sizes = [case.group.count(one) for one in case.group]
    for about, sets in kinds.items():
        for suffix, group in (("", None), (" and the group", case.group)):
            result = results[about + suffix]
            runs = [naive.alike(case.rows, names, group) for names in sets]
            shares = [sum(number == 1 for number in run) / len(run) for run in runs]
            assert result.success.share == pytest.approx(sum(shares) / len(shares))
            assert result.figures["largest share"] == pytest.approx(max(shares))
            assert result.certain == sum(1 in person for person in zip(*runs, strict=True))
            below = sum(any(number < min(sizes) for number in person) for person in zip(*runs, strict=True))
            assert result.figures["people below k"] == below
            assert result.baselines["alone in the group"].share == pytest.approx(sizes.count(1) / len(sizes))


def released(pay):
    frame = pa.table({"age": ["*"] * len(pay), "pay": pay})
    return frame, sf.Schema(["age"], ["pay"])


def test_distinct_values_find_everybody():
    frame, schema = released(list(range(50)))
    result = sf.attack(frame, schema=schema, attacks=["uniqueness"])[0]
    assert (result.success.share, result.certain, result.exceeds) == (1.0, 50, True)


def test_equal_values_find_nobody():
    frame, schema = released([1] * 50)
    for result in sf.attack(frame, schema=schema, attacks=["uniqueness"]):
        assert (result.success.share, result.certain, result.exceeds) == (0.0, 0, False)


def test_nothing_unchanged():
    found = sf.attack(pa.table({"age": ["*", "*"]}), schema=sf.Schema(["age"]), attacks=["uniqueness"])
    assert [one.reason for one in found.skipped] == ["no column is published unchanged"]


def test_a_folder_needs_no_original(tmp_path):
    frame = pa.table({"age": [1, 2, 3, 4], "ill": ["a", "a", "b", "c"], "plan": ["x", "x", "x", "x"]})
    schema = sf.Schema(["age"], ["ill"], other=["plan"])
    sf.anonymize(frame, schema, sf.KAnonymity(2), seed=0).save(tmp_path / "out")
    results = {result.about: result for result in sf.attack(tmp_path / "out", attacks=["uniqueness"])}
    assert results["all sensitive values"].certain == 2
    assert results["unchanged columns"].certain == 0
    assert results["all sensitive values"].figures["k"] == 2


ROWS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.integers(0, 1)), min_size=2, max_size=12)


@given(ROWS)
def test_who_has_several_rows_is_unique_among_other_people(rows):
    """Each person is in one group; the rows that are attacked are one of each person, and only others may share values."""
    who, ill, _ = zip(*rows, strict=True)
    first = {person: group for person, _, group in reversed(rows)}
    groups = [first[person] for person in who]
    frame = pa.table({"q": [f"group {g}" for g in groups], "ill": ill, "who": who})
    schema = sf.Schema(["q"], ["ill"], person_id="who")
    release = attacked_release(frame.drop(["who"]), frame, schema=schema)
    if len(set(who)) == len(who):
        assert release.several_rows is None
        return
    attacked = release.one_row_each.tolist()
    assert sorted(who[row] for row in attacked) == sorted(set(who))
    plain, grouped = Uniqueness().run(release)
    for result, alike in (
        (plain, lambda i, j: ill[i] == ill[j]),
        (grouped, lambda i, j: ill[i] == ill[j] and groups[i] == groups[j]),
    ):
        others = [{who[j] for j in range(len(rows)) if alike(i, j)} - {who[i]} for i in attacked]
        assert result.success.tried == len(attacked)
        assert result.certain == result.right == sum(not one for one in others)
        alone = [not {who[j] for j in range(len(rows)) if groups[j] == groups[i]} - {who[i]} for i in attacked]
        assert result.baselines["alone in the group"].share == pytest.approx(sum(alone) / len(alone))


def test_two_rows_of_one_person_do_not_hide_one_another():
    frame = pa.table({"q": ["*"] * 40, "ill": [i // 2 for i in range(40)], "who": [i // 2 for i in range(40)]})
    schema = sf.Schema(["q"], ["ill"], person_id="who")
    found = sf.attack(frame.drop(["who"]), frame, schema=schema, attacks=["uniqueness"])[0]
    assert (found.success.share, found.success.tried, found.certain) == (1.0, 20, 20)
    assert "people have several rows, and one row of each, drawn at random, is attacked" in found.notes
    skipped = sf.attack(frame.drop(["who"]), schema=schema, attacks=["uniqueness"]).skipped
    assert [one.reason for one in skipped] == ["people have several rows, and only the original says whose row each row is"]
