"""`sfumato attack`."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import csv

import sfumato as sf
from sfumato.cli import main

PEOPLE = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "ulcer", "ulcer"]})

CONFIG = """
[data]
path = "people.csv"
[columns]
age = { role = "quasi-identifier" }
ill = { role = "sensitive" }
"""


@pytest.fixture
def folder(tmp_path):
    csv.write_csv(PEOPLE, tmp_path / "people.csv")
    release = sf.anonymize(PEOPLE, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    release.save(tmp_path / "release", key=tmp_path / "key.json")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["attack", *map(str, arguments)])


def test_the_terminal_shows_success_baselines_and_assumptions(folder):
    options = ("--original", folder / "people.csv", "--key", folder / "key.json")
    done = run(folder / "release", *options, "--attack", "homogeneity")
    assert done.exit_code == 0, done.stderr
    assert "75.0 %" in done.stdout
    assert "50.0 %" in done.stdout
    assert "The attacker knows" in done.stdout
    assert "Do not publish them" in done.stdout


def test_json_is_what_the_library_returns(folder):
    done = run(folder / "release", "--original", folder / "people.csv", "--attack", "homogeneity", "--json")
    found = json.loads(done.stdout)["attacks"][0]
    assert (found["success"]["share"], found["certain"], found["right"]) == (0.75, 2, 2)


def test_a_table_of_another_tool_needs_a_config(folder):
    table = pa.table({"age": ["30-39", "30-39", "50-59", "50-59"], "ill": PEOPLE.column("ill")})
    csv.write_csv(table, folder / "other.csv")
    (folder / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    options = ("--original", folder / "people.csv", "--attack", "homogeneity")
    refused = run(folder / "other.csv", *options)
    assert refused.exit_code == 2
    assert "has no schema" in refused.stderr
    done = run(folder / "other.csv", *options, "--config", folder / "sfumato.toml", "--json")
    assert json.loads(done.stdout)["attacks"][0]["success"]["share"] == 0.75


def test_bad_input_is_one_line(folder):
    for arguments, problem in [
        ((folder / "nowhere",), "no such folder"),
        ((folder / "release", "--attack", "guess"), "there is no attack 'guess'"),
        ((folder / "release", "--original", folder / "nobody.csv"), "nobody.csv"),
        ((folder / "release", "--original", folder / "people.csv", "--key", folder / "people.csv"), "not JSON"),
    ]:
        done = run(*arguments)
        assert done.exit_code == 2
        assert problem in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
