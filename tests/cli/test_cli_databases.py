"""Databases and sheets from the command line: one line and exit status 2 for bad input, and never a password."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

import sfumato as sf
from databases import fill, run, tables
from sfumato.cli import main

pytest.importorskip("adbc_driver_sqlite")

COLUMNS = """
[columns.age]
role = "quasi-identifier"
[columns.sex]
role = "quasi-identifier"
[columns.income]
role = "sensitive"
[[principles]]
name = "k-anonymity"
k = 5
"""


@pytest.fixture(params=["postgresql", "sqlite"])
def database(request, tmp_path):
    """A database of people, as a config in tmp_path writes it."""
    people = sf.synthetic_census(rows=300, seed=3).select(["age", "sex", "income"])
    uri = request.getfixturevalue("postgresql") if request.param == "postgresql" else f"sqlite:///{tmp_path}/people.db"
    fill(uri, "people", people)
    return uri


def invoke(*arguments, **variables):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], env=variables)


def write(tmp_path, data, output=""):
    (tmp_path / "sfumato.toml").write_text(f"[data]\n{data}\n{COLUMNS}\n[output]\npath = 'release'\n{output}\n")
    return tmp_path / "sfumato.toml"


def refused(done, text):
    assert done.exit_code == 2, done.output
    assert text in done.output
    assert len(done.output.splitlines()) == 1, done.output


def test_from_a_database_to_a_database_and_back(database, tmp_path):
    config = write(tmp_path, "path = '${PEOPLE}'\nquery = 'select * from people'", "database = '${PEOPLE}'\ntable = 'open'")
    done = invoke("anonymize", config, PEOPLE=database)
    assert done.exit_code == 0, done.output
    assert "Wrote its rows to the table open of" in done.output
    assert tables(database) == ["open", "people"]
    done = invoke("verify", tmp_path / "release", "--original", config, "--config", config, "--json", PEOPLE=database)
    assert done.exit_code == 0, done.output
    assert {"rows", "cover", "declared"} <= {check["name"] for check in json.loads(done.output)["checks"]}
    refused(invoke("anonymize", config, "--output", tmp_path / "other", PEOPLE=database), "of this name exists")
    assert not (tmp_path / "other").exists()
    assert invoke("anonymize", config, "--force", "--seed", 7, PEOPLE=database).exit_code == 0
    groups = sf.Schema(["age", "sex"], ["income"], group="group")
    assert sf.audit(sf.read_table(database, groups, table="open"), None, sf.KAnonymity(5)).holds


def test_an_existing_folder_leaves_the_database_unchanged(database, tmp_path):
    config = write(tmp_path, f"path = '{database}'\ntable = 'people'", f"database = '{database}'\ntable = 'open'")
    (tmp_path / "release").mkdir()
    refused(invoke("anonymize", config), "something exists here already")
    assert tables(database) == ["people"]


def test_columns_that_changed(database, tmp_path):
    config = write(tmp_path, f"path = '{database}'\ntable = 'people'")
    assert invoke("audit", config).exit_code in (0, 1)
    change = "alter table people rename column income to wage"
    if database.startswith("postgresql"):
        run(database, change)
    else:
        with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
            connection.execute(change)
    refused(invoke("audit", config), "column 'income': there is no such column")
    refused(invoke("anonymize", config), "column 'income': there is no such column")
    assert not (tmp_path / "release").exists()


def test_relative_databases_start_at_the_config(tmp_path, monkeypatch):
    people = sf.synthetic_census(rows=300, seed=3).select(["age", "sex", "income"])
    fill(f"sqlite:///{tmp_path}/people.db", "people", people)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for scheme in ("sqlite", "sqlite+pysqlite"):
        config = write(tmp_path, f"path = '{scheme}:///people.db'", "database = 'sqlite:///open.db'\ntable = 'people'")
        done = invoke("anonymize", config, "--force")
        assert done.exit_code == 0, done.output
    assert (tmp_path / "open.db").exists()
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "output", "text"),
    [
        ("path = 'postgresql://me:${NOT_SET}@localhost/db'", "", "data.path: the environment variable 'NOT_SET'"),
        ("path = '${NOT_SET}'", "", "data.path: the environment variable 'NOT_SET'"),
        ("path = 'postgresql://me:s3cret@127.0.0.1:1/db'\ntable = 't'", "", "cannot be reached"),
        ("path = 'postgresql://me:s3/cret@h/db'\ntable = 't'", "", "special character"),
        ("path = 'p.csv'\nquery = 'select 1'", "", "data.query: a query is given"),
        ("path = 'p.csv'\nsheet = 'x'", "", "data.sheet: a sheet is given"),
        ("path = 'sqlite:///none.db'", "", "there is no file"),
        ("path = 'p.csv'", "database = 'sqlite:///o.db'", "output.table: the key is missing"),
        ("path = 'p.csv'", "table = 'o'", "output.database: the key is missing"),
        ("path = 'p.csv'", "table = 'o'\ndatabase = 'postgresql://me:${NOT_SET}@h/db'", "output.database: the environment"),
        ("path = 'p.csv'", "table = 'o'\ndatabase = 'mysql://me:s3cret@h/db'", "is not supported"),
        ("path = 'p.csv'", "table = 'o'\ndatabase = 'postgresql://me:s3cret@127.0.0.1:1/db'", "cannot be reached"),
    ],
)
def test_bad_input(tmp_path, data, output, text):
    (tmp_path / "p.csv").write_text("age,sex,income\n1,f,1\n")
    done = invoke("anonymize", write(tmp_path, data, output))
    refused(done, text)
    assert "s3" not in done.output
    assert "cret" not in done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.csv", "sfumato.toml"]


def test_passwords_stay_out_of_everything(postgresql, tmp_path):
    """The server accepts any password, and no password may appear in what is printed or written."""
    fill(postgresql, "people", sf.synthetic_census(rows=300, seed=3).select(["age", "sex", "income"]))
    uri = postgresql.replace("@", ":${PASSWORD}@", 1)
    config = write(tmp_path, f"path = '{uri}'\ntable = 'people'", f"database = '{uri}'\ntable = 'open'")
    secret = "hunter2/p@ss %"
    for verb in (["audit"], ["audit", "--json"], ["anonymize"], ["anonymize", "--force", "--json"], ["frontier", "--k", "2",
                 "--epsilon", "1", "--delta", "0.5", "--json"]):  # fmt: skip
        done = invoke(verb[0], config, *verb[1:], PASSWORD=secret)
        assert done.exit_code in (0, 1), done.output
        assert "hunter2" not in done.output
    assert "people" in invoke("audit", config, "--json", PASSWORD=secret).output
    for path in tmp_path.rglob("*"):
        if path.is_file() and path != config:
            assert b"hunter2" not in path.read_bytes()
    refused(invoke("audit", postgresql.replace("@", ":s3cret@", 1)), "this is a database, not a config")
    assert "s3cret" not in invoke("audit", postgresql.replace("@", ":s3cret@", 1)).output


@pytest.mark.parametrize("how", ["before the host", "as a parameter"])
def test_a_draft_contains_no_password_and_runs(postgresql, tmp_path, how):
    fill(postgresql, "people", sf.synthetic_census(rows=300, seed=3).select(["age", "sex", "income"]))
    uri = postgresql.replace("@", ":hunter2%2F@", 1) if how == "before the host" else f"{postgresql}?password=hunter2%2F"
    draft = tmp_path / "draft.toml"
    done = invoke("init", uri, "--table", "people", "--output", draft)
    assert done.exit_code == 0, done.output
    assert "hunter2" not in done.output + draft.read_text(encoding="utf-8")
    assert "# Set SFUMATO_PASSWORD in the environment" in draft.read_text(encoding="utf-8")
    assert invoke("audit", draft, SFUMATO_PASSWORD="hunter2/").exit_code in (0, 1)
    refused(invoke("audit", draft), "the environment variable 'SFUMATO_PASSWORD' is not set")


def test_sheets_of_a_config(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.create_sheet("people")
    people = sf.synthetic_census(rows=100, seed=3).select(["age", "sex", "income"])
    for row in [people.column_names, *zip(*people.to_pydict().values(), strict=True)]:
        sheet.append(row)
    book.save(tmp_path / "p.xlsx")
    config = write(tmp_path, "path = 'p.xlsx'\nsheet = 'people'")
    assert invoke("anonymize", config).exit_code == 0
    assert invoke("verify", tmp_path / "release", "--original", config).exit_code == 0
    refused(invoke("audit", write(tmp_path, "path = 'p.xlsx'\nsheet = 'nobody'")), "data.sheet: there is no sheet 'nobody'")
    refused(invoke("audit", write(tmp_path, "path = 'p.xlsx'")), "the sheet is empty")
