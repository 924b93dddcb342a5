"""Random command lines: exit status 0, 1 or 2, never an internal fault; what is printed contains no control character."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandline import sfumato
from damage import damaged_bytes
from sfumato.cli import main

pytestmark = pytest.mark.fuzz

PEOPLE = "name,age,town,ill\n" + "".join(
    f"n{i},{20 + i},{'Ulm' if i % 3 else 'Bonn'},{'flu' if i % 2 else 'gout'}\n" for i in range(16)
)
CONFIG = """
[data]
path = "people.csv"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
[columns.town]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
[[principles]]
name = "k-anonymity"
k = 3
"""
VALUES = [
    *("people.csv", "sfumato.toml", "release", "out", "missing", "sqlite:///x.db", "postgresql://", "spark://x"),
    *("", ".", "-", "--", "*", "é\u202e", "\x1b[2J", "0", "-1", "3", "1e999", "nan", "[1]"),
    *("age", "town,ill", "k-anonymity", "mondrian", "linkage"),
]
VERBS = ["init", "audit", "frontier", "anonymize", "verify", "attack", "risk", "project", "report", "explain"]


def _options(verb):
    """The options of a command, but those that run it elsewhere or for long."""
    command = main.get_command(None, verb)
    return sorted({name for one in command.params for name in one.opts if name.startswith("--")} - {"--engine"})


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    assert sfumato("anonymize", "sfumato.toml", "--output", "release", cwd=folder).returncode == 0
    return folder


@given(st.data())
def test_random_arguments(place, data):
    verb = data.draw(st.sampled_from(VERBS))
    argument = st.one_of(st.sampled_from(VALUES), st.sampled_from(_options(verb)), st.text(max_size=5))
    arguments = data.draw(st.lists(argument, max_size=5))
    if data.draw(st.booleans()):  # often something that the command can start with
        arguments.insert(0, data.draw(st.sampled_from(["sfumato.toml", "people.csv", "release"])))
    with tempfile.TemporaryDirectory() as folder:
        for path in place.iterdir():
            Path(folder, path.name).symlink_to(path)
        check(sfumato(verb, *arguments, cwd=folder))


COMMANDS = [["audit", "sfumato.toml"], ["anonymize", "sfumato.toml", "--output", "out"], ["init", "people.csv"]]


@given(config=damaged_bytes([CONFIG.encode()]), people=damaged_bytes([PEOPLE.encode()]), command=st.sampled_from(COMMANDS))
def test_damaged_files(config, people, command):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sfumato.toml").write_bytes(config)
        Path(folder, "people.csv").write_bytes(people)
        done = sfumato(*command, cwd=folder)
        check(done)
        assert done.returncode == 0 or not Path(folder, "out").exists(), "nothing is half-written"


def check(done):
    assert done.returncode in (0, 1, 2), done.stderr
    assert "Traceback" not in done.stderr
    assert not {c for c in done.stdout + done.stderr if ord(c) < 32 and c not in "\n\t"}
    if done.returncode == 2:
        assert done.stderr
