"""The learning attack against its definition, on secrets that depend on quasi-identifiers, and on secrets that do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from attacked_tables import grouped, one
from naive_group_attacks import learned
from sfumato.attacks import Learning, NotMeasured
from sfumato.attacks.group_blocks import GroupBlocks
from sfumato.attacks.naive_bayes import Features
from sfumato.errors import ParameterError

MODE = "the most frequent value of the group"
OTHERS = "a classifier of other people"
WITHIN = "a classifier of other people, within the group"

ROWS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from(["x", "y", None]),
        st.sampled_from([1, 2, 3, None]),
    ),
    min_size=2,
    max_size=12,
).filter(lambda rows: len({row[1] for row in rows}) > 1)


@given(ROWS)
def test_beliefs_are_those_of_the_definition(rows):
    groups, secrets, town, age = (list(column) for column in zip(*rows, strict=True))
    release = grouped(groups, {"s": secrets}, {"town": town, "age": age})
    secret = release.secret("s")
    features = Features.of(release.original, len(secret.attribute))
    blocks = GroupBlocks.of(release, secret, features, np.arange(min(3, len(rows))))
    attack = Learning(rounds=4, smoothing="0.5")
    table = attack._learn(features, blocks)
    everybody = np.arange(len(rows))
    guess, belief = blocks.guesses(table[None, :], np.zeros(len(rows), np.int64), everybody)
    expected = learned(groups, secrets, list(zip((f"group {g}" for g in groups), town, age, strict=True)), 4, 0.5)
    for person in everybody.tolist():
        own = expected[person]
        assert belief[person] == pytest.approx(max(own.values()), abs=1e-6)
        assert own[secret.attribute.value(int(guess[person]))] == pytest.approx(max(own.values()), abs=1e-6)
    result = one(attack.run(release))
    names = [secret.attribute.value(int(value)) for value in guess]
    assert result.success.share == pytest.approx(np.mean([a == b for a, b in zip(names, secrets, strict=True)]))
    assert result.certain == sum(belief > 0.99)
    assert result.figures["above 90 %"]["people"] == sum(belief > 0.9)


def test_secrets_that_follow_from_quasi_identifiers_are_learned():
    """In each group the town says who has which secret, and no group says so."""
    town, groups = [], []
    for group in range(12):
        ulm = 3 + group % 5
        town += ["Ulm"] * ulm + ["Rome"] * (10 - ulm)
        groups += [group] * 10
    secrets = ["flu" if place == "Ulm" else "gout" for place in town]
    result = one(Learning().run(grouped(groups, {"s": secrets}, {"town": town})))
    assert result.success.share == 1
    assert result.baselines[MODE].share < 0.7
    assert result.baselines[WITHIN].share == 1  # statistics about others reveal it too
    longer = one(Learning(rounds=100, smoothing="0.001").run(grouped(groups, {"s": secrets}, {"town": town})))
    assert 100 < longer.certain == longer.right


def test_independent_secrets_are_guessed_no_better_than_by_the_mode():
    draw = np.random.default_rng(5)
    count = 3000
    secrets = draw.choice(["a", "b", "c", "d"], count, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    known = {"age": draw.integers(20, 60, count).tolist(), "town": draw.choice(["x", "y", "z"], count).tolist()}
    result = one(Learning().run(grouped([i // 6 for i in range(count)], {"s": secrets}, known)))
    assert not result.exceeds
    assert result.gain < 0.02


def test_nothing_is_learned_from_a_single_group():
    """Rare values look like frequent ones, and neither smoothing nor rounding breaks the tie in many rounds."""
    draw = np.random.default_rng(2)
    secrets = draw.choice(["a", "b", "c", "d"], 3000, p=[0.5, 0.3, 0.15, 0.05]).tolist()
    known = {"age": draw.integers(20, 60, 3000).tolist(), "town": draw.choice(["x", "y"], 3000, p=[0.9, 0.1]).tolist()}
    result = one(Learning(rounds=40).run(grouped([0] * 3000, {"s": secrets}, known)))
    assert result.success == result.baselines[MODE]
    assert result.certain == 0


def test_large_groups_are_dealt_in_blocks(monkeypatch):
    """Blocks have their share of the group's values, so the beliefs hardly change."""
    draw = np.random.default_rng(1)
    town = draw.choice(["x", "y"], 2000)
    secrets = np.where(draw.random(2000) < 0.8, np.where(town == "x", "a", "b"), "c").tolist()
    release = grouped(
        (draw.random(2000) < np.where(town == "x", 0.7, 0.3)).tolist(), {"s": secrets}, {"town": town.tolist()}
    )
    whole = one(Learning().run(release))
    for name, value in {"_BLOCK": 1 << 9, "_AT_ONCE": 1 << 11}.items():
        monkeypatch.setattr(f"sfumato.attacks.group_blocks.{name}", value)
    parts = one(Learning().run(release))
    assert parts.success.share == pytest.approx(whole.success.share, abs=0.02)
    assert parts.success.tried == 2000


