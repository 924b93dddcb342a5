"""New versions of a released table: over all releases, everybody's candidates meet the requirements."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import sfumato as sf
from naive_republication import candidates, entities, possible_values, published_rows
from sfumato.errors import CellError, FileError, ParameterError, ReleaseError, RequirementError, SfumatoError
from versions import FIRST, LATER, RULE, people, release_versions
from versions import SCHEMA as NAMED

THOROUGH = os.environ.get("SFUMATO_PROFILE") == "thorough"
SCHEMA = sf.Schema(["age", "sex"], ["pay"], identifiers=["name"], other=["plan"], unchanged_limit=1)


def near(x, y):
    return abs(x - y) <= 1


def numbers(bag):
    """The secrets of a multiset of candidates, which are pairs of pay and plan."""
    return [int(value[0]) for value in bag.elements()]


REQUIREMENTS = {
    "k": (sf.KAnonymity(3), lambda group, _: len(group) >= 3),
    "distinct": (sf.DistinctLDiversity(3), lambda group, _: naive.distinct(group) >= 3),
    "frequency": (sf.FrequencyLDiversity(2), lambda group, _: naive.frequency_l(group) >= 2),
    "dissimilarity": (
        sf.Dissimilarity(epsilon=1, delta="0.5", k=3),
        lambda group, _: len(group) >= 3 and naive.risk(group, near) <= Fraction(1, 2),
    ),
    "range": (sf.KEAnonymity(k=2, e=3), lambda group, _: len(set(group)) >= 2 and naive.value_range(group) >= 3),
    "closeness": (
        sf.BetaLikeness(beta=2),
        lambda group, table: all(
            Fraction(times, len(group)) <= 3 * Fraction(table.count(value), len(table))
            for value, times in Counter(group).items()
        ),
    ),
}
"""Requirements, each with its definition: a group, and all values of the table."""


@st.composite
def histories(draw):
    """Versions of a table: people join, leave, return, and get other secrets."""
    values = st.integers(0, draw(st.sampled_from([3, 8])))
    person = st.fixed_dictionaries({"age": st.integers(20, 29), "sex": st.sampled_from("fm"), "pay": values})
    everybody = [{"name": f"p{number}", "plan": "a", **draw(person)} for number in range(draw(st.integers(8, 22)))]
    present = everybody[: max(6, len(everybody) * 3 // 4)]
    versions = [present]
    for _ in range(draw(st.integers(1, 2))):
        share = draw(st.sampled_from([0, 1, 3]))  # of ten who leave, join or change
        chance = st.integers(0, 9)
        following = []
        for one in everybody:
            before = any(other["name"] == one["name"] for other in versions[-1])
            if before != (draw(chance) < share):
                following.append(one | ({"pay": draw(values)} if draw(chance) < share - 1 else {}))
        versions.append(following)
        everybody = [next((o for o in following if o["name"] == one["name"]), one) for one in everybody]
    return [version for version in versions if version]


def table(version):
    return pa.table({name: [one[name] for one in version] for name in ("name", "age", "sex", "pay", "plan")})


def release_all(versions, principle, folder, **options):
    """Release versions one after another until one is refused; return of each its folder, key and names."""
    made = []
    for number, version in enumerate(versions, 1):
        after = {"after": made[-1][:2], **options} if made else {}
        try:
            release = sf.anonymize(table(version), SCHEMA, principle, method="mondrian", seed=7, **after)
        except (RequirementError, ParameterError):
            break
        key = folder / f"{number}.json"
        place = release.save(folder / str(number), key=key)
        made.append((place, key, [one["name"] for one in version]))
    return made


@settings(max_examples=2_000 if THOROUGH else 25)
@given(histories(), st.sampled_from(sorted(REQUIREMENTS)), st.sampled_from([0, "0.5"]), st.sampled_from([0, "0.5"]))
def test_nobody_is_narrowed_below_the_requirements(versions, name, counterfeits, suppress):
    """An oracle looks up everybody's groups in the published files."""
    principle, holds = REQUIREMENTS[name]
    with tempfile.TemporaryDirectory() as place:
        made = release_all(versions, principle, Path(place), counterfeits=counterfeits, suppress=suppress)
        for end in range(1, len(made) + 1):
            rows = published_rows(made[end - 1][0])
            everything = [int(row["pay"]) for row in rows]
            for own, run in candidates(made[:end], ["pay", "plan"]).values():
                assert run[own] > 0
                assert holds(numbers(run), everything)
        everybody, bags = entities(made, ["pay", "plan"])
        for one, (_, groups) in enumerate(everybody):
            # whoever reasons about everybody at once excludes no candidate of the group either
            assert possible_values(everybody, bags, one) == set(bags[groups[0]])
        if len(made) > 1:
            tables = [table(version) for version in versions[: len(made)]]
            folders, keys, _ = zip(*made, strict=True)
            result = sf.verify_sequence(folders, tables, keys=keys)
            assert result.holds, result
            assert not result.not_checked


