"""Running attacks: what can be attacked, who is matched with which row, and what is reported."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import Attack, AttackResult, NotMeasured, Rate
from sfumato.attacks.attacked_sources import attacked_release
from sfumato.registry import ATTACKS

SCHEMA = sf.Schema(["age", "town"], ["ill"], other=["wave"])


def people(rows=60, seed=0):
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "age": random.integers(20, 60, rows),
            "town": random.choice(["Ulm", "Bonn", "Lyon"], rows),
            "ill": random.choice(["flu", "gout", "cold"], rows),
            "wave": ["first"] * rows,
        }
    )


def made(data=None, **options):
    return sf.anonymize(people() if data is None else data, SCHEMA, sf.KAnonymity(4), seed=3, **options)


@pytest.mark.parametrize("name", ATTACKS.entries)
def test_every_attack_says_what_it_assumes_and_what_to_compare_it_with(name):
    attack = ATTACKS[name]
    assert attack.name == name
    assert attack.summary()
    assert attack.assumptions().startswith("The attacker knows")
    assert attack.comparison().startswith("Compare with")
    assert ">>>" in inspect.getdoc(attack)


@given(st.integers(0, 2**16))
def test_people_are_in_the_groups_whose_cells_cover_them(seed):
    data = people(40, seed)
    seen = attacked_release(made(data, suppress="0.2"))
    assert seen.rows.tolist() == sorted(set(seen.rows.tolist()))
    for name in SCHEMA.quasi_identifiers:
        codes = seen.original.column(name).codes
        assert seen.covers(name)[seen.group_of_person, codes].all()
    secret = seen.secret("ill")
    labels = [secret.attribute.label(value) for value in secret.truth]
    assert labels == data.column("ill").take(pa.array(seen.rows)).to_pylist()
    of_group = sorted(zip(seen.group_of_person.tolist(), labels, strict=True))
    released = zip(seen.groups.of_row.tolist(), (secret.attribute.label(v) for v in secret.attribute.codes), strict=True)
    assert of_group == sorted(released)


def test_a_folder_with_its_key_is_the_release(tmp_path):
    data = people()
    release = made(data)
    folder = release.save(tmp_path / "release", key=tmp_path / "key.json")
    kept = attacked_release(release)
    read = attacked_release(folder, data, key=tmp_path / "key.json")
    assert read.rows.tolist() == kept.rows.tolist()
    assert read.group_of_person.tolist() == kept.group_of_person.tolist()
    assert read.notes == ()


def test_without_a_key_people_are_matched_with_rows_that_may_be_theirs(tmp_path):
    data = people()
    folder = made(data, suppress="0.2").save(tmp_path / "release")
    read = attacked_release(folder, data)
    assert len(set(read.rows.tolist())) == read.published.rows
    secret = read.secret("ill")
    counts = np.zeros((read.groups.count, len(secret.attribute)), int)
    np.add.at(counts, (read.group_of_person, secret.truth), 1)
    np.subtract.at(counts, (read.groups.of_row, secret.attribute.codes), 1)
    assert not counts.any()
    for name in SCHEMA.quasi_identifiers:
        assert read.covers(name)[read.group_of_person, read.original.column(name).codes].all()
    assert "one possible assignment" in read.notes[0]


def test_a_table_of_another_tool_is_attacked_row_by_row():
    data = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "ulcer", "ulcer"]})
    published = pa.table({"age": ["30-39", "30-39", "50-59", "50-59"], "ill": ["flu", "gout", "ulcer", "ulcer"]})
    found = sf.attack(published, data, schema=sf.Schema(["age"], ["ill"]), attacks=["homogeneity"])[0]
    assert (found.success.share, found.certain, found.right) == (0.75, 2, 2)


def test_bad_input_is_named(tmp_path):
    data = people()
    folder = made(data).save(tmp_path / "release", key=tmp_path / "key.json")
    with pytest.raises(sf.errors.ParameterError, match=r"there is no attack 'homogen'.*homogeneity"):
        sf.attack(folder, data, attacks=["homogen"])
    with pytest.raises(sf.errors.ParameterError, match="invalid sample 0"):
        sf.attack(folder, data, sample=0)
    with pytest.raises(sf.errors.ParameterError, match="has no schema"):
        sf.attack(data, data)
    with pytest.raises(sf.errors.ParameterError, match="60 rows and the original 59"):
        sf.attack(data, data.slice(1), schema=SCHEMA)
    with pytest.raises(sf.errors.ReleaseError, match="match no row of the original"):
        sf.attack(folder, people(60, seed=9))
    other = made(people(60, seed=9)).save(tmp_path / "other")
    with pytest.raises(sf.errors.ReleaseError, match="the key belongs to another release"):
        sf.attack(other, data, key=tmp_path / "key.json")
    Path(folder / "data.csv").write_text("group,age\n", encoding="utf-8")
    with pytest.raises(sf.errors.ReleaseError, match="was changed after it was written"):
        sf.attack(folder, data)


def test_what_cannot_be_measured_is_said(tmp_path):
    folder = made().save(tmp_path / "release")
    alone = sf.attack(folder, attacks=["linkage"])
    assert len(alone) == 0
    assert alone.skipped[0].reason == "the original was not given"
    shares = [max(counts) for counts in _counts(made())]
    assert sf.attack(folder, attacks=["homogeneity"])[0].success.share == pytest.approx(sum(shares) / 60)
    nobody = sf.anonymize(people().select(["age"]), sf.Schema(["age"]), sf.KAnonymity(2))
    assert sf.attack(nobody, attacks=["homogeneity"]).skipped[0].reason == "the table has no sensitive attribute"

    @dataclass(frozen=True)
    class Idle(Attack):
        """Guess nothing.

        The attacker knows nothing.

        Compare with nothing.
        """

        name = "idle"

        def run(self, release):
            raise NotMeasured("there is nothing to guess")

    assert sf.attack(folder, people(), attacks=[Idle()]).skipped[0].reason == "there is nothing to guess"


def _counts(release):
    """How many rows of each group have each illness."""
    of_group = {}
    for row in release.frame.to_pylist():
        of_group.setdefault(row["group"], []).append(row["ill"])
    return [[ills.count(ill) for ill in set(ills)] for ills in of_group.values()]


def test_an_original_in_another_order_is_refused(tmp_path):
    data = people()
    folder = made(data).save(tmp_path / "release", key=tmp_path / "key.json")
    with pytest.raises(sf.errors.ReleaseError, match=r"published row .* differs from the original|does not cover"):
        sf.attack(folder, data.take(pa.array(range(59, -1, -1))), key=tmp_path / "key.json")
    key = json.loads((tmp_path / "key.json").read_text(encoding="utf-8"))
    key["original_rows"] = [1] * 60
    (tmp_path / "twice.json").write_text(json.dumps(key), encoding="utf-8")
    with pytest.raises(sf.errors.ReleaseError, match="names row 1 of the original twice"):
        sf.attack(folder, data, key=tmp_path / "twice.json")
    (tmp_path / "deep.json").write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(sf.errors.FileError, match="the key cannot be read"):
        sf.attack(folder, data, key=tmp_path / "deep.json")


def test_the_key_and_the_internal_report_are_two_files(tmp_path):
    with pytest.raises(sf.errors.FileError, match="cannot be the same file"):
        made().save(tmp_path / "release", key=tmp_path / "same", internal=tmp_path / "." / "same")
    assert not list(tmp_path.iterdir())


def test_the_key_of_another_release_fails_verification(tmp_path):
    made().save(tmp_path / "one", key=tmp_path / "key.json")
    other = made(people(60, seed=9)).save(tmp_path / "other")
    failing = [check for check in sf.verify(other, key=tmp_path / "key.json").checks if check.holds is False]
    assert [check.name for check in failing] == ["key"]


def test_the_data_file_of_a_release_is_no_table_of_another_tool(tmp_path):
    data = people()
    folder = made(data).save(tmp_path / "release")
    with pytest.raises(sf.errors.ParameterError, match="this is the data file of a release"):
        sf.attack(folder / "data.csv", data, schema=SCHEMA)
    assert sf.attack(folder / "release.json", data, attacks=["homogeneity"])[0].success.tried == 60


def test_secrets_in_another_order_are_noted():
    data = people()
    turned = data.set_column(2, "ill", data.column("ill").take(pa.array(range(59, -1, -1))))
    ills = data.column("ill").to_pylist()
    differ = sum(one != other for one, other in zip(ills, reversed(ills), strict=True))
    note = sf.attack(turned, data, schema=SCHEMA, attacks=["homogeneity"])[0].notes[-1]
    assert f"{differ} rows of 60 have other secrets there" in note


def test_matching_that_needs_too_much_memory_is_refused(tmp_path, monkeypatch):
    data = people()
    folder = made(data).save(tmp_path / "release")
    monkeypatch.setattr("sfumato.attacks.people_matching._MOST_POSSIBLE", 10)
    with pytest.raises(sf.errors.ReleaseError, match=r"too many rows \(60\).*Pass the key"):
        sf.attack(folder, data)


def test_an_attack_of_ones_own_is_plain_data():
    @dataclass(frozen=True)
    class First(Attack):
        """Guess the first value.

        The attacker knows nothing.

        Compare with nothing.
        """

        name = "first"

        def run(self, release):
            return [AttackResult(self.name, None, Rate.of(1, 2))]

    for requested in (First(), First):
        found = sf.attack(made(), attacks=[requested])
        assert json.loads(found.to_json())["attacks"][0]["summary"] == "Guess the first value."


def test_a_sample_of_the_people_is_attacked_and_named():
    found = sf.attack(made(), attacks=["homogeneity"], sample=10)[0]
    assert found.success.tried == 10
    assert "a random sample of 10 of 60 people" in found.notes[0]


@dataclass(frozen=True)
class Neighbour(Attack):
    """Nothing says that it counts people.

    The attacker knows nothing.

    Compare with nothing.
    """

    name = "neighbour"

    def run(self, release):
        raise NotImplementedError


def test_attacks_count_the_rows_of_people_or_people_with_several_rows():
    data = people().append_column("who", pa.array([i // 2 for i in range(60)]))
    data = data.set_column(2, "ill", data.column("ill").take(pa.array([i // 2 for i in range(60)])))
    schema = sf.Schema(["age", "town"], ["ill"], person_id="who")
    release = sf.anonymize(data, schema, [sf.KAnonymity(2), sf.DistinctLDiversity(2)])
    short = sf.attacks.Replay(guesses=1, budget=2_060 * 4)
    named = [short if name == short.name else name for name in ATTACKS.entries]
    found = sf.attack(release, earlier=[release], attacks=[*named, Neighbour()])
    assert {one.attack: one.reason for one in found.skipped} == {
        "proximity": "ill: two values are equal or not, so there are no ranges",
        "neighbour": "people have several rows, and this attack takes each row for another person",
    }
    tried = {one.attack: one.success.tried for one in found}
    assert {name for name, number in tried.items() if number == 30} >= {
        "linkage", "linkability", "inference", "uniqueness", "learning", "swap-optimality", "composition",
    }  # fmt: skip
    assert tried["homogeneity"] == tried["skewness"] == 60
    assert found[-1].attack == "composition"
    homogeneity = next(one for one in found if one.attack == "homogeneity")
    assert homogeneity.notes == ("people have several rows, and each row is attacked by itself",)
    counted = ("singling-out", "replay", *(name for name, number in tried.items() if number == 30))
    assert not any("each row is attacked" in note for one in found if one.attack in counted for note in one.notes)


def test_a_success_exceeds_its_baselines_if_the_intervals_are_apart():
    high, low, near = Rate.of(90, 100), Rate.of(50, 100), Rate.of(85, 100)
    assert AttackResult("a", None, high, {"x": low}).exceeds
    assert not AttackResult("a", None, high, {"x": low, "y": near}).exceeds
    assert not AttackResult("a", None, high).exceeds
    assert AttackResult("a", None, high, {"x": low, "y": near}).gain == pytest.approx(0.05)


def test_results_are_plain_data():
    found = sf.attack(made(), attacks=["homogeneity"])
    plain = json.loads(found.to_json())
    assert plain["attacks"][0]["success"]["tried"] == 60
    assert plain["attacks"][0]["assumptions"].startswith("The attacker knows")
    assert plain["not_measured"] == []
