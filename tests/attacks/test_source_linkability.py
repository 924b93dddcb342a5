"""Linkability of two records against the oracle, and on releases with and without a weakness."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import naive_row_attacks as naive
import sfumato as sf
from sfumato.attacks import Linkability, NotMeasured
from small_releases import NAMES, UNCHANGED, small_release, small_releases

BASELINE = "records of two random people"


@given(small_releases(several=True))
def test_agrees_with_the_oracle(case):
    attacked, known = case.attacked_rows, (case.people, case.rows, case.group, NAMES)
    if len(attacked) < 2:
        with pytest.raises(NotMeasured, match="one person"):
            Linkability().run(case.attacked)
        return
    cells, columns, halves = Linkability().run(case.attacked)
    for result, unchanged in ((cells, ()), (columns, UNCHANGED), (halves, UNCHANGED)):
        every = naive.meeting(*known, unchanged, case.who)
        expected = [every[row] for row in attacked]
        assert result.success.tried == len(attacked)
        assert result.success.share == pytest.approx(sum(one and own for one, _, own in expected) / len(expected))
        assert result.certain == sum(alone for _, alone, _ in expected)
        assert result.right == sum(alone and own for _, alone, own in expected)
    if len(attacked) == 2:  # each person can only be paired with the other one
        other = dict(zip(attacked, reversed(attacked), strict=True))
        second = [other.get(row, row) for row in range(len(case.rows))]
        expected = naive.meeting(*known, UNCHANGED, case.who, second=second, columns=NAMES)
        assert columns.baselines[BASELINE].share == pytest.approx(sum(expected[row][0] for row in attacked) / 2)


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


def test_two_rows_of_one_person_do_not_hide_one_another():
    """Everybody has two equal rows in a group of four: cells link records to the group, all columns to the two rows."""
    everybody, who = people(100), [n // 2 for n in range(100)]
    everybody = [{**everybody[n], "age": n + 1, "town": "a", "ill": f"ill {n}"} for n in who]
    texts = [{"age": f"[{n // 2 * 2 + 1}, {n // 2 * 2 + 2}]", "town": "*"} for n in who]
    cells, columns, _ = Linkability().run(small_release(everybody, texts, who=who).attacked)
    assert (cells.success.share, cells.success.tried, cells.certain) == (1.0, 50, 0)
    assert (columns.success.share, columns.certain, columns.right) == (1.0, 50, 50)
    assert columns.exceeds
    rows = Linkability().run(small_release(everybody, texts).attacked)[1]
    assert (rows.success.tried, rows.certain) == (100, 0)


def test_one_group_of_people_with_several_rows_links_everybody_with_everybody():
    everybody = [{**person, "ill": "flu", "pay": 5} for person in people(100)]
    case = small_release(everybody, [{"age": "*", "town": "*"}] * 100, who=[n // 2 for n in range(100)])
    for result in Linkability().run(case.attacked):
        assert result.success.share == result.baselines[BASELINE].share == 1.0
        assert (result.success.tried, result.exceeds, result.certain) == (50, False, 0)


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
