"""`sfumato init`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
import os
import sqlite3

import pyarrow as pa
import pytest
from pyarrow import parquet

import commandline
import sfumato as sf

PEOPLE = "name,zip,age,ill\n" + "".join(
    f"Person {i},0{1230 + i % 4},{20 + i % 9},{('flu', 'gout', 'cold', '?')[i // 4 % 4]}\n" for i in range(60)
)


@pytest.fixture
def sfumato(monkeypatch, tmp_path):
    """Run the command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return commandline.sfumato(*map(str, arguments))

    return run


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def test_from_a_file_to_a_release(sfumato, people, tmp_path):
    done = sfumato("init", "people.csv")
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("60 rows, 4 columns", "identifier", "quasi-identifier", "sensitive", "zip + age", "Wrote sfumato.toml"):
        assert word in done.stdout
    config = sf.Config.load("sfumato.toml")
    assert config.data.path == "people.csv"
    assert list(config.missing.values) == ["", "?"]
    assert config.schema.identifiers == ("name",)
    assert config.schema.quasi_identifiers == ("zip", "age")
    assert config.schema.sensitive == ("ill",)
    assert sfumato("audit", "sfumato.toml").returncode == 1
    assert sfumato("anonymize", "sfumato.toml").returncode == 0
    assert sfumato("verify", "release", "--original", "people.csv", "--config", "sfumato.toml").returncode == 0


def test_the_draft_says_what_to_decide(sfumato, people, tmp_path):
    sfumato("init", "people.csv")
    text = (tmp_path / "sfumato.toml").read_text(encoding="utf-8")
    assert text.startswith("# A draft, written by sfumato init for people.csv: 60 rows, 4 columns.")
    for column in ("name", "zip", "age", "ill"):
        section = text.split(f"[columns.{column}]\n")[1].split("\n\n")[0]
        assert "distinct value" in section
        assert "missing" in section
        assert "unique" in section
    assert "sfumato anonymize sfumato.toml" in text
    assert '# name = "t-closeness"' in text
    assert max(map(len, text.splitlines())) <= 120


def test_everything_as_json(sfumato, people):
    done = sfumato("init", "people.csv", "--json")
    found = json.loads(done.stdout)
    assert found["config"] == "sfumato.toml"
    assert {column["name"]: column["role"] for column in found["columns"]}["ill"] == "sensitive"
    # 4 zips and 9 ages make 36 pairs; rows 36 to 59 repeat those of 0 to 23
    whole = next(one for one in found["combinations"] if one["columns"] == ["zip", "age"])
    assert (whole["groups"], whole["unique"]) == (36, 12)


def test_nothing_is_replaced_without_force(sfumato, people, tmp_path):
    mine = '[data]\npath = "mine.csv"\n'
    (tmp_path / "sfumato.toml").write_text(mine, encoding="utf-8")
    done = sfumato("init", "people.csv")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert (tmp_path / "sfumato.toml").read_text(encoding="utf-8") == mine
    assert sfumato("init", "people.csv", "--force").returncode == 0
    assert sf.Config.load("sfumato.toml").requested_principles


def test_paths_start_at_the_folder_of_the_config(sfumato, people, tmp_path):
    (tmp_path / "configs").mkdir()
    assert sfumato("init", "people.csv", "--output", "configs/draft.toml").returncode == 0
    assert sf.Config.load("configs/draft.toml").data.path == "../people.csv"
    assert sfumato("audit", "configs/draft.toml").returncode == 1


def test_how_the_file_is_written_goes_into_the_draft(sfumato, tmp_path):
    text = "name;age;ort\n" + "".join(f"Jörg {i};{20 + i % 5};Köln\n" for i in range(30))
    (tmp_path / "leute.csv").write_bytes(text.encode("cp1252"))
    done = sfumato("init", "leute.csv")
    assert done.returncode == 0
    assert "read as cp1252" in done.stdout
    data = sf.Config.load("sfumato.toml").data
    assert (data.delimiter, data.encoding) == (";", "cp1252")
    assert sfumato("anonymize", "sfumato.toml").returncode == 0


def test_rows_without_a_person_are_drafted_and_refused_later(sfumato, tmp_path):
    rows = [f"p{i // 2},{20 + i % 5},{'fm'[i // 2 % 2]}" for i in range(60)]
    rows[7] = ",20,f"
    (tmp_path / "visits.csv").write_text("\n".join(["patient_id,age,sex", *rows]), encoding="utf-8")
    assert sfumato("init", "visits.csv").returncode == 0
    text = (tmp_path / "sfumato.toml").read_text(encoding="utf-8")
    assert 'person_id = "patient_id"' in text
    assert "1 row has no value" in " ".join(text.replace("#", "").split())
    done = sfumato("anonymize", "sfumato.toml")
    assert done.returncode == 2
    assert "visits.csv, column 'patient_id', row 8: the person of this row is missing" in done.stderr


