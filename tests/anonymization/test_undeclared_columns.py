"""A column without a role is not published, unless the publisher says so."""

from __future__ import annotations

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.releases.model_base import as_json

ROWS = 12
PEOPLE = pa.table(
    {
        "age": [20 + i % 6 for i in range(ROWS)],
        "diary": [f"page {i}" for i in range(ROWS)],
        "ill": ["flu", "cold"] * (ROWS // 2),
        "job": ["cook", "nurse", "cook"] * (ROWS // 3),
        "town": ["Ulm"] * ROWS,
    }
)
TWO = [sf.KAnonymity(2)]


def schema(**more):
    return sf.Schema(["age"], ["ill"], **more)


def state(folder, change):
    path = folder / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(as_json(content), encoding="utf-8")


def failing(verification):
    return [check.name for check in verification.checks if check.holds is False]


@pytest.mark.parametrize("library", [lambda t: t, pa.Table.to_pandas, pl.from_arrow])
def test_it_is_left_out_and_named(library):
    data = library(PEOPLE)
    # a kind is not a role
    release = sf.anonymize(data, schema(kinds={"town": "categorical"}), TWO)
    assert list(release.frame.columns if isinstance(data, pd.DataFrame | pl.DataFrame) else release.frame.column_names) == [
        "group",
        "age",
        "ill",
    ]
    assert release.notes == ("not published, because they have no role: 'diary', 'job', 'town'",)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_no_file_contains_it(tmp_path, form):
    folder = sf.anonymize(PEOPLE, schema(), TWO).save(tmp_path / "out", format=form)
    assert sf.verify(folder, PEOPLE, schema=schema())
    contents = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"page 1" not in contents
    if form == "parquet":
        assert parquet.read_schema(folder / "data.parquet").names == ["group", "age", "ill"]


def test_database_sink(tmp_path):
    uri = f"sqlite:///{tmp_path / 'people.db'}"
    sf.anonymize(PEOPLE, schema(), TWO).save(tmp_path / "out", database=uri, table="people")
    assert sf.read_table(uri, sf.Schema(), table="people").data.column_names == ["group", "age", "ill"]


def test_projected_tables_leave_it_out():
    projection = sf.project(PEOPLE, sf.Schema(["age"], ["ill", "job"], other=["town"]), TWO, alpha=1, beta=1)
    assert projection.left_out == ("diary", "town")
    assert "not published, because they have no role: 'diary'" in projection.notes


REGISTER = sf.disclosure.Dictionary(PEOPLE, identity="diary", name="register")


def test_withheld_release():
    declared = sf.Schema(["age"], ["ill"], identifiers=["diary"])
    release = sf.withhold(PEOPLE, declared, REGISTER, cells=1, identity="diary")
    assert release.frame.column_names == ["age", "ill"]
    assert "not published, because they have no role: 'job', 'town'" in release.notes
    # listing an attribute is a decision
    listed = sf.withhold(PEOPLE, declared, REGISTER, cells=1, identity="diary", attributes=["age", "job"])
    assert listed.frame.column_names == ["age", "job"]


@pytest.mark.parametrize(
    "make",
    [
        lambda s: sf.anonymize(PEOPLE, s, TWO),
        lambda s: sf.full_domain(PEOPLE, s, TWO),
        lambda s: sf.project(PEOPLE, s, TWO),
        lambda s: sf.withhold(PEOPLE, s, REGISTER, cells=1, identity="diary"),
    ],
)
def test_it_is_refused(make):
    declared = sf.Schema(["age"], ["ill", "job"], identifiers=["diary"], undeclared="refuse")
    with pytest.raises(sf.errors.ColumnError, match="the column has no role") as caught:
        make(declared)
    assert caught.value.column == "town"
    with pytest.raises(sf.errors.ColumnError, match="2 columns have no role: 'job', 'town'") as caught:
        sf.anonymize(PEOPLE, sf.Schema(["age"], ["ill"], ["diary"], undeclared="refuse"), TWO)
    assert caught.value.value == ["job", "town"]


def test_nothing_to_refuse():
    declared = sf.Schema(["age"], ["ill"], ["diary", "job"], other=["town"], undeclared="refuse")
    assert sf.anonymize(PEOPLE, declared, TWO).frame.column_names == ["group", "age", "ill", "town"]


def kept(tmp_path):
    people = PEOPLE.drop_columns(["diary", "job"])
    return people, sf.anonymize(people, schema(undeclared="keep"), TWO).save(tmp_path / "out")


def test_it_is_kept(tmp_path):
    people, folder = kept(tmp_path)
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    assert content["columns"][-1] == {"name": "town", "role": "other"}
    assert (content["notes"], content["unchanged"]["columns"]) == ([], ["town"])
    assert sf.verify(folder, people, schema=schema(undeclared="keep"))
    # whoever expects that such columns are dropped is told that one is published
    assert failing(sf.verify(folder, people, schema=schema())) == ["declared"]


def test_verification_finds_a_column_that_nobody_decided_on(tmp_path):
    people, folder = kept(tmp_path)
    for undeclared in ("drop", "refuse"):
        state(folder, lambda content, undeclared=undeclared: content["config"].update(undeclared=undeclared))
        assert "columns" in failing(sf.verify(folder, people))
    state(folder, lambda content: content["config"].pop("undeclared"))
    assert "columns" in failing(sf.verify(folder))


def test_a_column_that_was_to_be_kept_is_missing(tmp_path):
    folder = sf.anonymize(PEOPLE, schema(), TWO).save(tmp_path / "out")
    state(folder, lambda content: content["config"].update(undeclared="keep"))
    assert failing(sf.verify(folder, PEOPLE)) == ["original columns"]


def test_before_format_3_such_columns_were_published(tmp_path):
    people, folder = kept(tmp_path)

    def as_format_2(content):
        content.update(format=2, seed=0)
        del content["config"]["undeclared"]

    state(folder, as_format_2)
    assert sf.verify(folder, people)
