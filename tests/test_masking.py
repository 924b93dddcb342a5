"""Passwords in connection strings, proper ones or not: no message shows them."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sfumato as sf
from commandline import sfumato
from sfumato.masking import masked

CONNECTIONS = [
    "postgresql://u:{}@h/db",
    "postgresql:/u:{}@h/db",
    "jdbc:postgresql://u:{}@h:5432/db",
    "POSTGRESQL://u:{}@h/db",
    "postgresql://u:{}",
    "postgresql://u:{}/db",
    "host=h password={}",
    "postgresql:host=h password={}",
    "host=h PassWord = '{}' user=u",
    'host=h pwd="{}"',
    "Driver=x;PWD={{{}}};Server=h",
    "sqlite:///x.db?password={}",
    "https://h/x?access_token={}&a=b",
    "client_secret={}",
    "h?passwd={}&x=y",
]


@pytest.mark.parametrize("connection", CONNECTIONS)
def test_connection_strings(connection):
    for password in ("hunter2", "hunter2;hunter2", "hunter2,hunter2"):
        text = connection.format(password)
        assert "hunter" not in masked(text)
        assert "***" in masked(text)
        problem = sf.errors.FileError("it is wrong", remedy=f"Make {text} first.", file=f"folder/{text}")
        assert "hunter" not in f"{problem} {problem.file} {problem.remedy} {problem.inside('x', 'y')} {problem.args}"
        assert str(pickle.loads(pickle.dumps(problem))) == str(problem)


@pytest.mark.parametrize(
    "text",
    [
        "people.csv",
        "C:/data/people@home.csv",
        "/data/a:b@c.csv",
        "sqlite:////data/a:b@c.db",
        "postgresql://me@h1:5432,h2:5433/db, table people",
        "postgresql://h:5432/db",
        "token.csv",
    ],
)
def test_what_holds_no_password_is_shown(text):
    assert masked(text) == text


@given(st.sampled_from(CONNECTIONS), st.text(alphabet="abc019:;,*%?/+-_.", max_size=9))
@example("postgresql://u:{}@h/db", "@b:c@d")
def test_masked_once_is_masked(connection, password):
    once = masked(connection.format(f"hunter2{password}"))
    assert "hunter2" not in once
    assert masked(once) == once


@pytest.mark.parametrize("connection", CONNECTIONS)
def test_no_verb_shows_one(tmp_path, connection):
    path = connection.format("hunter2")
    config = f"""[data]
path = '''{path}'''
[columns.age]
role = "quasi-identifier"
[[principles]]
name = "k-anonymity"
k = 2
"""
    (tmp_path / "sfumato.toml").write_text(config, encoding="utf-8")
    for arguments in (
        ["audit", "sfumato.toml"],
        ["anonymize", "sfumato.toml", "--output", path],
        ["anonymize", path, "--output", "out"],
        ["anonymize", f"{path}.json", "--data", path, "--output", "out"],
        ["verify", path, "--original", path],
        ["init", path, "--output", "other.toml"],
    ):
        done = sfumato(*arguments, cwd=tmp_path)
        assert done.returncode == 2, (arguments, done.stderr)
        assert "hunter2" not in done.stdout + done.stderr, arguments
