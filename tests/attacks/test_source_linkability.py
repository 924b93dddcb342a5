"""Linkability of two records against the oracle, and on releases with and without a weakness."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import naive_row_attacks as naive
import sfumato as sf
from sfumato.attacks import Linkability
from small_releases import NAMES, UNCHANGED, small_release, small_releases

BASELINE = "records of two random people"


@given(small_releases())
def test_agrees_with_the_oracle(case):
    cells, columns, halves = Linkability().run(case.attacked)
    for result, unchanged in ((cells, ()), (columns, UNCHANGED), (halves, UNCHANGED)):
        expected = naive.meeting(case.people, case.rows, case.group, NAMES, unchanged)
        assert result.success.share == pytest.approx(sum(one and own for one, _, own in expected) / len(expected))
        assert result.certain == sum(alone for _, alone, _ in expected)
        assert result.right == sum(alone and own for _, alone, own in expected)
    if len(case.rows) == 2:  # each person can only be paired with the other one
        expected = naive.meeting(case.people, case.rows, case.group, NAMES, UNCHANGED, second=[1, 0], columns=NAMES)
        assert columns.baselines[BASELINE].share == pytest.approx(sum(one for one, _, _ in expected) / 2)


def people(count, seed=0):
    random = np.random.default_rng(seed)
    return [
        {"age": int(age), "town": str(town), "ill": str(ill), "pay": int(pay), "plan": "x"}
        for age, town, ill, pay in zip(
            random.integers(1, 30, count),
            random.choice([*"abcdefgh"], count),
            random.choice(["flu", "gout", "ulcer"], count),
            random.integers(1, 30, count),
            strict=True,
        )
    ]


def test_single_values_link_records():
    everybody = people(100)
    case = small_release(everybody, [{"age": str(p["age"]), "town": p["town"]} for p in everybody])
    for result in Linkability().run(case.attacked):
        assert result.success.share == 1.0
        assert result.exceeds


def test_one_group_links_everybody_with_everybody():
    everybody = [{**person, "ill": "flu", "pay": 5} for person in people(100)]
    case = small_release(everybody, [{"age": "*", "town": "*"}] * 100)
    for result in Linkability().run(case.attacked):
        assert result.success.share == result.baselines[BASELINE].share == 1.0
        assert (result.exceeds, result.certain) == (False, 0)


def test_wide_cells_link_nobody():
    everybody = people(100)
    texts = [{"age": "[1, 40]", "town": "*"} if n % 2 else {"age": "[0, 40]", "town": "*"} for n in range(100)]
    result = Linkability().run(small_release(everybody, texts).attacked)[0]
    assert result.success.share == result.baselines[BASELINE].share == 0.0


def test_what_cannot_be_measured_is_said():
    one = pa.table({"age": [1, 2]})
    found = sf.attack(one, one, schema=sf.Schema(["age"]), attacks=["linkability"])
    assert [skipped.reason for skipped in found.skipped] == ["the table has fewer than two columns for two sources"]
    one = pa.table({"age": [1], "ill": ["a"]})
    found = sf.attack(one, one, schema=sf.Schema(["age"], ["ill"]), attacks=["linkability"])
    assert "one person" in found.skipped[0].reason
