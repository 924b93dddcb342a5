"""A connection string under any key, by mistake or not: its password is in no message and in no release."""

from __future__ import annotations

import pickle

import pytest

import sfumato as sf
from commandline import sfumato

SECRET = "hunter2"
URI = f"postgresql://me:{SECRET}@127.0.0.1:1/people"
CONFIG = """
[data]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
[columns.pay]
role = "sensitive"
[[principles]]
name = "k-anonymity"
k = 2
[output]
path = "release"
[method]
name = "mondrian"
"""
PLACES = [
    ('"people.csv"', "{}"), ('"people.csv"', '"people.csv"\nquery = {}'), ('"people.csv"', '"people.csv"\nurl = {}'),
    ('"people.csv"', '"people.csv"\ndelimiter = {}'), ('"people.csv"', '"people.csv"\nencoding = {}'),
    ('"people.csv"', '"people.csv"\nundeclared = {}'), ('"people.csv"', '"people.csv"\nperson_id = {}'),
    ('"people.csv"', '"people.csv"\n{} = 1'), ('"people.csv"', "[{}]"), ('"sensitive"', "{}"),
    ('"sensitive"', '"sensitive"\naccepted = {}'), ('"sensitive"', '"sensitive"\nkind = {}'),
    ('"quasi-identifier"', '"quasi-identifier"\nhierarchy = {}'), ('"quasi-identifier"', '"quasi-identifier"\nweight = {}'),
    ("[columns.pay]", "[columns.{}]"), ('"k-anonymity"', "{}"), ("k = 2", "k = {}"), ('"release"', "{}"),
    ('"release"', '"release"\nformat = {}'), ('"release"', '"release"\ninternal = {}'), ('"mondrian"', "{}"),
    ('"release"', '"release"\ndatabase = {}\ntable = "x"'), ('"mondrian"', '"mondrian"\nsuppress = {}'),
    ('"mondrian"', '"mondrian"\n[engine]\nname = {}'), ('"mondrian"', '"mondrian"\n[risk]\nlimit = {}'),
    ('"mondrian"', '"mondrian"\n[project]\nalpha = {}'), ('"mondrian"', '"mondrian"\n[missing]\npolicy = {}'),
    ('"mondrian"', '"mondrian"\n[distance]\nkind = {}'),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), PLACES, ids=[new for _, new in PLACES])
def test_no_key_shows_a_password(tmp_path, old, new):
    (tmp_path / "people.csv").write_text("age,pay\n" + "30,1\n31,2\n" * 5, encoding="utf-8")
    assert CONFIG.count(old) == 1
    (tmp_path / "sfumato.toml").write_text(CONFIG.replace(old, new.format(f'"{URI}"')), encoding="utf-8")
    for verb in ("audit", "anonymize"):
        done = sfumato(verb, "sfumato.toml", cwd=tmp_path)
        assert done.returncode in (0, 1, 2), done.stderr
        assert SECRET not in done.stdout + done.stderr
    for file in (tmp_path / "release").glob("*"):
        assert SECRET not in file.read_text(encoding="utf-8")


def test_no_attribute_of_an_error_has_a_password():
    error = sf.errors.ConfigError(f"{URI!r} is invalid", remedy=URI, file=URI, key=f"data.{URI}", column=URI, value=URI)
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert SECRET not in f"{each} {each!r} {vars(each)}"
