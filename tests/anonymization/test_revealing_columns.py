"""Columns that are published as they are and undo the recoding of a quasi-identifier are counted, and warned of."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_exposure as naive
import sfumato as sf
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.revealing_columns import _narrowed
from sfumato.cli import main
from sfumato.releases.model_base import as_json
from sfumato.verification._verify import verify
from standin import Chunks

BANDS = ["child", "adult", "old"]


def people(rows, seed, related, missing, errors):
    """Ages and towns, a band that follows from the age, a dialect that follows from the town, except for some errors."""
    random = np.random.default_rng(seed)
    age = random.integers(0, 90, rows)
    town = random.choice(["Bonn", "Lyon", "Oslo", "Rome"], rows)
    wrong = random.random(rows) < errors
    band = np.array(BANDS)[np.where(wrong | (not related), random.integers(0, 3, rows), age // 30)]
    dialect = np.where(wrong | (not related), "none", np.char.lower(town))
    gone = random.random(rows) < missing
    return pa.table(
        {
            "age": pa.array(age.tolist(), pa.int64(), mask=gone),
            "town": pa.array(town.tolist(), mask=random.random(rows) < missing),
            "band": band.tolist(),
            "dialect": dialect.tolist(),
            "coin": random.choice(["heads", "tails"], rows).tolist(),
        }
    )


SCHEMA = sf.Schema(
    ["age", "town"], ["band", "coin"], other=["dialect"], unchanged_limit=1, accepted={"band": "test", "coin": "test"}
)


def expected_warnings(data, release):
    """The warnings by the definition, with the figures rounded down to tenths."""
    seen, found = release.frame.to_pylist(), []
    for column in ("band", "dialect", "coin"):
        for public in ("age", "town"):
            pairs = [(row[column], row[public]) for row in seen]
            secrets, publics = data[column].to_pylist(), data[public].to_pylist()
            one, half, recoded = naive.narrowed(pairs, secrets, publics, public == "age")
            if (one >= 5 and 100 * one >= recoded) or (half and 10 * half >= recoded):
                figures = [str(float(Fraction(10 * each // recoded, 10))).removesuffix(".0") for each in (one, half)]
                found.append((column, public, *figures))
    return found


CASES = st.tuples(
    st.integers(2, 130), st.integers(0, 999), st.booleans(), st.sampled_from([0, 0.1]), st.sampled_from([0, 0.005, 0.1])
)


@settings(max_examples=40)
@given(CASES, st.integers(2, 12))
def test_warnings_are_those_of_the_definition(case, size):
    data = people(*case)
    release = anonymize(data, SCHEMA, sf.KAnonymity(1), method=Chunks(size))
    found = [(w.column, w.quasi_identifier, w.one_value, w.half) for w in release.revealing]
    assert found == expected_warnings(data, release)


TREE = sf.Hierarchy.from_rows(
    [["Bonn", "north", "*"], ["Lyon", "north", "*"], ["Oslo", "north", "*"], ["Rome", "south", "*"]]
)
NODES = replace(SCHEMA, hierarchies={"town": TREE}, recodings={"town": "ancestor"})
"""Groups with different towns have the same node in common."""


@pytest.mark.parametrize("schema", [SCHEMA, NODES], ids=["sets", "nodes"])
@settings(max_examples=10)
@given(CASES, st.integers(2, 12))
def test_verification_counts_the_same(tmp_path_factory, schema, case, size):
    data = people(*case)
    folder = tmp_path_factory.mktemp("revealing") / "out"
    anonymize(data, schema, sf.KAnonymity(1), method=Chunks(size)).save(folder)
    found = verify(folder, data, schema=schema)
    assert found, found
    assert [check.holds for check in found.checks if check.name == "revealing"] == [True]


@settings(max_examples=20)
@given(st.integers(6, 60), st.integers(0, 999), st.integers(2, 4))
def test_groups_with_different_towns_of_a_node_count_alike(rows, seed, size):
    """Two groups may have other towns, and publish the same node."""
    data = people(rows, seed, True, 0, 0)
    release = anonymize(data, NODES, sf.KAnonymity(1), method=Chunks(size))
    private, town = release.private, release.private.recoding.columns[1]
    values = np.unique(data["dialect"].to_numpy(zero_copy_only=False), return_inverse=True)[1].astype(np.int32)
    _, _, recoded = _narrowed(private.original, values, private.kept_rows, town, private.recoding.groups.of_row)
    assert recoded == sum(cell in ("north", "*") for cell in release.frame["town"].to_pylist())


@pytest.fixture(scope="module")
def told():
    return people(400, 1, True, 0, 0)


def test_what_determines_a_quasi_identifier_is_warned_of_and_a_coin_is_not(told):
    release = sf.anonymize(told, SCHEMA, sf.KAnonymity(40), method="mondrian")
    assert {(w.column, w.quasi_identifier) for w in release.warnings} == {("band", "age"), ("dialect", "town")}
    dialect = next(w for w in release.warnings if w.column == "dialect")
    assert dialect.one_value == "1", "the town follows from the dialect in every row"
    assert dialect.text in repr(release)
    assert pickle.loads(pickle.dumps(release)).warnings == release.warnings
    unrelated = sf.anonymize(people(400, 1, False, 0, 0), SCHEMA, sf.KAnonymity(40), method="mondrian")
    assert unrelated.warnings == ()


def test_the_red_box_names_what_it_is_about(told, tmp_path):
    """Not sensitive columns without a requirement, where there is none."""
    release = sf.anonymize(told, SCHEMA, sf.KAnonymity(40), method="mondrian")
    assert {warning.kind for warning in release.warnings} == {"revealing"}
    html = (release.save(tmp_path / "out") / "report.html").read_text(encoding="utf-8")
    box = html[html.index('class="alert"') :]
    box = box[: box.index("</aside>")]
    assert "Columns that reveal quasi-identifiers" in box
    assert "without a" not in box


def test_a_secret_of_few_people_is_warned_of():
    """Pregnant people are 3 % of the rows, and all of them are women."""
    data = pa.table({"sex": ["f", "m"] * 500, "pregnant": (["yes", "no"] * 30 + ["no"] * 940)})
    release = anonymize(data, sf.Schema(["sex"], ["pregnant"]), sf.KAnonymity(600), method="mondrian")
    (warning,) = release.revealing
    assert (warning.column, warning.quasi_identifier, warning.one_value) == ("pregnant", "sex", "0")


def state(folder, change):
    path = folder / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content["warnings"])
    path.write_text(as_json(content), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda warnings: warnings.clear(), "does not warn that 'band'"),
        (lambda warnings: warnings[0].update(column="coin"), "'coin' undoes .* not so"),
        (lambda warnings: warnings[0].update(half="0"), "not so"),
        (lambda warnings: warnings.reverse(), "order"),
        (lambda warnings: warnings.append(warnings[0]), "twice"),
    ],
)
def test_changed_warnings_fail(told, tmp_path, change, says):
    folder = sf.anonymize(told, SCHEMA, sf.KAnonymity(40), method="mondrian").save(tmp_path / "out")
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "undoes the recoding" in report
    state(folder, change)
    with_original = {check.name: check for check in verify(folder, told).checks}
    assert with_original["revealing"].holds is False
    assert re.search(says, with_original["revealing"].detail)
    assert {check.name: check.holds for check in verify(folder).checks}["revealing"] is None


def test_strict_writes_nothing(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from pyarrow import csv

    csv.write_csv(told, "people.csv")
    (tmp_path / "sfumato.toml").write_text(
        '[data]\npath = "people.csv"\n[columns.age]\nrole = "quasi-identifier"\n[columns.band]\nrole = "sensitive"\n'
        'accepted = "test"\n[[principles]]\nname = "k-anonymity"\nk = 300\n',
        encoding="utf-8",
    )
    run = CliRunner().invoke(main, ["anonymize", "sfumato.toml", "--output", "out", "--strict"])
    assert run.exit_code == 1, run.output
    assert "'band' undoes the recoding of 'age'" in " ".join(run.output.split())
    assert not (tmp_path / "out").exists()
    shown = CliRunner().invoke(main, ["anonymize", "sfumato.toml", "--output", "out", "--json"])
    assert [warning["kind"] for warning in json.loads(shown.stdout)["warnings"]] == ["revealing"]
