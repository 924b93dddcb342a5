"""`sfumato anatomize`: what it writes, prints and refuses."""

from __future__ import annotations

import json

import pytest
from pyarrow import csv

import sfumato as sf
from commandline import sfumato

CONFIG = """
[data]
path = "people.csv"
[columns]
age = { role = "quasi-identifier" }
sex = { role = "quasi-identifier" }
income = { role = "sensitive" }
workclass = { role = "sensitive" }
[[principles]]
name = "distinct-l-diversity"
l = 2
on = "income"
"""


@pytest.fixture
def place(tmp_path):
    csv.write_csv(sf.synthetic_census(rows=200, seed=1), tmp_path / "people.csv")
    (tmp_path / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def test_a_release_is_written_and_verified(place):
    done = sfumato("anatomize", "sfumato.toml", "--output", "out", "--key", "key.json", "--seed", "1", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "everybody in the table can be recognized" in done.stdout
    assert "Counts over exact values and secrets are wrong by" in done.stdout
    assert "no requirement covers the sensitive attribute 'workclass'" in " ".join(done.stdout.split())
    assert sorted(path.name for path in (place / "out").iterdir()) == [
        "people.csv", "release.json", "report.html", "table_1.csv", "table_2.csv",
    ]  # fmt: skip
    options = ("--original", "people.csv", "--config", "sfumato.toml", "--key", "key.json")
    checked = sfumato("verify", "out", *options, "--json", cwd=place)
    assert checked.returncode == 0, checked.stdout
    assert None not in [check["holds"] for check in json.loads(checked.stdout)["checks"]]
    attacked = sfumato("attack", "out", "--original", "people.csv", "--key", "key.json", "--attack", "linkage", cwd=place)
    assert "with certainty" in " ".join(attacked.stdout.split())


def test_the_plan_of_the_option_is_used_before_that_of_the_config(place):
    path = place / "sfumato.toml"
    path.write_text(CONFIG + '[anatomy]\nplan = [["income"], ["workclass"]]\n', encoding="utf-8")
    for options, tables in (((), 2), (("--plan", "income,workclass"), 1)):
        done = sfumato("anatomize", "sfumato.toml", "--output", "out", "--force", "--json", *options, cwd=place)
        assert len(json.loads(done.stdout)["tables"]) == tables
    path.write_text(CONFIG + '[anatomy]\nplan = [["income"]]\n', encoding="utf-8")
    done = sfumato("anatomize", "sfumato.toml", "--output", "new", cwd=place)
    assert done.returncode == 2
    assert "sfumato.toml, anatomy.plan: invalid plan" in done.stderr


def test_warnings_are_errors_if_wanted(place):
    done = sfumato("anatomize", "sfumato.toml", "--output", "out", "--strict", cwd=place)
    assert done.returncode == 1
    assert not (place / "out").exists()


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ('[output]\ndatabase = "sqlite:///x.db"\ntable = "t"\n', "output.database"),
        ('[method]\nresist = ["minimality"]\n', "method.resist"),
        ('[after]\nrelease = "v1"\nkey = "v1.json"\n', "after"),
        ('[[principles]]\nname = "k-anonymity"\nk = 2\n', "principles"),
    ],
)
def test_what_an_anatomy_does_not_have_is_refused(place, section, key):
    (place / "sfumato.toml").write_text(CONFIG + section, encoding="utf-8")
    done = sfumato("anatomize", "sfumato.toml", "--output", "out", cwd=place)
    assert done.returncode == 2
    assert f"{key}:" in done.stderr
    assert not (place / "out").exists()


def test_the_internal_report_is_written_elsewhere(place):
    done = sfumato("anatomize", "sfumato.toml", "--output", "out", "--internal", "internal.html", cwd=place)
    assert done.returncode == 0, done.stderr
    text = (place / "internal.html").read_text(encoding="utf-8")
    assert "not for publication" in text
    assert "swap-optimality" in text
    assert "swap-optimality" not in (place / "out" / "report.html").read_text(encoding="utf-8")
