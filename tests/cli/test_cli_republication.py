"""`sfumato anonymize --after`, and `[after]` of a config."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from pyarrow import csv

from sfumato.cli import main
from versions import FIRST, LATER, people

CONFIG = """
format = 1
[data]
path = "first.csv"
[columns]
name.role = "identifier"
age.role = "quasi-identifier"
ill.role = "sensitive"
[[principles]]
name = "distinct-l-diversity"
l = 3
"""


def run(*arguments):
    done = CliRunner().invoke(main, [*map(str, arguments)])
    return done.exit_code, " ".join(done.output.split())


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with two versions of a table, and a release of the first."""
    csv.write_csv(people(FIRST), tmp_path / "first.csv")
    csv.write_csv(people(LATER), tmp_path / "later.csv")
    (tmp_path / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("anonymize", "sfumato.toml", "--output", "v1", "--key", "v1.json")[0] == 0
    return tmp_path


AFTER = ("anonymize", "sfumato.toml", "--data", "later.csv", "--output", "v2", "--after", "v1", "--after-key", "v1.json")


def test_a_version_that_cannot_follow_is_refused_and_nothing_is_written(place):
    code, output = run(*AFTER, "--key", "v2.json")
    assert code == 1
    assert "Allow 1 counterfeits" in output
    assert not (place / "v2").exists()
    assert not (place / "v2.json").exists()


def test_a_version_follows_with_counterfeits(place):
    code, output = run(*AFTER, "--counterfeits", "0.2")
    assert code == 0
    assert "1 of 6 rows are counterfeits, which stand for nobody" in output
    assert "No key was written (--key), so no later version can follow this release." in output
    assert json.loads((place / "v2" / "release.json").read_text(encoding="utf-8"))["after"]["version"] == 2


def test_the_config_names_the_release(place):
    section = '[after]\nrelease = "v1"\nkey = "v1.json"\ncounterfeits = "0.2"\n'
    (place / "again.toml").write_text(CONFIG.replace("first.csv", "later.csv") + section, encoding="utf-8")
    assert run("anonymize", "again.toml", "--output", "v2", "--key", "v2.json")[0] == 0
    assert run("verify", "v1", "v2")[0] == 0
    repeated = ("anonymize", "v2/release.json", "--data", "later.csv", "--key", "v2.json", "--output", "v2b")
    assert run(*repeated)[0] == 2
    assert run(*repeated, "--after", "v1", "--after-key", "v1.json")[0] == 0
    assert (place / "v2b" / "data.csv").read_bytes() == (place / "v2" / "data.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--after-key", "v1.json"], "--after-key is given without --after"),
        (["--after", "v1"], "the key of the earlier release is missing"),
        (["--after", "none", "--after-key", "v1.json"], "no such folder"),
        (["--after", "v1", "--after-key", "first.csv"], "the key cannot be read"),
        (["--counterfeits", "0.1"], "follows no other"),
        (["--after", "v1", "--after-key", "v1.json", "--counterfeits", "many"], "counterfeits"),
    ],
)
def test_wrong_options(place, arguments, words):
    code, output = run("anonymize", "sfumato.toml", "--data", "later.csv", "--output", "v2", *arguments)
    assert code == 2
    assert words in output
    assert not (place / "v2").exists()


def test_a_wrong_share_in_the_config_names_its_key(place):
    (place / "wrong.toml").write_text(f'{CONFIG}[after]\nrelease = "v1"\nkey = "k"\ncounterfeits = 2\n', encoding="utf-8")
    code, output = run("anonymize", "wrong.toml", "--output", "v2")
    assert code == 2
    assert "after.counterfeits" in output
