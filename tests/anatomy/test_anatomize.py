"""`sf.anatomize`: what is published, what is refused, and what the orders depend on."""

from __future__ import annotations

import json
from collections import Counter
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from fixed_groups import Fixed
from naive_anatomy import expected_count
from sfumato.anonymization.utility import Workload

PEOPLE = pa.table(
    {
        "name": [f"Secretname{i}" for i in range(12)],
        "age": [20 + i for i in range(12)],
        "town": ["Ulm", "Rome", "Bonn"] * 4,
        "ill": ["flu", "gout", "cold", "ache"] * 3,
        "pay": [10, 20, 30, 40, 50, 60] * 2,
    }
)
SCHEMA = sf.Schema(["age", "town"], ["ill", "pay"], ["name"])
DIVERSE = [sf.DistinctLDiversity(2)]


def made(data=PEOPLE, schema=SCHEMA, principles=DIVERSE, **options):
    return sf.anatomize(data, schema, principles, seed=0, **options)


def test_quasi_identifiers_are_exact_and_secrets_are_counted():
    anatomy = made(method=Fixed([0, 1, 2] * 4))
    assert anatomy.people.column_names == ["group", "age", "town"]
    assert [table.column_names for table in anatomy.secrets] == [["group", "ill", "count"], ["group", "pay", "count"]]
    rows = {(row["age"], row["town"]): row["group"] for row in anatomy.people.to_pylist()}
    source = PEOPLE.to_pylist()
    assert rows.keys() == {(row["age"], row["town"]) for row in source}
    for table, name in zip(anatomy.secrets, ("ill", "pay"), strict=True):
        true = Counter((rows[row["age"], row["town"]], row[name]) for row in source)
        assert {(row["group"], row[name]): row["count"] for row in table.to_pylist()} == true
        assert table.num_rows == len(true), "each secret of a group once"


def test_secrets_of_one_table_are_those_of_the_same_people():
    anatomy = made(method=Fixed([0, 1] * 6), plan=[["pay", "ill"]])
    assert anatomy.plan == (("ill", "pay"),)
    (table,) = anatomy.secrets
    assert table.column_names == ["group", "ill", "pay", "count"]
    true = Counter((row["ill"], row["pay"]) for row in PEOPLE.to_pylist())
    found = Counter()
    for row in table.to_pylist():
        found[row["ill"], row["pay"]] += row["count"]
    assert found == true


def test_nothing_published_depends_on_the_order_of_the_original_or_on_the_numbers_of_its_groups():
    data = PEOPLE.drop_columns(["name"]).set_column(0, "age", pa.array([20, 21] * 6))  # many people are equal
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    schema = sf.Schema(["age"], ["ill", "pay"])
    one = made(data.drop_columns(["town"]), schema, method=Fixed(groups))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(12)
        numbers = np.random.default_rng(seed).permutation(4)
        other = made(data.drop_columns(["town"]).take(pa.array(order)), schema, method=Fixed(numbers[groups[order]]))
        assert other.people.equals(one.people)
        assert [a.equals(b) for a, b in zip(other.secrets, one.secrets, strict=True)] == [True, True]


def test_groups_with_equal_people_are_told_apart_by_their_secrets():
    """Whatever the order of the original, the group with flu and gout has the same number."""
    secrets = [["flu", "gout"], ["cold", "ache"], ["flu", "ache"]]
    found = set()
    for order in permutations(range(3)):
        data = pa.table({"age": [30] * 6, "ill": [value for group in order for value in secrets[group]]})
        anatomy = made(data, sf.Schema(["age"], ["ill"]), method=Fixed([0, 0, 1, 1, 2, 2]))
        found.add(tuple(map(tuple, (row.values() for row in anatomy.secrets[0].to_pylist()))))
    assert len(found) == 1


def test_other_columns_are_published_with_the_people_and_identifiers_are_not():
    schema = sf.Schema(["age"], ["ill"], ["name"], other=["town"], unchanged_limit=1)
    anatomy = made(schema=schema)
    assert anatomy.people.column_names == ["group", "age", "town"]
    assert "'pay'" in anatomy.notes[-1]
    assert anatomy.alone == 12


def test_the_first_note_says_that_everybody_is_recognized():
    anatomy = made()
    assert "everybody in the table can be recognized" in anatomy.notes[0]
    assert "everybody in the table can be recognized" in repr(anatomy)


@pytest.mark.parametrize(
    "principle",
    [
        sf.KAnonymity(2),
        sf.KMap(2),
        sf.DeltaPresence("0.9"),
        sf.Credibility("0.5"),
        sf.NTCloseness(2, 1),
        sf.GuardedPeople("town", "Ulm", l=2),
    ],
    ids=lambda principle: principle.name,
)
def test_principles_about_cells_or_sizes_are_refused(principle):
    with pytest.raises(sf.errors.ParameterError, match="quasi-identifiers are published exactly") as caught:
        made(principles=[*DIVERSE, principle])
    assert caught.value.key == "principles"
    assert caught.value.value == principle.name


