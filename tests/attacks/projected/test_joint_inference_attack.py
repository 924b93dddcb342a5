"""Inference over several attributes at a time, against Bayes' rule over every combination of values."""

from __future__ import annotations

import os
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_projected_attacks import cases, table_of, view_of

import naive_attacks as naive
import sfumato as sf
from sfumato.attacks.projected import joint_inference_attack as module
from sfumato.errors import ParameterError

EXAMPLES = settings(max_examples=10_000 if os.environ.get("SFUMATO_PROFILE") == "thorough" else 30)


def run(case, attributes):
    table, views = case
    return sf.attacks.joint_inference(table_of(table), [view_of(*each) for each in views], attributes)


@EXAMPLES
@given(cases(), st.integers(2, 4))
def test_every_set_of_attributes_follows_bayes_rule(case, attributes):
    table, views = case
    found = run(case, attributes)
    assert not found.skipped
    expected = set()
    table_of_name = {name: at for at, (names, _) in enumerate(views) for name in names}
    for names in combinations(table_of_name, attributes):
        groups = [of_row for inside, of_row in views if set(inside) & set(names)]
        if len(groups) > 1 and any(None not in places for places in zip(*groups, strict=True)):
            expected |= {(name, tuple(other for other in names if other != name)) for name in names}
    assert {(one.target, one.helpers) for one in found.inferences} == expected
    for one in found.inferences:
        assert (one.table, *one.helper_tables) == tuple(table_of_name[name] for name in (one.target, *one.helpers))
        persons = list(naive.joint_posteriors(table, views, [one.target, *one.helpers], one.target))
        assert one.people == len(persons)
        largest, mean, certain = naive.confidence([max(after.values()) for after, _ in persons])
        assert one.after.largest == pytest.approx(float(largest))
        assert one.after.mean == pytest.approx(float(mean))
        assert one.after.certain == sum(len(after) == 1 for after, _ in persons) == certain
        assert one.truth == pytest.approx(float(sum(after[true] for after, true in persons)) / len(persons))


@EXAMPLES
@given(cases())
def test_two_attributes_are_the_inferences_of_the_intersection(case):
    """Two implementations of one rule: a matrix of all values, and the combinations that occur."""
    table, views = case
    pairs = sf.attacks.intersection(table_of(table), [view_of(*each) for each in views]).inferences
    found = {(one.target, *one.helpers): one for one in run(case, 2).inferences}
    assert found.keys() == {(one.target, one.helper) for one in pairs}
    for one in pairs:
        joint = found[one.target, one.helper]
        assert (joint.before, joint.truth_before, joint.people) == (one.before, one.truth_before, one.people)
        assert joint.after.mean == pytest.approx(one.after.mean)
        assert joint.best_pair == pytest.approx(one.after.mean)
        assert joint.truth == pytest.approx(one.truth)
        assert joint.newly_certain == one.newly_certain


def parity():
    """The drug is the exclusive or of two coins that two other tables state; each coin alone says nothing of it."""
    first, second = np.tile([0, 0, 1, 1], 10), np.tile([0, 1, 0, 1], 10)
    people = pa.table({"drug": [str(x) for x in first ^ second], "day": first.astype(str), "dose": second.astype(str)})
    table = sf.Table(people, sf.Schema(sensitive=["drug", "day", "dose"]))
    whole = np.zeros(40, int)
    views = [sf.attacks.AttackerView((name,), of) for name, of in (("drug", whole), ("day", first), ("dose", second))]
    return table, views


def test_three_attributes_reveal_what_no_two_do():
    table, views = parity()
    assert all(one.mean_gain == 0 for one in sf.attacks.intersection(table, views).inferences if one.target == "drug")
    worst = sf.attacks.joint_inference(table, views).worst
    assert (worst.target, worst.newly_certain, worst.after.mean, worst.best_pair) == ("drug", 40, 1, 0.5)
    assert not any(one.mean_gain for one in sf.attacks.joint_inference(table, views, 2).inferences if one.target == "drug")


def test_by_name():
    table, views = parity()
    results = sf.attacks.attack_projected(table, views, ["joint-inference"])
    plain = results.to_dict()["attacks"]["joint-inference"]
    assert plain["inferences"][0]["helpers"] == ["day", "dose"] and "joint distribution" in plain["assumptions"]
    assert "day and dose reveal drug" in repr(results)


def test_limits_and_bad_input(monkeypatch):
    table, views = parity()
    for bad in (1, True, "3", 2.0):
        with pytest.raises(ParameterError, match="attributes"):
            sf.attacks.joint_inference(table, views, bad)
    nothing = sf.attacks.joint_inference(table, views, 4)
    assert (nothing.inferences, nothing.worst) == ((), None) and "nothing to combine" in repr(nothing)
    whole = sf.attacks.joint_inference(table, views)
    monkeypatch.setattr(module, "_CHUNK", 1)
    assert sf.attacks.joint_inference(table, views) == whole  # one combination of groups at a time
    monkeypatch.setattr(module, "_MAX_STEPS", 3)
    skipped = sf.attacks.joint_inference(table, views)
    assert skipped.skipped[0].attributes == ("drug", "day", "dose") and "skipped" in repr(skipped)
    assert skipped.to_dict()["skipped"][0]["attributes"] == ["drug", "day", "dose"]
    monkeypatch.setattr(module, "_MAX_SETS", 0)
    with pytest.raises(ParameterError, match="1 sets of 3"):
        sf.attacks.joint_inference(table, views)
