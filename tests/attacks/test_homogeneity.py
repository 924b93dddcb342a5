"""The homogeneity attack against its definition, on a group with one value, and on groups that are like the table."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attacked_tables import grouped, one
from naive_group_attacks import members
from sfumato.attacks import Homogeneity

VALUES = ["a", "b", "c", None]
BASELINE = "the most frequent value of the table"
ROWS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(VALUES)), min_size=1, max_size=14)


def most_frequent(values):
    """The first of the most frequent values, in their order."""
    return max(VALUES, key=lambda value: (values.count(value), -VALUES.index(value)))


@given(ROWS, st.booleans())
def test_guesses_are_those_of_the_definition(rows, original):
    groups, secrets = (list(column) for column in zip(*rows, strict=True))
    result = one(Homogeneity().run(grouped(groups, {"s": secrets}, original=original)))
    own = {group: [secrets[i] for i in people] for group, people in members(groups).items()}
    right = [most_frequent(own[group]) == secret for group, secret in rows]
    alone = [len(Counter(own[group])) == 1 for group in groups]
    assert result.success.share == pytest.approx(sum(right) / len(rows))
    assert result.baselines[BASELINE].share == pytest.approx(secrets.count(most_frequent(secrets)) / len(rows))
    assert result.certain == result.right == sum(alone)
    assert result.figures["homogeneous groups"] == sum(len(Counter(values)) == 1 for values in own.values())


def test_groups_with_one_value_are_found():
    result = one(Homogeneity().run(grouped([i // 10 for i in range(200)], {"s": [i // 10 % 4 for i in range(200)]})))
    assert (result.success.share, result.certain, result.right) == (1, 200, 200)
    assert result.exceeds


def test_groups_like_the_table_reveal_nothing():
    result = one(Homogeneity().run(grouped([i // 10 for i in range(200)], {"s": (["a"] * 7 + ["b"] * 3) * 20})))
    assert result.success == result.baselines[BASELINE]
    assert (result.certain, result.exceeds) == (0, False)