@pytest.mark.parametrize(
    "principle",
    [
        sf.FrequencyLDiversity(2),
        sf.EntropyLDiversity(2),
        sf.TCloseness("0.9"),
        sf.AlphaKAnonymity("0.5", 2),
        sf.Dissimilarity(0, "0.5", 2, on="each"),
        sf.EpsilonMAnonymity(0, 2, on="pay"),
    ],
    ids=lambda principle: principle.name,
)
def test_principles_about_secrets_hold_as_in_the_generalized_release(principle):
    anatomy = made(principles=principle)
    assert anatomy.holds
    release = anatomy.private.release
    levels = [finding.levels for audit in anatomy.audits for finding in audit]
    assert levels == [finding.levels for finding in release.audit]


def test_secrets_that_a_principle_takes_together_must_be_in_one_table():
    together = sf.FrequencyLDiversity(2, on="whole")
    with pytest.raises(sf.errors.ParameterError, match="takes ill \\+ pay together") as caught:
        made(principles=together)
    assert caught.value.key == "plan"
    assert made(principles=together, plan=[["ill", "pay"]]).holds


def test_the_distance_of_all_secrets_is_not_that_of_one(tmp_path):
    """Alone, `pay` is compared by its difference; together with `ill` by another distance, which must not be used for it."""
    together = sf.distances.Lp(p=1, weights={"pay": 10, "debt": 1})
    data = pa.table({"age": range(6), "pay": [1, 2, 30, 31, 60, 61], "debt": [1, 1, 2, 2, 3, 3]})
    schema = sf.Schema(["age"], ["pay", "debt"], distance=together)
    principle = sf.Dissimilarity(5, "0.5", 2, on="pay")
    anatomy = made(data, schema, [principle])
    assert anatomy.audits[0][0].levels == anatomy.private.release.audit[0].levels
    assert anatomy.audits[0][0].distance == anatomy.private.release.audit[0].distance == "absolute"
    folder = anatomy.save(tmp_path / "out")
    assert sf.verify(folder, data, schema=schema)
    whole = made(data, schema, [sf.Dissimilarity("0.1", "0.5", 2)], plan=[["pay", "debt"]])
    assert whole.audits[0][0].distance == "lp"


def test_an_invalid_plan_is_refused():
    for plan in ([["ill"]], [["ill"], ["ill", "pay"]], [["ill", "pay"], []], [["ill", "pay", "age"]]):
        with pytest.raises(sf.errors.ParameterError, match="invalid plan"):
            made(plan=plan)


def test_what_an_anatomy_cannot_be_made_of():
    with pytest.raises(sf.errors.ColumnError, match="no sensitive column"):
        made(schema=sf.Schema(["age"]))
    with pytest.raises(sf.errors.ColumnError, match="several rows"):
        made(schema=sf.Schema(["age"], ["ill"], person_id="name"))
    with pytest.raises(sf.errors.ParameterError, match="does not write anatomies"):
        made(engine="spark")
    with pytest.raises(sf.errors.RequirementError):
        made(principles=sf.DistinctLDiversity(5, on="ill"))


def test_an_attribute_without_requirement_is_warned_of():
    anatomy = made(principles=sf.DistinctLDiversity(2, on="ill"))
    assert [warning.attribute for warning in anatomy.warnings] == ["pay"]
    accepted = sf.Schema(["age", "town"], ["ill", "pay"], ["name"], accepted={"pay": "it is public"})
    assert made(schema=accepted, principles=sf.DistinctLDiversity(2, on="ill")).warnings == ()


def test_a_secret_that_determines_a_quasi_identifier_is_noted_for_the_publisher():
    people = pa.table({"sex": ["f", "m"] * 60, "age": [30 + i % 3 for i in range(120)], "pregnant": ["yes", "no"] * 60})
    anatomy = made(people, sf.Schema(["sex", "age"], ["pregnant"]), sf.DistinctLDiversity(2))
    assert any("'pregnant' nearly determines 'sex'" in note for note in anatomy.private.notes)
    assert "pregnant" not in " ".join(anatomy.notes)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_names_of_columns_that_the_data_has(tmp_path, form):
    data = pa.table({"group": [1, 2, 3, 4], "count": [5, 6, 7, 8], "ill": ["a", "b", "c", "d"]})
    anatomy = made(data, sf.Schema(["group", "count"], ["ill"]))
    assert anatomy.people.column_names == ["group_id", "group", "count"]
    assert anatomy.secrets[0].column_names == ["group_id", "ill", "count_id"]
    assert sf.verify(anatomy.save(tmp_path / "out", format=form), data)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_missing_values_formulas_and_empty_texts(tmp_path, form):
    data = pa.table({"age": ["=1", None, "", "?"], "ill": ["=A1", "?", None, ""], "pay": [1.0, None, 2.5, 1.0]})
    schema = sf.Schema(["age"], ["ill", "pay"], missing=sf.data.Missing(("?",)))
    anatomy = made(data, schema, sf.DistinctLDiversity(1))
    assert anatomy.people["age"].null_count == 2
    folder = anatomy.save(tmp_path / "out", format=form, key=tmp_path / "key.json")
    assert sf.verify(folder, data, schema=schema, key=tmp_path / "key.json").not_checked == ()