def test_parquet(sfumato, tmp_path):
    columns = {"age": [20 + i % 5 for i in range(30)], "income": [1000.5 + i for i in range(30)], "tag": [{"a": 1}] * 30}
    parquet.write_table(pa.table(columns), tmp_path / "people.parquet")
    assert sfumato("init", "people.parquet").returncode == 0
    assert sfumato("anonymize", "sfumato.toml").returncode == 0


def test_a_database(sfumato, tmp_path):
    (tmp_path / "data").mkdir()
    with sqlite3.connect(tmp_path / "data" / "people.db") as base:
        base.execute("create table people (name text, age integer, income real)")
        base.executemany("insert into people values (?, ?, ?)", [(f"Person {i}", 20 + i % 5, 100.5 * i) for i in range(40)])
    base.close()
    assert sfumato("init", "sqlite:///data/people.db", "--table", "people", "--output", "data/draft.toml").returncode == 0
    config = sf.Config.load("data/draft.toml")
    assert (config.data.path, config.data.table) == ("sqlite:///people.db", "people")
    assert config.schema.identifiers == ("name",)
    assert sfumato("anonymize", "data/draft.toml").returncode == 0
    asked = sfumato("init", "sqlite:///data/people.db", "--query", "select age, income from people")
    assert asked.returncode == 0
    # five ages of eight people each, whose incomes are further apart than a tenth of their spread
    assert sfumato("audit", "sfumato.toml").returncode == 0
    assert sfumato("init", "sqlite:///data/people.db", "--table", "nothing", "--force").returncode == 2


def test_a_narrow_terminal(sfumato, people, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    done = sfumato("init", "people.csv")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 60


def test_odd_headers(sfumato, tmp_path):
    header = '"a.b","say ""hi""","two\nlines","#age","[x]"'
    rows = "".join(f"{i % 3},{i % 2},{i % 5},{i % 7},{i % 4}\n" for i in range(40))
    (tmp_path / "odd.csv").write_text(f"{header}\n{rows}", encoding="utf-8")
    assert sfumato("init", "odd.csv").returncode == 0
    assert set(sf.Config.load("sfumato.toml").columns) == {"a.b", 'say "hi"', "two\nlines", "#age", "[x]"}
    assert sfumato("anonymize", "sfumato.toml").returncode == 0


ALL_UNIQUE = "id,mail\n" + "".join(f"{i},u{i}@example.org\n" for i in range(30))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "the file does not exist"),
        (b"", "empty"),
        (b"age,ill\n", "no rows"),
        (b"age,ill\n30,flu\n", "one row"),
        (b"age,age\n30,31\n", "more than once"),
        (b"same,const\nx,1\nx,1\nx,1\n", "no column is left"),
        (ALL_UNIQUE.encode(), "no column is left"),
        (b"mail\n" + b"".join(b"u%d@example.org\n" % i for i in range(30)), "no column is left"),
        (b"\x00\x01\x02\xff\xfe" * 40, "NUL"),
        (b"age,ill\n30\n", "cells"),
    ],
    ids=["absent", "empty", "header", "one-row", "twice", "constant", "unique", "one-column", "junk", "ragged"],
)
def test_bad_tables_leave_nothing_behind(sfumato, tmp_path, content, message):
    if content is not None:
        (tmp_path / "bad.csv").write_bytes(content)
    before = sorted(tmp_path.iterdir())
    done = sfumato("init", "bad.csv")
    assert done.returncode == 2
    assert done.stderr.startswith("sfumato: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("output", ["absent/draft.toml", "people.csv/draft.toml", "folder"])
def test_places_that_cannot_be_written(sfumato, people, tmp_path, output):
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))
    done = sfumato("init", "people.csv", "--output", output, "--force")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(sfumato, people, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    done = sfumato("init", "people.csv", "--output", "locked/draft.toml")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert not list((tmp_path / "locked").iterdir())


def test_one_column_is_enough(sfumato, tmp_path):
    (tmp_path / "ages.csv").write_text("age\n" + "".join(f"{20 + i % 5}\n" for i in range(40)), encoding="utf-8")
    assert sfumato("init", "ages.csv").returncode == 0
    assert sfumato("anonymize", "sfumato.toml").returncode == 0


@pytest.mark.parametrize("name", ["people.csv", "notes.txt", "link.toml"])
def test_force_replaces_nothing_but_a_config(sfumato, people, tmp_path, name):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "link.toml").symlink_to(tmp_path / "nowhere")
    before = people.read_bytes()
    done = sfumato("init", "people.csv", "--output", name, "--force")
    assert done.returncode == 2
    assert "not a config, and is not replaced" in done.stderr
    assert people.read_bytes() == before
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "link.toml").is_symlink()
    assert sfumato("init", "people.csv").returncode == 0
    assert sfumato("init", "people.csv").returncode == 2
    assert sfumato("init", "people.csv", "--force").returncode == 0
