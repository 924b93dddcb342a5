"""`sfumato config`: one thing changes, the rest stays byte for byte, and nothing is written that would be invalid."""

from __future__ import annotations

import difflib
import os

import pytest

import commandline
import sfumato as sf

CONFIG = """# the survey of May
[data]
path = "people.csv"  # from the office

[columns.age]
role = "quasi-identifier"   # everybody knows it
[columns."zip code"]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"

[[principles]]
name = "k-anonymity"  # at least
k = 5

[output]
database = "sqlite:///open.db"
table = "people"
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "study.toml"
    path.write_text(CONFIG, encoding="utf-8")
    return path


def config(*arguments):
    done = commandline.sfumato("config", *map(str, arguments))
    assert done.stdout == ""
    return done


def changes(path):
    """The lines that differ from the config as it was."""
    lines = difflib.ndiff(CONFIG.splitlines(), path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line.startswith(("+", "-"))]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("data.path", "x.csv", ['-path = "people.csv"  # from the office', '+path = "x.csv"  # from the office']),
        ("principles[0].k", "12", ["-k = 5", "+k = 12"]),
        ('columns."zip code".role', "'other'", ['-role = "quasi-identifier"', '+role = "other"']),
        ("columns.age.weight", "0.50", ['+weight = "0.50"']),
        ("data.delimiter", ";", ['+delimiter = ";"']),
        ("data.encoding", "latin-1", ['+encoding = "latin-1"']),
        ("output.unchanged_limit", "0.010", ['+unchanged_limit = "0.010"']),
        ('columns."zip code".hierarchy', "{ prefix = [3, 2] }", ["+hierarchy = {prefix = [3, 2]}"]),
    ],
)  # fmt: skip
def test_a_value_is_set(study, key, value, expected):
    done = config("set", study, key, value)
    assert (done.returncode, done.stderr) == (0, "")
    assert [f"{line[0]}{line[2:]}" for line in changes(study) if line[2:].strip()] == expected


def test_a_requirement_is_added_and_removed(study):
    assert config("require", study, "dissimilarity", "epsilon=5000", "delta=0.80", "on=ill").returncode == 0
    assert sf.Config.load(study).requested_principles[1] == sf.Dissimilarity(5000, "0.8", on="ill")
    assert 'delta = "0.80"' in study.read_text(encoding="utf-8")
    assert config("remove", study, "principles[1]").returncode == 0
    assert [line for line in changes(study) if line[2:].strip()] == []


def test_a_column_is_removed(study):
    assert config("remove", study, "columns.age").returncode == 0
    assert list(sf.Config.load(study).columns) == ["zip code", "ill"]
    assert "# everybody knows it" in study.read_text(encoding="utf-8")


def test_a_copy_names_the_same_files(study, tmp_path):
    (tmp_path / "archive").mkdir()
    target = tmp_path / "archive" / "may.toml"
    assert config("copy", study, target).returncode == 0
    copied, original = sf.Config.load(target), sf.Config.load(study)
    assert os.path.normpath(copied.data_source()) == os.path.normpath(original.data_source()) == str(tmp_path / "people.csv")
    assert 'database = "sqlite:///../open.db"' in target.read_text(encoding="utf-8")
    assert study.read_text(encoding="utf-8") == CONFIG
    again = config("copy", study, target)
    assert again.returncode == 2
    assert "the file exists. Use --force" in again.stderr
    assert config("copy", study, target, "--force").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("set", "columns.age.role", "secret"), ["columns.age.role", "'quasi-identifier'"]),
        (("set", "columns.age.rolle", "other"), ["columns.age.rolle", "unknown"]),
        (("set", "principles[3].k", "5"), ["study.toml, principles[3]: there is no such entry: the list has 1"]),
        (("set", "principles[0].k", "many"), ["principles[0].k", "whole number"]),
        (("set", "a..b", "5"), ["names no place in a config", "columns.age.role"]),
        (("set", "data.path.name", "5"), ["data.path: it is a value"]),
        (("remove", "columns.nobody"), ["columns.nobody: it is not in the config"]),
        (("remove", "data"), ["data", "missing"]),
        (("require", "k-anonymty", "k=5"), ["k-anonymity"]),
        (("require", "k-anonymity", "5"), ["this is not a parameter"]),
        (("require", "k-anonymity", "k=5", "k=6"), ["stated twice"]),
        (("require", "k-anonymity"), ["k"]),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(study, arguments, words):
    done = config(arguments[0], study, *arguments[1:])
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr
    assert study.read_text(encoding="utf-8") == CONFIG
    assert [path.name for path in study.parent.iterdir()] == ["study.toml"]


def test_an_invalid_config_can_be_repaired_step_by_step(study):
    study.write_text(CONFIG.replace("k = 5", 'k = "five"').replace('"sensitive"', '"secret"'), encoding="utf-8")
    first = config("set", study, "principles[0].k", "5")
    assert first.returncode == 0
    assert "still invalid" in first.stderr
    assert "columns.ill.role" in first.stderr
    second = config("set", study, "columns.ill.role", "sensitive")
    assert (second.returncode, second.stderr) == (0, "")
    assert changes(study) == []


def test_ends_of_lines_stay(study):
    study.write_bytes(CONFIG.replace("\n", "\r\n").encode())
    assert config("set", study, "principles[0].k", "6").returncode == 0
    assert study.read_bytes() == CONFIG.replace("k = 5", "k = 6").replace("\n", "\r\n").encode()


@pytest.mark.parametrize("name", ["missing.toml", "people.csv"])
def test_what_is_not_a_config_is_refused(study, name):
    (study.parent / "people.csv").write_text("age,ill\n1,2\n", encoding="utf-8")
    done = config("set", study.parent / name, "data.path", "x")
    assert done.returncode == 2
    assert name in done.stderr
    assert (study.parent / "people.csv").read_text(encoding="utf-8") == "age,ill\n1,2\n"


def test_a_config_that_names_code_is_changed_without_running_it(study):
    (study.parent / "near.py").write_text("raise SystemExit(7)\n", encoding="utf-8")
    text = CONFIG + '[distance]\nkind = "function"\nfunction = "near.py:apart"\n'
    study.write_text(text, encoding="utf-8")
    assert config("set", study, "principles[0].k", "6").returncode == 0
    assert study.read_text(encoding="utf-8") == text.replace("k = 5", "k = 6")
