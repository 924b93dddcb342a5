"""Linkage against the oracle, and on releases with and without a weakness."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import naive_row_attacks as naive
import sfumato as sf
from sfumato.attacks import Linkage
from sfumato.attacks.attacked_release import one_row_of_each
from small_releases import NAMES, small_release, small_releases


def agrees(result, expected):
    assert result.success.share == pytest.approx(float(naive.mean([chance for chance, _, _ in expected])))
    assert result.success.tried == len(expected)
    assert result.certain == sum(certain for _, certain, _ in expected)
    assert result.right == sum(right for _, _, right in expected)
    assert result.figures["highest chance"] == pytest.approx(float(max(chance for chance, _, _ in expected)))


@given(small_releases(several=True))
def test_agrees_with_the_oracle(case):
    everything, few, *by_all_rows, journalist, marketer = Linkage().run(case.attacked)
    attacked, known = case.attacked_rows, (case.people, case.rows, NAMES)
    linked, some = naive.linked(*known, True, case.who), naive.linked_by_some(*known, 1, case.who)
    named, everybody = naive.named(*known, case.who), naive.linked(*known, False, case.who)
    agrees(everything, [linked[row] for row in attacked])
    agrees(few, [some[row] for row in attacked])
    agrees(marketer, [named[row] for row in attacked])
    if {*case.who[: len(case.rows)]} != {*case.who}:  # somebody is suppressed
        attacked = one_row_of_each(np.array(case.who), 99).tolist()
        assert sorted(case.who[row] for row in attacked) == sorted({*case.who})
    agrees(journalist, [everybody[row] for row in attacked])
    assert everything.baselines["a random row"].share == pytest.approx(1 / len({*case.who[: len(case.rows)]}))
    assert journalist.baselines["a random row"].share == 1 / len({*case.who})
    if by_all_rows:
        together = naive.linked_by_all_rows(*known, case.who)
        agrees(by_all_rows[0], [together[row] for row in case.attacked_rows])
    several = len({*case.who}) < len(case.who)
    split = len({*zip(case.who, case.group, strict=False)}) > len({*case.who[: len(case.rows)]})
    assert len(by_all_rows) == (several and not split)


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


def test_two_rows_of_one_person_do_not_hide_one_another():
    """Thirty people have two rows each, in a group of their own: as rows they are two, and there is one person to find."""
    everybody, who = people(60), [n // 2 for n in range(60)]
    texts = [{"age": f"[{2 * n + 1}, {2 * n + 2}]", "town": "*"} for n in who]
    case = small_release(everybody, texts, [sf.KAnonymity(5)], who=who)
    prosecutor = Linkage().run(case.attacked)[0]
    assert (prosecutor.success.share, prosecutor.certain, prosecutor.right) == (1.0, 30, 30)
    assert prosecutor.exceeds
    rows = Linkage().run(small_release(everybody, texts, [sf.KAnonymity(5)]).attacked)[0]
    assert (rows.success.share, rows.success.tried, rows.certain) == (0.5, 60, 0)


def test_many_rows_of_a_person_in_one_group_link_nobody():
    """Everybody is in one group: on average a random row is a person's as often as a random person is."""
    everybody, who = people(60), [*[0] * 31, *range(1, 30)]
    case = small_release(everybody, [{"age": "*", "town": "*"}] * 60, who=who)
    for result in Linkage().run(case.attacked):
        assert result.success.share == pytest.approx(1 / 30)
        assert (result.success.tried, result.certain, result.exceeds) == (30, 0, False)


def test_whoever_knows_all_rows_of_a_person_has_fewer_candidates(monkeypatch):
    """Each pair of neighbouring ages belongs to one person; cells of four ages overlap by two."""
    everybody, who = people(40), [n // 2 for n in range(40)]
    texts = [{"age": f"[{2 * n + n % 2}, {2 * n + 3}]", "town": "*"} for n in who]
    case = small_release(everybody, texts, who=who)
    known = (case.people, case.rows, NAMES)
    one, _, every, *_ = whole = Linkage().run(case.attacked)
    assert every.about == "rows (prosecutor, all quasi-identifiers of all rows of a person)"
    assert every.success.share > one.success.share + 0.1
    assert not any("one row of each" in note for note in every.notes)
    agrees(every, [naive.linked_by_all_rows(*known, who)[row] for row in case.attacked_rows])
    monkeypatch.setattr("sfumato.attacks.row_candidates._WORDS", 1)
    assert [result.to_dict() for result in Linkage().run(case.attacked)] == [result.to_dict() for result in whole]


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