def test_sets_vectors_and_dates(tmp_path):
    data = pa.table(
        {
            "seen": ["2020-01-05", "2020-02-01", "2021-01-01", "2021-05-05"],
            "drugs": ["a;b", "b", "", "c"],
            "x": [1, 2, 3, 4],
            "y": [5, 5, 6, 6],
        }
    )
    kinds = {"seen": "date", "drugs": "set"}
    schema = sf.Schema(["seen"], ["drugs", "place"], kinds=kinds, vectors={"place": ["x", "y"]})
    anatomy = made(data, schema)
    assert [table.column_names[1:-1] for table in anatomy.secrets] == [["drugs"], ["x", "y"]]
    assert sf.verify(anatomy.save(tmp_path / "out"), data, schema=schema)


def test_suppressed_rows_are_in_no_table(tmp_path):
    data = pa.table({"age": range(9), "ill": ["flu", "gout"] * 4 + ["flu"]})
    anatomy = made(data, sf.Schema(["age"], ["ill"]), method=Fixed([0, 0, 1, 1, 2, 2, 3, 3, 4]), suppress="0.2")
    assert (anatomy.suppressed, anatomy.people.num_rows) == (1, 8)
    assert 8 not in anatomy.people["age"].to_pylist()
    folder = anatomy.save(tmp_path / "out", key=tmp_path / "key.json")
    assert sf.verify(folder, data, key=tmp_path / "key.json", suppress="0.2").not_checked == ()
    assert not sf.verify(folder, data, suppress="0.1")


def test_the_same_seed_gives_the_same_files(tmp_path):
    one, other = (made().save(tmp_path / name) for name in ("one", "other"))
    for path in one.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes()


def test_release_json_states_no_error_of_counts_and_no_seed(tmp_path):
    text = (made().save(tmp_path / "out") / "release.json").read_text(encoding="utf-8")
    assert "seed" not in json.loads(text)
    assert "error" not in text


cells = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.sampled_from("xy"), st.integers(0, 2)), min_size=4)


@given(rows=cells, seed=st.integers(0, 99))
def test_expected_counts_against_the_definition(rows, seed):
    ages, ills, jobs, groups = zip(*rows, strict=True)
    data = pa.table({"age": ages, "ill": ills, "job": jobs})
    of_row = sf.anonymization.renumber(np.array(groups))
    anatomy = made(data, sf.Schema(["age"], ["ill", "job"]), sf.DistinctLDiversity(1), method=Fixed(of_row))
    low, high = sorted((seed % 4, seed // 4 % 4))
    if not {low, high} <= set(ages) or "a" not in ills or "x" not in jobs:
        return
    workload = Workload.from_queries(anatomy.private.release.private.kept, [{"age": (low, high), "ill": "a", "job": "x"}])
    errors = anatomy.count_errors(workload).anatomy
    people = [({"age": row["age"]}, row["group"]) for row in anatomy.people.to_pylist()]
    secrets = []
    for table, name in zip(anatomy.secrets, ("ill", "job"), strict=True):
        found = {}
        for row in table.to_pylist():
            found.setdefault(row["group"], Counter())[row[name]] = row["count"]
        secrets.append(((name,), found))
    expected = expected_count(people, secrets, lambda one: low <= one["age"] <= high, ["a".__eq__, "x".__eq__])
    assert errors.estimate[0] == pytest.approx(float(expected))
    assert errors.raw[0] == sum(low <= age <= high and (ill, job) == ("a", "x") for age, ill, job, _ in rows)


def test_a_workload_of_another_table_is_refused():
    anatomy = made()
    with pytest.raises(sf.errors.ParameterError, match="another table"):
        anatomy.count_errors(Workload.random(sf.Table(PEOPLE.slice(0, 6), SCHEMA), 5, 1, 1))


def test_only_a_release_of_this_kind_has_a_file_of_people_that_is_replaced(tmp_path):
    made().save(tmp_path / "anatomy")
    made(principles=sf.DistinctLDiversity(1)).save(tmp_path / "anatomy", force=True)
    release = sf.anonymize(PEOPLE, SCHEMA, DIVERSE, seed=0)
    folder = release.save(tmp_path / "release")
    (folder / "people.csv").write_text("an original\n")
    with pytest.raises(sf.errors.FileError, match=r"also contains 'people\.csv'"):
        release.save(folder, force=True)
