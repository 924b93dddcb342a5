"""Linkage against the oracle, and on releases with and without a weakness."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import naive_row_attacks as naive
import sfumato as sf
from sfumato.attacks import Linkage
from small_releases import NAMES, small_release, small_releases


def agrees(result, expected):
    assert result.success.share == pytest.approx(float(naive.mean([chance for chance, _, _ in expected])))
    assert result.success.tried == len(expected)
    assert result.certain == sum(certain for _, certain, _ in expected)
    assert result.right == sum(right for _, _, right in expected)
    assert result.figures["highest chance"] == pytest.approx(float(max(chance for chance, _, _ in expected)))


@given(small_releases())
def test_agrees_with_the_oracle(case):
    everything, few, journalist, marketer = Linkage().run(case.attacked)
    agrees(everything, naive.linked(case.people, case.rows, NAMES, True))
    agrees(few, naive.linked_by_some(case.people, case.rows, NAMES, 1))
    agrees(journalist, naive.linked(case.people, case.rows, NAMES, False))
    agrees(marketer, naive.named(case.people, case.rows, NAMES))
    assert everything.baselines["a random row"].share == 1 / len(case.rows)
    assert journalist.baselines["a random row"].share == 1 / len(case.people)


def people(count, seed=0):
    random = np.random.default_rng(seed)
    towns = random.choice(["a", "b", "c"], count)
    return [
        {"age": number, "town": str(town), "ill": "flu", "pay": 5, "plan": "x"} for number, town in enumerate(towns, start=1)
    ]


def test_a_table_without_cells_links_everybody():
    everybody = people(60)
    case = small_release(everybody, [{"age": str(p["age"]), "town": p["town"]} for p in everybody], [sf.KAnonymity(5)])
    result = Linkage().run(case.attacked)[0]
    assert (result.success.share, result.certain, result.right) == (1.0, 60, 60)
    assert result.exceeds
    assert result.figures["people above 1/k"] == 60


def test_a_table_that_shows_nothing_links_nobody():
    everybody = people(60)
    case = small_release(everybody, [{"age": "*", "town": "*"}] * 60)
    for result in Linkage().run(case.attacked):
        assert result.success.share == pytest.approx(1 / 60)
        assert (result.certain, result.exceeds) == (0, False)


def test_suppressed_people_make_the_journalist_wrong():
    everybody = people(4)
    case = small_release(everybody, [{"age": f"[{p['age']}, {p['age'] + 1}]", "town": "*"} for p in everybody[:3]])
    journalist = Linkage().run(case.attacked)[2]
    # ages 1 to 4, rows [1, 2], [2, 3], [3, 4]: the fourth person is covered by the third person's row alone
    assert journalist.success.share == pytest.approx((1 + 1 / 2 + 1 / 2 + 0) / 4)
    assert (journalist.certain, journalist.right) == (2, 1)
    assert "1 of 4 people are not published" in journalist.notes


def test_suppressed_rows_of_a_release_are_part_of_the_population(tmp_path):
    frame = pa.table({"sex": ["m", "m", "f", "f", "x"]})
    release = sf.anonymize(frame, sf.Schema(["sex"], never_mix={"sex": ["x"]}), sf.KAnonymity(2), suppress="0.2")
    assert release.suppressed == 1
    release.save(tmp_path / "out", key=tmp_path / "key")
    for found in (
        sf.attack(release, attacks=["linkage"]),
        sf.attack(tmp_path / "out", frame, key=tmp_path / "key", attacks=["linkage"]),
    ):
        journalist = found[1]
        # two rows cover each of four people, and none covers the fifth
        assert (journalist.success.share, journalist.success.tried) == (pytest.approx(4 / 2 / 5), 5)


def test_known_quasi_identifiers_are_as_many_as_requested():
    case = small_release(people(6), [{"age": "*", "town": "*"}] * 6)
    assert "1 of 2 quasi-identifiers" in Linkage(known=1).run(case.attacked)[0].about
    with pytest.raises(sf.errors.ParameterError, match="from 1 to 2"):
        Linkage(known=3).run(case.attacked)
    with pytest.raises(sf.errors.ParameterError, match="known"):
        Linkage(known=0)


def test_what_cannot_be_measured_is_said():
    frame = pa.table({"ill": ["flu", "gout"]})
    found = sf.attack(frame, frame, schema=sf.Schema(sensitive=["ill"]), attacks=["linkage", "inference"])
    assert [one.reason for one in found.skipped] == ["the table has no quasi-identifier"] * 2
    found = sf.attack(frame, schema=sf.Schema(sensitive=["ill"]), attacks=["linkage"])
    assert [one.reason for one in found.skipped] == ["the original was not given"]


def test_unreadable_cells_are_noted():
    case = small_release(people(6), [{"age": "young", "town": "*"}] * 3 + [{"age": "old", "town": "*"}] * 3)
    result = Linkage().run(case.attacked)[0]
    assert result.success.share == pytest.approx(1 / 3)
    assert any("cells of age cannot be read" in note for note in result.notes)


def test_a_sample_is_attacked_and_noted():
    case = small_release(people(60), [{"age": "*", "town": "*"}] * 60, sample=10)
    for result in Linkage().run(case.attacked):
        assert result.success.tried == 10
        assert "a random sample of 10 of 60 people is attacked" in result.notes
