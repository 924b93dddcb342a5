"""What "Code" shows on every screen runs, and the command and the Python of a screen do the same as the config says."""

from __future__ import annotations

import contextlib
import io
import shlex
from types import SimpleNamespace

import pyarrow.csv
import pytest

import sfumato as sf
from commandline import sfumato
from sfumato.ui.screens import SCREENS
from sfumato.ui.session import Session

CONFIG = """
[data]
path = "people.csv"
undeclared = "drop"

[columns]
age = { role = "quasi-identifier" }
sex = { role = "quasi-identifier" }
education = { role = "sensitive" }
income = { role = "sensitive" }

[[principles]]
name = "k-anonymity"
k = 5
MORE
[method]
name = "mondrian"
seed = 7
suppress = "0.05"

[project]
plan = [["education"], ["income"]]

[risk]
attributes = ["age", "sex"]
limit = "0.5"
disclose = 1
"""
NEAR = """
[[principles]]
name = "dissimilarity"
epsilon = 2
delta = "0.2"
k = 5
on = "income"
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("snippets")
    pyarrow.csv.write_csv(sf.synthetic_census(300, 0), folder / "people.csv")
    (folder / "sfumato.toml").write_text(CONFIG.replace("MORE", NEAR), encoding="utf-8")
    found = Session()
    found.open_config(folder / "sfumato.toml")
    yield found
    found.folder.close()


@pytest.fixture
def shown(session, tmp_path, monkeypatch):
    """The snippets of a screen, run in two folders of their own, which start with a copy of table and config."""

    def run(name):
        snippets, results = SCREENS[name].snippets(session), []
        for kind in ("command", "python"):
            folder = tmp_path / kind
            folder.mkdir()
            for file in session.place.parent.iterdir():
                (folder / file.name).write_bytes(file.read_bytes())
            monkeypatch.chdir(folder)
            results.append(
                SimpleNamespace(folder=folder, text=_commands(snippets) if kind == "command" else _python(snippets))
            )
        return results

    return run


def _commands(snippets):
    texts = []
    for line in snippets.command.splitlines():
        words = shlex.split(line)
        assert words[0] == "sfumato"
        done = sfumato(*words[1:])
        assert done.returncode in (0, 1), (line, done.stderr)  # 1: a principle does not hold in the table as it is
        texts.append(done.stdout)
    return "".join(texts)


def _python(snippets):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(snippets.python, "snippet", "exec"), {})
    return printed.getvalue()


@pytest.mark.parametrize("name", ["columns", "risk", "requirements"])
def test_questions(shown, name):
    command, python = shown(name)
    assert command.text and python.text


def test_data(shown, session, monkeypatch, tmp_path):
    """The command drafts a config, where there is none yet."""
    snippets = SCREENS["data"].snippets(session)
    (tmp_path / "people.csv").write_bytes((session.place.parent / "people.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    _commands(snippets)
    assert sf.Config.load("sfumato.toml").schema.quasi_identifiers
    assert "age" in _python(snippets)


@pytest.mark.parametrize("name", ["release", "save", "secrets"])
def test_the_same_release(shown, name):
    """Method, seed and what may be suppressed, or the plan, are those of the config in both."""
    releases = [
        {path.relative_to(one.folder): path.read_bytes() for path in (one.folder / "release").rglob("*") if path.is_file()}
        for one in shown(name)
    ]
    assert len(releases[0]) >= 3
    assert releases[0] == releases[1]


def test_the_same_risk(shown):
    command, python = shown("disclosure")
    stated = next(line for line in python.text.splitlines() if "risk" in line.lower())
    figure = next(word for word in stated.replace(",", " ").split() if word[0].isdigit())
    assert figure in command.text
    assert (command.folder / "release" / "release.json").exists() and (command.folder / "risk.html").exists()
