"""Releases of people with several rows: one group per person, counted again from the original by naive code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_units
import sfumato as sf
from fixed_groups import Fixed
from sfumato.anonymization import Grouping, Method, Task
from sfumato.anonymization.coverage import note_on_unique_people
from sfumato.anonymization.unit_groups import find_groups
from sfumato.anonymization.unit_task import UnitTask
from sfumato.plurals import count_of
from sfumato.releases.model_base import as_json

HIERARCHIES = {"age": sf.Intervals((10, 20, 40)), "sex": sf.data.Flat()}


def visits(people=24, seed=0, rows_each=3, values=8):
    """Encounters: age grows by up to a year between them, the diagnosis varies."""
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), random.integers(1, rows_each + 1, people))
    random.shuffle(who)
    age, sex, race = random.integers(20, 60, people), random.integers(0, 2, people), random.integers(0, 3, people)
    return pa.table(
        {
            "who": [f"p{person}" for person in who],
            "home": [f"h{person // 2}" for person in who],
            "age": age[who] + random.integers(0, 2, len(who)),
            "sex": np.array(["f", "m"])[sex[who]],
            "race": np.array(["a", "b", "c"])[race[who]],
            "dx": np.array(list("stuvwxyz"))[random.integers(0, values, len(who))],
            "pay": random.integers(0, 1000, people)[who],
        }
    )


def schema(**more):
    return sf.Schema(["age", "sex"], ["dx"], other=["race"], **{"identifiers": ["home", "pay"], "person_id": "who", **more})


def groups_by_person(table, rows, labels, column="dx", who="who"):
    """The group of each published row, with the people in it and their values, as dicts."""
    groups = {}
    people, values = table[who].to_pylist(), table[column].to_pylist()
    for row, label in zip(rows, labels, strict=True):
        groups.setdefault(label, {}).setdefault(people[row], []).append(values[row])
    return groups


def published_groups(release, table, **more):
    return groups_by_person(table, release.private.rows, release.table.data[release.group].to_pylist(), **more)


METHODS = ["glaze", "mondrian", "lattice"]
REQUIREMENTS = [sf.KAnonymity(3), sf.DistinctLDiversity(3), sf.AlphaKAnonymity("0.75", 3)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", [{"person_id": "who"}, {"person_id": "who", "household_id": "home"}])
def test_every_method_keeps_units_together(method, unit, tmp_path):
    table = visits()
    who = unit.get("household_id", "who")
    identifiers = ["pay"] if "household_id" in unit else ["pay", "home"]
    declared = schema(identifiers=identifiers, hierarchies=HIERARCHIES if method == "lattice" else {}, **unit)
    release = sf.anonymize(table, declared, REQUIREMENTS, method=method)
    groups = published_groups(release, table, who=who)
    homes = [person for group in groups.values() for person in group]
    assert len(homes) == len(set(homes)), "a unit is in two groups"
    for group in groups.values():
        assert len(group) >= 3
        assert naive_units.worst(group, naive.distinct, True) >= 3
        assert max(naive_units.share_with(group, value) for value in "stuvwxyz") <= Fraction(3, 4)
    assert release.document.units.to_dict() == {
        "counted": "households" if "household_id" in unit else "people",
        "total": len(homes),
        "smallest": min(map(len, groups.values())),
    }
    assert not {"who", "home", "pay"} & set(release.frame.column_names)
    assert sf.verify(release.save(tmp_path / "release"), table).holds


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_dissimilarity_holds_for_every_choice(data):
    """Several numbers per person; the search counts a person who has any near value."""
    people = data.draw(st.integers(6, 9))
    rows = data.draw(
        st.lists(st.tuples(st.integers(0, people - 1), st.integers(0, 40)), min_size=people, max_size=2 * people)
    )
    table = pa.table({"who": [p for p, _ in rows], "age": [p * 3 for p, _ in rows], "x": [x for _, x in rows]})
    declared = sf.Schema(["age"], ["x"], person_id="who")
    method = data.draw(st.sampled_from(["glaze", "mondrian", "xcolor"]))
    try:
        release = sf.anonymize(table, declared, sf.Dissimilarity(5, "0.5", 2), method=method)
    except (sf.errors.RequirementError, sf.errors.ParameterError):
        return
    for group in published_groups(release, table, column="x").values():
        assert len(group) >= 2
        assert naive_units.worst(group, lambda g: naive.risk(g, lambda v, w: abs(v - w) <= 5), False) <= Fraction(1, 2)


@given(st.lists(st.sets(st.integers(0, 30), min_size=1, max_size=3), min_size=1, max_size=8), st.integers(0, 6))
def test_people_are_near_if_any_of_their_values_are(people, epsilon):
    """What the search counts is an upper bound on what any choice of one row per person counts."""
    rows = [(person, value) for person, values in enumerate(people) for value in values]
    table = pa.table({"who": [p for p, _ in rows], "age": [0] * len(rows), "x": [x for _, x in rows]})
    requirement = sf.Dissimilarity(epsilon, "0.5", 1)
    task = UnitTask.of(sf.Table(table, sf.Schema(["age"], ["x"], person_id="who")), (requirement,))
    (limit,) = task.search_conditions(requirement, ("x",))
    values, codes = np.unique(limit.values, return_inverse=True)
    near = limit.neighbours.counts(np.array([0, len(values)]), values, np.bincount(codes))[codes]
    order = sf.data.Units.numbered(np.array([p for p, _ in rows]), "person").first_rows
    expected = [sum(any(abs(v - w) <= epsilon for v in one for w in other) for other in people) for one in people]
    assert near.tolist() == [expected[rows[row][0]] for row in order]


@dataclass(frozen=True)
class Neighbours(Method):
    """A method of somebody else: pairs of rows in the order of the table."""

    name = "pairs"

    def group(self, task, seed=0):
        return Grouping(np.arange(task.table.rows) // 2)


def test_a_plug_in_sees_units_and_failing_groups_are_merged():
    table = visits()
    task = UnitTask.of(sf.Table(table, schema()), (sf.KAnonymity(5),))
    assert task.table.rows == len(set(table["who"].to_pylist()))
    release = sf.anonymize(table, schema(), [sf.KAnonymity(5), sf.DistinctLDiversity(2)], method=Neighbours())
    assert all(len(group) >= 5 for group in published_groups(release, table).values())


def test_one_row_per_person_is_as_without_a_person():
    table = visits(rows_each=1)
    with_people = sf.anonymize(table, schema(), REQUIREMENTS, seed=0)
    plain = sf.anonymize(table, schema(person_id=None, identifiers=["home", "pay", "who"]), REQUIREMENTS, seed=0)
    assert with_people.frame.equals(plain.frame)


def test_a_quasi_identifier_that_varies_is_grouped_by_its_extent():
    """Two people move far, two stay: those who move are one group, so the others keep narrow cells."""
    table = pa.table({"who": [1, 1, 2, 2, 3, 4], "x": [0, 100, 1, 99, 50, 51]})
    task = Task(sf.Table(table, sf.Schema(["x"], person_id="who")), (sf.KAnonymity(2),))
    assert find_groups(task, sf.Glaze(), 0).of_row.tolist() == [0, 0, 0, 0, 1, 1]


def test_limits_that_keep_rows_of_a_person_apart():
    table = pa.table({"who": [1, 2, 1, 3], "end": ["home", "home", "died", "died"]})
    declared = sf.Schema(["end"], person_id="who", never_mix={"end": ["died", "home"]})
    with pytest.raises(sf.errors.RequirementError, match="row 1 and row 3") as raised:
        sf.anonymize(table, declared, sf.KAnonymity(1))
    assert raised.value.column == "end"
    apart = pa.table({"who": [1, 2, 1, 3, 4], "end": ["home", "home", "home", "died", "died"]})
    release = sf.anonymize(apart, declared, sf.KAnonymity(2))
    assert sorted(set(release.frame["end"].to_pylist())) == ["died", "home"]


def test_suppression_drops_whole_people():
    who = [0, 0, 1, 2, 3, 4, 5]
    table = pa.table({"who": who, "age": [30, 31, 30, 31, 30, 31, 30], "dx": ["rare", "flu", *"abcde"]})
    declared = sf.Schema(["age"], ["dx"], person_id="who")
    requirement = sf.AlphaKAnonymity("0.34", 3)
    release = sf.anonymize(table, declared, requirement, suppress="0.5")
    published = {who[row] for row in release.private.rows}
    assert release.suppressed == sum(person not in published for person in who)


class TestBadIdentifiers:
    table = pa.table({"who": ["a", None, "b"], "home": ["x", "x", "y"], "age": [1, 2, 3]})

    def test_a_missing_person_names_the_row(self):
        with pytest.raises(sf.errors.CellError, match="the person of this row is missing") as raised:
            sf.anonymize(self.table, sf.Schema(["age"], person_id="who", identifiers=["home"]), sf.KAnonymity(1))
        assert (raised.value.column, raised.value.row) == ("who", 2)

    def test_a_person_in_two_households_names_both(self):
        table = pa.table({"who": ["a", "b", "a"], "home": ["x", "x", "y"], "age": [1, 2, 3]})
        with pytest.raises(sf.errors.CellError, match="'a' is in the household 'y' here, and in 'x' in row 1") as raised:
            sf.anonymize(table, sf.Schema(["age"], person_id="who", household_id="home"), sf.KAnonymity(1))
        assert (raised.value.column, raised.value.row) == ("home", 3)

    def test_a_person_is_an_identifier_and_nothing_else(self):
        assert sf.Schema(person_id="who", household_id="home").identifiers == ("who", "home")
        with pytest.raises(sf.errors.ColumnError, match="declared twice"):
            sf.Schema(["who"], person_id="who")


def test_functions_that_count_rows_refuse_people():
    table = visits()
    with pytest.raises(sf.errors.ParameterError, match="full_domain counts rows"):
        sf.full_domain(table, schema(), sf.KAnonymity(2))
    from sfumato.attacks import AttackerView, attack_projected

    with pytest.raises(sf.errors.ParameterError, match="counts rows"):
        attack_projected(sf.Table(table, schema()), [AttackerView(("dx",), np.zeros(table.num_rows, np.int64))])


def test_disclosure_needs_the_person_as_identity():
    people = pa.table({"who": [1, 1, 2], "town": ["a", "b", "a"]})
    book = sf.disclosure.Dictionary(pa.table({"who": [1, 2], "town": ["a", "a"]}), identity="who")
    declared = sf.Schema(other=["town"], person_id="who")
    with pytest.raises(sf.errors.ParameterError, match="has several records") as raised:
        sf.risk(people, declared, book)
    assert raised.value.key == "identity"
    assert sf.risk(people, declared, book, identity="who").attackers


def test_projections_refuse_households():
    declared = schema(person_id=None, household_id="home", identifiers=["pay", "who"])
    with pytest.raises(sf.errors.ParameterError, match="household_id"):
        sf.project(visits(), declared, [sf.KAnonymity(2)])


def test_a_k_above_the_number_of_people_says_so():
    with pytest.raises(sf.errors.ParameterError, match="contains 24 people"):
        sf.anonymize(visits(), schema(), sf.KAnonymity(25))


def test_a_frontier_counts_and_samples_people():
    """Values are constant within people; the sample of 12 holds all their rows."""
    from sfumato.anonymization.attempt import attempt_with

    table = sf.Table(visits(), sf.Schema(["age", "sex"], ["pay"], person_id="who"))
    attempt = attempt_with(table, sf.Mondrian(), sample=12)
    with pytest.raises(sf.errors.ParameterError, match="sample of 12"):
        attempt(sf.Dissimilarity(0, 0, 13))
    assert attempt(sf.Dissimilarity(0, 0, 12)) is not None
    found = sf.frontier(table, None, [0], [0], [24, 25], attempt=attempt_with(table, sf.Mondrian()), which="all")
    assert [cell.verdict for cell in found.cells] == ["guaranteed", "impossible"]
    with pytest.raises(sf.errors.ColumnError, match="per person"):
        sf.frontier(sf.Table(visits(), schema(kinds={"dx": "categorical"})), None, [0], [0], [2])


@pytest.mark.parametrize("ids", [["Ann", "ann"], ["17", "17.0"], ["017", "17"]], ids=["case", "decimals", "zeros"])
def test_people_that_may_be_one_written_differently_are_noted(ids):
    table = pa.table({"who": [*ids, "x", "y"], "age": [30, 31, 30, 31]})
    schema = sf.Schema(["age"], person_id="who")
    release = sf.anonymize(table, schema, sf.KAnonymity(2))
    notes = [note for note in release.private.notes if "count as different people" in note]
    assert len(notes) == 1
    assert all(repr(one) in notes[0] for one in ids)
    assert not any(one in note for note in release.notes for one in ids)
    assert notes[0] in sf.audit(table, schema, sf.KAnonymity(1)).notes
    assert not sf.anonymize(
        table.set_column(0, "who", pa.array(["1", "2", "3", "4"])), schema, sf.KAnonymity(2)
    ).private.notes


@pytest.mark.parametrize("text", ["?", "NULL", "N/A", "nan"])
def test_an_identifier_that_means_missing_is_an_error(text):
    # counted as one person, three people with the same secret would look like one of four
    table = pa.table({"who": ["a", text, "b", text], "age": [30, 31, 30, 31]})
    with pytest.raises(sf.errors.CellError, match="the person of this row is missing") as error:
        sf.anonymize(table, sf.Schema(["age"], person_id="who"), sf.KAnonymity(2))
    assert (error.value.column, error.value.row) == ("who", 2)


@pytest.mark.parametrize(
    ("ids", "noted"),
    [
        (["unknown", "unknown", "a", "b"], "unknown"),
        (["unknown", "a", "a", "b"], None),
        ([0] * 20 + list(range(1, 9)), "0"),
        ([1] * 20 + [2, 2, 2], None),
    ],
    ids=["text", "text that does not recur", "number", "a number with many rows"],
)
def test_an_identifier_that_may_mean_missing_is_noted(ids, noted):
    table = pa.table({"who": ids, "age": [30] * len(ids)})
    release = sf.anonymize(table, sf.Schema(["age"], person_id="who"), sf.KAnonymity(2))
    notes = [note for note in release.private.notes if "if it means missing" in note]
    assert len(notes) == (noted is not None)
    assert all(f"the identifier {noted!r}" in note for note in notes)


def test_an_identifier_that_recurs_is_reported():
    table = visits()
    release = sf.anonymize(table, schema(person_id=None, identifiers=["who", "home", "pay"]), sf.KAnonymity(3))
    fewest = min(map(len, published_groups(release, table).values()))
    note = next(note for note in release.private.notes if "'who'" in note)
    assert f"the smallest group contains {fewest} of them" in note
    assert "person_id = 'who'" in note
    public = next(note for note in release.notes if "'who'" in note)
    assert not any(character.isdigit() for character in public)


def test_an_identifier_with_many_rows_each_is_reported():
    """Eight people with 150 rows each: the release has groups of five rows, and most of them hold fewer people."""
    table = pa.table({"who": [i // 150 for i in range(1200)], "age": [20 + i % 60 for i in range(1200)]})
    release = sf.anonymize(table, sf.Schema(["age"], identifiers=["who"]), sf.KAnonymity(5))
    assert any("'who' recur (8 in 1,200 rows)" in note for note in release.private.notes)


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.integers(0, 2)), min_size=5, max_size=20))
def test_people_whose_secrets_nobody_else_has_are_counted(rows):
    """By the definition: a person is found if one of his combinations of secrets occurs in no row of another person."""
    table = pa.table({"who": [r[0] for r in rows], "ill": [r[1] for r in rows], "drug": [r[2] for r in rows]})
    owners = {}
    for who, *secrets in rows:
        owners.setdefault(tuple(secrets), set()).add(who)
    found = {who for people in owners.values() if len(people) == 1 for who in people}
    notes = note_on_unique_people(sf.Table(table, sf.Schema(sensitive=["ill", "drug"], person_id="who")))
    total = len({row[0] for row in rows})
    assert [note.partition(" (")[0] for note in notes] == (
        [f"{len(found)} of {count_of(total, 'person', 'people')}"] if found else []
    )


def test_readers_learn_that_equal_rows_of_people_are_not_counted():
    """One of two people has gout in both rows: no row is unique, but whoever knows of the gout finds the person."""
    visits = pa.table({"who": [1, 1, 2, 3], "age": [30] * 4, "ill": ["gout", "gout", "flu", "cold"]})
    release = sf.anonymize(
        visits, sf.Schema(["age"], ["ill"], person_id="who"), [sf.KAnonymity(3), sf.DistinctLDiversity(2)]
    )
    assert any("rows of the same people that have equal values are not counted" in note for note in release.exposure)
    assert any(note.startswith("3 of 3 people (100 %) have sensitive values") for note in release.private.notes)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder, table = tmp_path_factory.mktemp("units"), visits()
    release = sf.anonymize(table, schema(), REQUIREMENTS)
    release.save(folder / "release", key=folder / "key.json")
    return table, folder / "release", folder / "key.json"


def failing(result):
    return {check.name for check in result.checks if check.holds is False}


class TestVerification:
    def test_the_key_counts_people_again(self, written):
        table, folder, key = written
        assert key.stat().st_mode & 0o777 == 0o600
        result = sf.verify(folder, table, key=key)
        assert result.holds
        assert not result.not_checked

    def test_without_the_key_people_are_not_checked(self, written):
        table, folder, _ = written
        result = sf.verify(folder, table)
        assert result.holds
        names = {check.name for check in result.not_checked}
        assert {"units", "k-anonymity (k = 3)", "distinct l-diversity (l = 3) on dx"} <= names

    @pytest.mark.parametrize(
        "lie",
        [
            lambda rows: [rows[1], rows[0], *rows[2:]],
            lambda rows: [rows[0], rows[0], *rows[2:]],
            lambda rows: rows[:-1],
            lambda rows: [10**6, *rows[1:]],
        ],
        ids=["swapped", "twice", "short", "beyond"],
    )
    def test_a_key_that_lies(self, written, tmp_path, lie):
        table, folder, key = written
        content = json.loads(key.read_text())
        rows = content["original_rows"]
        # two published rows in a row whose diagnoses differ
        dx = [table["dx"][row - 1].as_py() for row in rows]
        first = next(i for i, (a, b) in enumerate(pairwise(dx)) if a != b)
        content["original_rows"] = rows[:first] + lie(rows[first:])
        (tmp_path / "key.json").write_text(as_json(content))
        assert failing(sf.verify(folder, table, key=tmp_path / "key.json")) == {"key"}

    def test_a_key_of_another_release(self, written, tmp_path):
        table, folder, _ = written
        other = sf.anonymize(table, schema(), sf.KAnonymity(2))
        other.save(tmp_path / "release", key=tmp_path / "key.json")
        assert failing(sf.verify(folder, table, key=tmp_path / "key.json")) == {"key"}
        with pytest.raises(sf.errors.FileError, match="not the key"):
            sf.verify(folder, table, key=folder / "release.json")

    @pytest.mark.parametrize(
        ("who", "smallest", "check"),
        [([0, 1, 0, 2, 3, 4], 2, "units"), ([0, 0, 1, 2, 3, 4], 1, "k-anonymity (k = 2)")],
        ids=["split", "too few"],
    )
    def test_a_maker_that_groups_rows_is_found(self, tmp_path, who, smallest, check):
        """Everything else about the release is true: rows are grouped in pairs, and people are claimed."""
        table = pa.table({"who": who, "age": [30] * 6, "dx": list("abcdef")})
        plain = sf.anonymize(
            table, sf.Schema(["age"], ["dx"], identifiers=["who"]), sf.KAnonymity(2), method=Fixed(np.arange(6) // 2)
        )
        plain.save(tmp_path / "release", key=tmp_path / "key.json")
        path = tmp_path / "release" / "release.json"
        document = json.loads(path.read_text())
        document["config"]["person_id"] = "who"
        document["units"] = {"counted": "people", "total": 5, "smallest": smallest}
        path.write_text(json.dumps(document))
        assert failing(sf.verify(tmp_path / "release", table, key=tmp_path / "key.json")) == {check}

    @pytest.mark.parametrize(
        ("claim", "word"),
        [({"smallest": 9}, "rows"), ({"total": 1000}, "1000"), ({"counted": "households"}, "households")],
    )
    def test_numbers_that_cannot_be_true_fail_without_a_key(self, written, tmp_path, claim, word):
        _, folder, _ = written
        copy = tmp_path / "release"
        copy.mkdir()
        for path in folder.iterdir():
            (copy / path.name).write_bytes(path.read_bytes())
        document = json.loads((copy / "release.json").read_text())
        document["units"] |= claim
        (copy / "release.json").write_text(json.dumps(document))
        result = sf.verify(copy)
        assert "units" in failing(result)
        assert word in result.failures

    def test_a_wrong_total_needs_the_original_only(self, written, tmp_path):
        table, folder, _ = written
        copy = tmp_path / "release"
        copy.mkdir()
        for path in folder.iterdir():
            (copy / path.name).write_bytes(path.read_bytes())
        document = json.loads((copy / "release.json").read_text())
        document["units"]["total"] -= 1
        (copy / "release.json").write_text(json.dumps(document))
        assert failing(sf.verify(copy, table)) == {"units"}

    def test_the_key_is_never_written_into_the_release(self, tmp_path):
        release = sf.anonymize(visits(), schema(), sf.KAnonymity(3))
        with pytest.raises(sf.errors.FileError, match="inside the release"):
            release.save(tmp_path / "release", key=tmp_path / "release" / "key.json")
        assert not (tmp_path / "release").exists()


def test_a_release_says_nothing_about_whose_row_it_is(tmp_path):
    """Neither the pickled release nor its files change if people with the same published rows are exchanged."""
    import pickle

    release = sf.anonymize(visits(), schema(), REQUIREMENTS)
    loaded = pickle.loads(pickle.dumps(release))
    assert loaded.audit.groups.units is None
    assert loaded.audit.groups.people is None
    assert "who" not in loaded.audit.table.data.column_names
    assert loaded.audit.units.total == 24
    for finding in loaded.audit:
        for part in finding.measurement.parts:
            assert len(set(part.floats().tolist())) == 1, "the level of a single group"
            assert part.worst == part.at(0)


def test_the_command_writes_and_reads_the_key(tmp_path, monkeypatch):
    from click.testing import CliRunner
    from pyarrow import csv

    from sfumato.cli import main

    monkeypatch.chdir(tmp_path)
    csv.write_csv(visits(), "visits.csv")
    sf.Config.of(schema(), "visits.csv", [sf.KAnonymity(3)]).save("sfumato.toml")
    made = CliRunner().invoke(main, ["anonymize", "sfumato.toml", "--output", "release", "--key", "key.json"])
    assert made.exit_code == 0, made.output
    assert "24 people" in made.output
    assert "Wrote the key to key.json" in made.output
    assert "sfumato verify release --original DATA --key key.json" in " ".join(made.output.split())
    without = CliRunner().invoke(main, ["anonymize", "sfumato.toml", "--output", "other"])
    assert "No key was written (--key), so the people of its groups" in " ".join(without.output.split())
    checked = CliRunner().invoke(main, ["verify", "release", "--original", "visits.csv", "--key", "key.json"])
    assert checked.exit_code == 0, checked.output
    assert "24 people, each in one group" in checked.output
    assert "not checked" not in checked.output