class TestCounterfeits:
    def test_are_refused_by_default_and_counted_in_the_error(self, tmp_path):
        first = release_versions(tmp_path, FIRST)[0]
        with pytest.raises(RequirementError) as found:
            sf.anonymize(people(LATER), NAMED, RULE, method="mondrian", after=first)
        assert found.value.value == {"people": 2, "counterfeits": 1}
        assert str(first[0]) in found.value.problem
        assert "1 counterfeits" in found.value.remedy

    def test_take_the_place_of_values_that_nobody_has_any_more(self, tmp_path):
        versions = release_versions(tmp_path, FIRST, LATER, counterfeits="0.2")
        folder, key = versions[1]
        stated = json.loads((folder / "release.json").read_text(encoding="utf-8"))
        assert (stated["after"]["counterfeits"], stated["after"]["allowed"], stated["rows"]) == (1, "0.2", 6)
        assert [row["ill"] for row in published_rows(folder)].count("HIV") == 1
        assert json.loads(key.read_text(encoding="utf-8"))["original_rows"].count(0) == 1
        assert sf.verify(folder, people(LATER), key=key, after=versions[0]).holds

    def test_are_limited(self, tmp_path):
        first = release_versions(tmp_path, FIRST)[0]
        with pytest.raises(RequirementError, match="at most 0 counterfeits"):
            sf.anonymize(people(LATER), NAMED, RULE, method="mondrian", after=first, counterfeits="0.1")

    def test_are_rows_of_a_pandas_frame_and_no_targets_of_attacks(self, tmp_path):
        pytest.importorskip("pandas")
        first = release_versions(tmp_path, FIRST)[0]
        options = {"method": "mondrian", "after": first, "counterfeits": "0.2"}
        release = sf.anonymize(people(LATER).to_pandas(), NAMED, RULE, **options)
        assert sorted(release.frame["ill"]).count("HIV") == 1
        assert (release.private.rows < 0).sum() == 1
        assert sf.attack(release, attacks=["homogeneity"])[0].success.tried == len(LATER)

    def test_may_have_numbers_and_sets_that_the_table_lacks(self, tmp_path):
        kinds = {"ill": [[1], [2], [3, 4], [1], [2], [5]], "pay": [1.5, 2.25, 3.75, 1.5, 2.25, 5.0]}
        for name, values in kinds.items():
            schema = sf.Schema(["age"], [name], identifiers=["name"])
            first = people(FIRST).select(["name", "age"]).append_column(name, pa.array(values))
            place = tmp_path / name
            place.mkdir()
            folder = sf.anonymize(first, schema, RULE, method="mondrian").save(place / "1", key=place / "1.json")
            later = pa.concat_tables([first.slice(0, 2), first.slice(3)])
            after = (folder, place / "1.json")
            release = sf.anonymize(later, schema, RULE, method="mondrian", after=after, counterfeits="0.5")
            assert release.after.counterfeits == 1
            assert values[2] in release.frame[name].to_pylist()


class TestSuppression:
    def test_drops_people_whose_candidates_are_too_few(self, tmp_path):
        (one, two) = release_versions(tmp_path, FIRST, LATER, suppress="0.5")
        kept = {row["ill"] for row in published_rows(two[0])}
        assert "HIV" not in kept
        assert json.loads((two[0] / "release.json").read_text(encoding="utf-8"))["suppressed"] > 0
        tables = [people(FIRST), people(LATER)]
        assert sf.verify_sequence([one[0], two[0]], tables, keys=[one[1], two[1]]).holds


class TestCorrections:
    def test_quasi_identifiers_may_change(self, tmp_path):
        later = {name: (age + 1, ill) for name, (age, ill) in FIRST.items()}
        _, (folder, _) = release_versions(tmp_path, FIRST, later)
        assert {row["age"] for row in published_rows(folder)} == {"[31, 33]", "[61, 63]"}

    def test_a_changed_secret_leaves_the_others_their_candidates(self, tmp_path):
        """Nobody has HIV any more: ann and bob need it, and cy is treated as new."""
        later = FIRST | {"cy": (32, "cold")}
        first = release_versions(tmp_path, FIRST)[0]
        with pytest.raises(RequirementError):
            sf.anonymize(people(later), NAMED, RULE, method="mondrian", after=first)
        made = release_versions(tmp_path / "allowed", FIRST, later, counterfeits="0.8")
        found = candidates([(*version, list(FIRST)) for version in made], ["ill"])
        assert found["cy"][0] == ("cold",)
        assert set(found["ann"][1]) == {("flu",), ("gout",), ("HIV",)}

    def test_somebody_who_returns_keeps_the_history(self, tmp_path):
        without = {name: value for name, value in FIRST.items() if name != "bob"} | {"gus": (31, "gout")}
        made = release_versions(tmp_path, FIRST, without, FIRST)
        found = candidates(
            list(zip(*zip(*made, strict=True), [list(FIRST), list(without), list(FIRST)], strict=True)), ["ill"]
        )
        assert set(found["bob"][1]) >= {("flu",), ("gout",), ("HIV",)}


