"""What a draft decides, and what it leaves to a person: nothing is published that it cannot justify."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.data.schema import Role
from sfumato.profiling import draft, profile


@dataclass(frozen=True)
class Clinic:
    """Encounters of patients, as a hospital exports them."""

    table: pa.Table
    patients: int


@pytest.fixture(scope="module")
def clinic():
    rng = random.Random(5)
    rows = []
    for patient in range(400):
        sex, born = rng.choice("fm"), 1930 + rng.randrange(70)
        for _ in range(1 + patient % 3):
            rows.append(
                {
                    "encounter_id": len(rows) + 5000,
                    "patient_nbr": 90_000 + 7 * patient,
                    "admission_type_id": rng.choice([1, 1, 1, 2, 3, 6]),
                    "sex": sex,
                    "age": 2020 - born,
                    "zip": f"{rng.randrange(40) * 250 + 10_000:05d}",
                    "admitted": f"20{10 + rng.randrange(9)}-{1 + rng.randrange(12):02d}-{1 + rng.randrange(28):02d}",
                    "diagnosis": rng.choice(["250.01", "401", "V57", "428.0", "786.5", "414"]),
                    "insulin": rng.choices(["No", "Steady"], [97, 3])[0],
                    "x7": rng.choice("abcdef"),
                    "weight_factor_wgt": round(rng.random(), 6),
                }
            )
    return Clinic(pa.Table.from_pylist(rows), 400)


def test_roles_of_a_hospital_export(clinic):
    roles = {column.name: column.role for column in profile(clinic.table)}
    assert roles == {
        "encounter_id": Role.IDENTIFIER,
        "patient_nbr": Role.IDENTIFIER,
        "admission_type_id": None,
        "sex": Role.QUASI_IDENTIFIER,
        "age": Role.QUASI_IDENTIFIER,
        "zip": Role.QUASI_IDENTIFIER,
        "admitted": Role.QUASI_IDENTIFIER,
        "diagnosis": Role.SENSITIVE,
        "insulin": None,
        "x7": None,
        "weight_factor_wgt": None,
    }


def test_the_draft_alone_gives_a_release_that_exposes_nobody(clinic, tmp_path):
    """An independent count of people per group, columns that are published, and columns without a principle."""
    people = tmp_path / "visits.parquet"
    parquet.write_table(clinic.table, people)
    text = draft(profile(people), people, tmp_path / "sfumato.toml")
    assert 'person_id = "patient_nbr"' in text
    config = sf.Config.parse(text, tmp_path / "sfumato.toml")
    release = sf.anonymize(config.table(), None, config.requested_principles, method=config.grouping_method)
    release.save(tmp_path / "out")
    rows = release.frame.to_pylist()
    assert set(rows[0]) == {"group", "sex", "age", "zip", "admitted", "diagnosis"}
    # whose row each published row is, from the private part of the release
    original = clinic.table.column("patient_nbr").to_pylist()
    groups = {}
    for row, source in zip(rows, release.private.rows, strict=True):
        groups.setdefault(row["group"], set()).add(original[int(source)])
    assert min(map(len, groups.values())) >= 5
    assert sum(map(len, groups.values())) == clinic.patients  # nobody is in two groups
    covered = {principle.on for principle in config.requested_principles if hasattr(principle, "on")}
    assert covered == set(config.schema.sensitive)


def test_undecided_columns_are_comments_with_a_reason(clinic, tmp_path):
    text = draft(profile(clinic.table), "visits.csv", tmp_path / "sfumato.toml")
    for name in ("admission_type_id", "insulin", "x7", "weight_factor_wgt"):
        assert f"\n# [columns.{name}]\n# " in text
        assert name not in sf.Config.parse(text).columns


def test_a_code_of_categories_is_not_the_number_of_a_person():
    rng = random.Random(1)
    table = pa.table({"disposition_id": [rng.randrange(26) for _ in range(900)], "sex": ["f", "m"] * 450})
    assert profile(table).key("person") is None


@pytest.mark.parametrize(
    ("name", "people", "rows_each"),
    [
        ("userId", 40, 150),  # more rows per person than a name with other words may have
        ("patient_nbr", 25, 400),
        ("patient_id", 6, 10),  # fewer values than a code of categories may have
        ("subject", 30, 3),
        ("Id", 33, 300),
    ],
)
def test_the_number_of_a_person_is_never_published(name, people, rows_each):
    rows = people * rows_each
    rng = random.Random(2)
    table = pa.table(
        {
            name: [1000 + i // rows_each for i in range(rows)],
            "film": [f"f{rng.randrange(40)}" for _ in range(rows)],
            "rating": [rng.randrange(10) for _ in range(rows)],
        }
    )
    found = profile(table)
    assert found.key("person") == name
    assert found[name].role is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("num_child", [0, 1, 2, 3] * 50),
        ("person_no", [1, 2, 3, 4, 5] * 40),
        ("pid", ["left", "right"] * 100),
        ("subject", ["arts", "law"] * 100),
        ("member_type_id", [1, 2] * 100),
    ],
)
def test_numbers_and_codes_that_only_mention_a_person_are_no_keys(name, cells):
    assert profile(pa.table({name: cells, "age": [20 + i % 9 for i in range(200)]})).key("person") is None


def test_the_key_of_something_else_is_left_to_a_person():
    """Hardly anything is recognised, so an unrecognised column would become a quasi-identifier; a key must not."""
    table = pa.table(
        {"movieId": [i % 50 for i in range(500)], "x": [i % 7 for i in range(500)], "y": [i % 3 for i in range(500)]}
    )
    found = profile(table)
    assert (found["movieId"].role, found["x"].role) == (None, Role.QUASI_IDENTIFIER)


@pytest.mark.parametrize(("texts", "role"), [(60, Role.QUASI_IDENTIFIER), (150, None)])
def test_texts_whose_sets_nobody_could_read_are_left_to_a_person(texts, role):
    films = [f"film {chr(97 + i % texts // 12)}{chr(97 + i % texts % 12)}" for i in range(3000)]
    found = profile(pa.table({"film": films, "stars": [i % 7 for i in range(3000)]}))
    assert found["film"].facts.distinct == texts
    assert found["film"].role is role


def test_a_draft_says_whether_it_runs(clinic, tmp_path):
    """Nothing is released while rows lack a person, so the draft must not promise that it runs."""
    lines = draft(profile(clinic.table), "visits.csv", tmp_path / "sfumato.toml").splitlines()
    assert "It runs unchanged." in lines[1]
    keys = clinic.table.column("patient_nbr").to_pylist()
    lacking = clinic.table.set_column(
        clinic.table.column_names.index("patient_nbr"), "patient_nbr", pa.array([None, None, *keys[2:]])
    )
    lines = draft(profile(lacking), "visits.csv", tmp_path / "sfumato.toml").splitlines()
    assert "It does not run yet: 2 rows have no value of 'patient_nbr' (see [data])." in lines[1]


def test_a_key_under_any_name_is_recognised_by_what_never_changes(clinic):
    table = clinic.table.drop(["patient_nbr"]).append_column("zz", clinic.table.column("patient_nbr"))
    found = profile(table)
    assert found.key("person") == "zz"
    assert "'sex' never changes" in found["zz"].suggestion.reason


def test_households_are_recognised():
    table = pa.table(
        {
            "hh_id": [i // 3 for i in range(300)],
            "person_id": [i // 2 for i in range(300)],
            "age": [20 + i % 40 for i in range(300)],
        }
    )
    found = profile(table)
    assert (found.key("person"), found.key("household")) == ("person_id", "hh_id")


def test_columns_published_unchanged_single_out_nobody():
    """Two columns that are harmless alone are left to a person if they single out a row together."""
    table = pa.table(
        {
            "age": [20 + i % 5 for i in range(40)],
            "sex": ["f", "m"] * 20,
            "survey_year": [2000 + (i % 4 if i else 9) for i in range(40)],
            "wave": [i % 3 for i in range(40)],
        }
    )
    assert profile(table).of_role(Role.OTHER) == []
    assert {column.name for column in profile(table).of_role(None)} == {"survey_year", "wave"}


def test_rows_of_one_person_are_no_evidence_of_dependence():
    """A value per person determines the sex of the person by chance, however many rows the person has."""
    rng = random.Random(3)
    sexes = [rng.choice("fm") for _ in range(60)]
    table = pa.table(
        {
            "id": [i // 8 for i in range(480)],
            "sex": [sexes[i // 8] for i in range(480)],
            "age": [20 + (i // 8) % 40 for i in range(480)],
            "followed": [900 + 31 * (i // 8) for i in range(480)],
        }
    )
    found = profile(table)
    assert found.key("person") == "id"
    assert found["followed"].role is None


def operations(times):
    """Return reports of police operations, several of one operation and mostly of one person; `times`: one per operation."""
    rng = random.Random(8)
    rows = []
    for time in times:
        race, sex, age = rng.choice("abcd"), rng.choice("fm"), rng.randrange(16, 70)
        for _ in range(rng.choice([1, 2, 3, 4])):
            rows.append({"reported": time, "race": race, "sex": sex, "age": age, "force": rng.choice("xyz")})
        if rng.random() < 0.1:
            rows[-1]["sex"] = "m" if sex == "f" else "f"
    return pa.Table.from_pylist(rows)


def test_rows_with_the_same_second_count_as_one_person():
    rng = random.Random(9)
    seconds = [f"2019-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d} {i % 24:02d}:{i % 60:02d}:{i % 59:02d}"
               for i in range(200)]  # fmt: skip
    found = profile(operations(seconds))
    assert found.key("person") == "reported"
    assert "one event" in found["reported"].suggestion.reason
    assert found["reported"].suggestion.alternatives == (Role.QUASI_IDENTIFIER,)
    # days recur by chance
    days = profile(operations([time[:10] for time in seconds]))
    assert days.key("person") is None
    assert days["reported"].role is Role.QUASI_IDENTIFIER


def test_codes_of_categories_are_no_amounts(tmp_path):
    """Also if they are written with decimals, as pandas writes whole numbers where cells are missing."""
    people = tmp_path / "people.csv"
    rows = [f"{1 + i % 6},{i % 2},{['', '47.0', '12.0', '5.0'][i % 4]},{i % 9 + 1},{20 + i % 50}" for i in range(200)]
    people.write_text("marital,sex,birthplace,years_married,age\n" + "\n".join(rows))
    kinds = {column.name: str(column.kind) for column in profile(people)}
    assert kinds == {
        "marital": "categorical",
        "sex": "numeric",
        "birthplace": "categorical",
        "years_married": "numeric",
        "age": "numeric",
    }
