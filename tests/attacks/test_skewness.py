"""The skewness attack against its definition, on a planted rare value, and on groups that are like the table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from attacked_tables import grouped, one
from naive_group_attacks import skewness
from sfumato.attacks import Skewness

VALUES = ["a", "b", "c", "d", None]
ROWS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(VALUES)), min_size=1, max_size=14)


@given(ROWS)
def test_bets_lifts_and_chances_are_those_of_the_definition(rows):
    groups, secrets = zip(*rows, strict=True)
    result = one(Skewness().run(grouped(groups, {"s": list(secrets)})))
    right, chance, largest, mean, risen, alone = skewness(groups, secrets, VALUES.index)
    assert result.success.share == pytest.approx(right / len(rows))
    assert result.baselines["the same value, by its share of the table"].share == pytest.approx(float(chance))
    assert result.figures["largest lift"] == pytest.approx(float(largest))
    assert result.figures["mean lift"] == pytest.approx(float(mean))
    assert result.figures["below 10 % in the table, above 50 % in the group"] == risen
    assert result.certain == result.right == alone


def test_a_rare_value_that_is_frequent_in_one_group_is_found():
    groups = [0] * 10 + [1] * 90
    secrets = ["HIV"] * 6 + ["flu"] * 4 + ["flu", "gout"] * 45
    result = one(Skewness().run(grouped(groups, {"s": secrets})))
    # 60 % of a group and 6 % of the table
    assert result.figures["largest lift"] == pytest.approx(10)
    assert result.figures["below 10 % in the table, above 50 % in the group"] == 6


def test_groups_like_the_table_have_no_lift():
    groups = [i // 10 for i in range(200)]
    result = one(Skewness().run(grouped(groups, {"s": (["a"] * 7 + ["b"] * 3) * 20})))
    assert result.figures["largest lift"] == pytest.approx(1)
    assert result.success.share == pytest.approx(0.7)
    assert result.gain == pytest.approx(0)
    assert not result.exceeds


def test_published_rows_suffice():
    groups, secrets = [0, 0, 1, 1, 1], ["a", "b", "a", "a", "a"]
    with_people = one(Skewness().run(grouped(groups, {"s": secrets})))
    without = one(Skewness().run(grouped(groups, {"s": secrets}, original=False)))
    assert (without.success, without.baselines, without.figures) == (
        with_people.success,
        with_people.baselines,
        with_people.figures,
    )
    assert any("published rows are counted" in note for note in without.notes)


def test_a_sample_of_published_rows_is_stated():
    release = grouped([0, 1] * 50, {"s": ["a", "b"] * 50}, original=False, sample=10)
    result = one(Skewness().run(release))
    assert result.success.tried == 10
    assert result.success.share == 1
    assert any("a random sample of 10 of 100" in note for note in result.notes)


def test_a_value_that_is_not_published_is_never_guessed():
    import pyarrow as pa

    published = pa.table({"q": ["x", "x"], "s": ["a", "b"]})
    people = pa.table({"q": ["x", "x"], "s": ["c", "b"]})
    result = sf.attack(published, people, schema=sf.Schema(["q"], ["s"]), attacks=["skewness"])[0]
    assert result.success.share == 0  # the bet is a, the first of two
    assert result.figures["mean lift"] == pytest.approx(0.5)  # b has a share of 1/2 in the group and in the table