def test_what_independent_releases_reveal_a_sequence_does_not(tmp_path):
    """The composition attack, against people whose versions are parts of one table."""
    random = np.random.default_rng(0)
    everybody = pa.table(
        {
            "name": [f"p{number}" for number in range(240)],
            "age": random.integers(20, 80, 240),
            "ill": random.choice(list("abcdef"), 240),
        }
    )
    rule, parts = sf.FrequencyLDiversity(3), [np.arange(0, 200), np.arange(20, 220), np.arange(40, 240)]
    certain = {}
    for name in ("independent", "sequence"):
        made = []
        for number, rows in enumerate(parts):
            after = {"after": made[-1][:2], "counterfeits": "0.2"} if made and name == "sequence" else {}
            release = sf.anonymize(everybody.take(pa.array(rows)), NAMED, rule, seed=number, **after)
            own = tmp_path / f"{name}{number}.json"
            folder = release.save(tmp_path / f"{name}{number}", key=own)
            # the same key for an attacker who has the table of everybody
            key = json.loads(own.read_text(encoding="utf-8"))
            key["original_rows"] = [int(rows[row - 1]) + 1 if row else 0 for row in key["original_rows"]]
            whole = tmp_path / f"{name}{number}-whole.json"
            whole.write_text(json.dumps(key), encoding="utf-8")
            made.append((folder, own, whole))
        (last, _, key), earlier = made[-1], [(folder, key) for folder, _, key in made[:-1]]
        found = sf.attack(last, everybody, key=key, earlier=earlier, attacks=["composition"], schema=NAMED)[0]
        certain[name] = found.figures["one possible value"]
    assert certain["independent"] > 10
    assert certain["sequence"] == 0


class TestInput:
    """What is wrong is an error that says what to do, and nothing is written."""

    def fails(self, tmp_path, kind, match, data=None, schema=NAMED, rule=RULE, after=None, **options):
        made = release_versions(tmp_path, FIRST)[0] if after is None else after
        with pytest.raises(kind, match=match) as found:
            sf.anonymize(people(LATER) if data is None else data, schema, rule, after=made, **options)
        assert isinstance(found.value, SfumatoError)
        assert found.value.remedy
        return found.value

    def test_no_key(self, tmp_path):
        made = release_versions(tmp_path, FIRST)[0]
        self.fails(tmp_path, ParameterError, "key of the earlier release is missing", after=made[0])
        self.fails(tmp_path, FileError, "cannot be read", after=(made[0], tmp_path / "none.json"))
        self.fails(tmp_path, ParameterError, "does not name an earlier release", after=(made[0], made[1], 3))

    def test_the_key_of_another_release(self, tmp_path):
        (one, _), (_, other) = release_versions(tmp_path, FIRST, FIRST)
        self.fails(tmp_path, FileError, "changed after it was written|another release", after=(one, other))

    def test_a_key_without_history(self, tmp_path):
        """Nobody can be matched if the first version had no identifier."""
        release = sf.anonymize(people(FIRST).drop_columns(["name"]), sf.Schema(["age"], ["ill"]), RULE)
        made = release.save(tmp_path / "1", key=tmp_path / "key.json"), tmp_path / "key.json"
        self.fails(tmp_path, FileError, "does not contain the history", after=made)

    @pytest.mark.parametrize("key", ["people", "lineages", "values", "salt"])
    def test_a_corrupt_history(self, tmp_path, key):
        made = release_versions(tmp_path, FIRST)[0]
        content = json.loads(made[1].read_text(encoding="utf-8"))
        content["history"][key] = {"people": {"x": [9, 9, 1]}, "lineages": [[9, -1]], "values": [7], "salt": "x"}[key]
        made[1].write_text(json.dumps(content), encoding="utf-8")
        self.fails(tmp_path, FileError, "the history in this key is invalid", after=made)

    @pytest.mark.parametrize("name", ["data.csv", "release.json"])
    def test_a_release_that_was_changed(self, tmp_path, name):
        made = release_versions(tmp_path, FIRST)[0]
        path = made[0] / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("flu", "flo") if name == "data.csv" else text.replace("\n", " \n", 1), encoding="utf-8")
        self.fails(tmp_path, (FileError, ReleaseError), "changed after it was written", after=made)

    def test_other_requirements_or_columns(self, tmp_path):
        self.fails(tmp_path, ParameterError, "has other principles", rule=sf.DistinctLDiversity(2))
        more = people(LATER).append_column("plan", pa.array(["a"] * len(LATER)))
        schema = dataclasses.replace(NAMED, other=["plan"], unchanged_limit=1)
        self.fails(tmp_path / "b", ParameterError, "other unchanged columns", data=more, schema=schema)
        schema = dataclasses.replace(NAMED, quasi_identifiers=["age", "plan"])
        self.fails(tmp_path / "c", ParameterError, "the quasi-identifiers age", data=more, schema=schema)

    def test_other_people(self, tmp_path):
        others = people({f"{name}2": value for name, value in LATER.items()})
        self.fails(tmp_path, ParameterError, "none of the 5 people is in the earlier releases", data=others)

    def test_identifiers(self, tmp_path):
        data = people(LATER)
        error = self.fails(
            tmp_path, CellError, "the same person is in row 1", data=pa.concat_tables([data, data.slice(0, 1)]), suppress=0
        )
        assert (error.column, error.row) == ("name", 6)
        missing = data.set_column(0, "name", pa.array(["ann", None, "", "ed", "flo"]))
        assert self.fails(tmp_path / "b", CellError, "identifier of this row is missing", data=missing).row == 2
        anybody = data.drop_columns(["name"])
        self.fails(tmp_path / "c", ParameterError, "has no identifier", data=anybody, schema=sf.Schema(["age"], ["ill"]))
        more = data.append_column("mail", data.column("name"))
        schema = dataclasses.replace(NAMED, identifiers=["name", "mail"])
        self.fails(tmp_path / "d", ParameterError, "has 2 identifiers", data=more, schema=schema)

    def test_methods_engines_and_shares(self, tmp_path):
        self.fails(tmp_path, ParameterError, "publishes every column at one level", method="lattice")
        self.fails(tmp_path / "b", ParameterError, "only in memory", engine="stream")
        self.fails(tmp_path / "c", ParameterError, "counterfeits = 1 is out of range", counterfeits=1)
        with pytest.raises(ParameterError, match="follows no other"):
            sf.anonymize(people(FIRST), NAMED, RULE, counterfeits="0.1")

    def test_principles_on_wider_groups(self, tmp_path):
        rule = sf.NTCloseness(n=2, t="0.9")
        made = release_versions(tmp_path, FIRST, rule=rule)[0]
        self.fails(tmp_path, ParameterError, "wider groups", rule=rule, after=made)