def test_learning_from_a_part_is_stated(monkeypatch):
    monkeypatch.setattr("sfumato.attacks.learning._LEARNED", 100)
    release = grouped([i // 4 for i in range(200)], {"s": ["a", "b", "a", "c"] * 50}, {"x": [0, 1, 0, 2] * 50})
    assert any("learned from a random" in note for note in one(Learning().run(release)).notes)


def test_fewer_people_are_guessed_if_there_are_many_values(monkeypatch):
    monkeypatch.setattr("sfumato.attacks.learning._GUESSED", 120)
    result = one(Learning().run(grouped([0] * 50, {"s": list(range(50))}, {"x": [i % 7 for i in range(50)]})))
    assert result.success.tried == 2  # each costs 50 values of the group, and 50 // 16 for those of the table
    assert any("only 2 people are guessed" in note for note in result.notes)


def test_numbers_with_many_values_are_taken_together():
    secrets = ["a", "b"] * 150
    release = grouped([i // 6 for i in range(300)], {"s": secrets}, {"pay": list(range(300))})
    result = one(Learning().run(release))
    assert any("taken together to learn from: pay" in note for note in result.notes)
    features = Features.of(release.original, 2)
    assert features.sizes[1] == 100
    # the parts are of three numbers each
    assert len({tuple(row) for row in features.cells[:3, 1:].tolist()}) == 1


def test_what_cannot_be_learned_is_not_measured():
    with pytest.raises(NotMeasured, match="single value"):
        Learning().run(grouped([0, 0], {"s": ["a", "a"]}))
    with pytest.raises(NotMeasured, match="no quasi-identifiers"):
        Learning().run(grouped([0, 0], {"s": ["a", "b"]}, cells={}))


def test_without_other_people_there_is_no_classifier_of_them():
    release = grouped([0, 0], {"s": ["a", "b"]})
    assert OTHERS in one(Learning().run(release)).baselines
    alone = replace(
        release,
        original=release.original.take(np.array([0])),
        rows=release.rows[:1],
        group_of_person=release.group_of_person[:1],
    )
    result = one(Learning().run(alone))
    assert set(result.baselines) == {MODE}
    assert any("because there are none" in note for note in result.notes)


@pytest.mark.parametrize("parameters", [{"rounds": 0}, {"smoothing": 0}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ParameterError):
        Learning(**parameters)


def test_other_rows_of_a_person_are_no_statistics_about_other_people():
    """Everybody has a town of their own and the same secret twice: other people's rows say nothing about it."""
    who = [i // 2 for i in range(200)]
    ill = [("flu", "gout")[(7 * person) % 11 % 2] for person in who]
    frame = pa.table({"town": [f"town {person}" for person in who], "ill": ill, "who": who})
    published = pa.table({"town": ["*"] * 200, "ill": ill})
    schema = sf.Schema(["town"], ["ill"], person_id="who")
    found = sf.attack(published, frame, schema=schema, attacks=["learning"])[0]
    most = max(ill.count("flu"), ill.count("gout")) / 200
    assert found.success.tried == 100
    assert found.baselines["a classifier of other people"].share <= most
    # whoever takes each row for another person finds the secret in the other row
    rows = sf.attack(published, frame.drop(["who"]), schema=sf.Schema(["town"], ["ill"]), attacks=["learning"])[0]
    assert rows.success.tried == 200
    assert rows.baselines["a classifier of other people"].share > 0.8