def test_people_may_be_declared(tmp_path):
    """With one row per person, person_id names those who are matched."""
    schema = sf.Schema(["age"], ["ill"], person_id="name")
    later = {name: value for name, value in FIRST.items() if name != "cy"} | {"gus": (33, "HIV")}
    made = release_versions(tmp_path, FIRST, later, schema=schema)
    (one, first), (two, second) = made
    result = sf.verify_sequence([one, two], [people(FIRST), people(later)], keys=[first, second])
    assert result.holds
    assert not result.not_checked
    with pytest.raises(ParameterError, match="declares the person of each row"):
        sf.anonymize(people(LATER), schema, RULE, after=made[0], counterfeits="0.1")


def test_a_release_is_repeated_after_the_same_one(tmp_path):
    first, (folder, key) = release_versions(tmp_path, FIRST, LATER, counterfeits="0.2")
    again = sf.replay(folder, people(LATER), key=key, after=first).save(tmp_path / "again", expected=folder)
    assert (again / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()
    with pytest.raises(ReleaseError, match="follows another one"):
        sf.replay(folder, people(LATER), key=key)


def test_limits_on_cells_are_kept(tmp_path):
    schema = dataclasses.replace(NAMED, never_mix={"age": ["60"]}, kinds={"age": "categorical"}, recodings={"age": "set"})
    base = {f"p{n}": (60 if n % 2 else 30 + n % 3, "abc"[n // 2 % 3]) for n in range(18)}
    later = {name: value for name, value in base.items() if name not in ("p0", "p1")} | {"q0": (30, "a"), "q1": (60, "a")}
    _, (folder, _) = release_versions(tmp_path, base, later, schema=schema)
    assert {row["age"] for row in published_rows(folder)} & {"60"}
    assert not any("60" in row["age"] and row["age"] != "60" for row in published_rows(folder))


def test_nobody_is_named_in_the_folder_or_the_history(tmp_path):
    for folder, key in release_versions(tmp_path, FIRST, LATER, counterfeits="0.2"):
        content = json.loads(key.read_text(encoding="utf-8"))
        assert content["history"]["people"]
        for text in (key.read_text(encoding="utf-8"), *(path.read_text(encoding="utf-8") for path in folder.iterdir())):
            assert not any(f'"{name}"' in text or f",{name}," in text for name in {**FIRST, **LATER})
        for path in folder.iterdir():
            assert content["history"]["salt"] not in path.read_text(encoding="utf-8")
