"""A config that is saved in another folder names the same files, and nothing else of it changes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sfumato.config.toml_text import read_toml
from sfumato.config_edits import rebase_paths
from sfumato.config_edits.toml_sections import comments_of

CONFIG = """# who made this
format = 1

[data]
path = "{data}"  # the table

[population]
path = "{population}"

[columns.age]
role = "quasi-identifier"
hierarchy = "{hierarchy}"

[columns.ill]
role = "sensitive"
distance = {{ kind = "function", function = "{function}:apart" }}

[[risk.dictionaries]]
name = "phone book"
path = "{dictionary}"

[[principles]]
name = "k-anonymity"
k = 5

[output]
path = "{output}"
key = "{output}-key.json"
database = "sqlite:///{output}.db?timeout=5"
table = "people"
"""
names = st.sampled_from(
    ["people.csv", "data/people.csv", "../people.csv", "/data/people.csv", "./a b/people.csv", "x/../y.csv"]
)
folders = st.sampled_from(["/home/ann", "/home/ann/configs", "/home", "/srv/x/y", "/"])


def named(text, folder):
    """Return what the config names, as absolute paths."""
    plain = read_toml(text, None)
    function, _, name = plain["columns"]["ill"]["distance"]["function"].rpartition(":")
    assert name == "apart"
    stated = [
        plain["data"]["path"], plain["columns"]["age"]["hierarchy"], function, plain["risk"]["dictionaries"][0]["path"],
        plain["output"]["path"], plain["output"]["key"], plain["population"]["path"],
        re.fullmatch(r"sqlite:///(.*)\?timeout=5", plain["output"]["database"])[1],
    ]  # fmt: skip
    return [os.path.normpath(Path(folder) / path) for path in stated]


def without_paths(text):
    plain = read_toml(text, None)
    plain["columns"]["age"].pop("hierarchy")
    plain["columns"]["ill"].pop("distance")
    plain["risk"]["dictionaries"][0].pop("path")
    return {key: plain[key] for key in ("format", "columns", "risk", "principles")}


@given(
    st.fixed_dictionaries(dict.fromkeys(("data", "population", "hierarchy", "dictionary", "output"), names)),
    folders,
    folders,
)
def test_the_same_files_are_named(paths, old, new):
    text = CONFIG.format(**paths, function="code/near.py")
    moved = rebase_paths(text, Path(old), Path(new))
    assert named(moved, new) == named(text, old)
    assert without_paths(moved) == without_paths(text)
    assert comments_of(moved) == comments_of(text)
    assert named(rebase_paths(moved, Path(new), Path(old)), old) == named(text, old)


def test_databases_and_variables_stay():
    for path in (
        "postgresql://host/people",
        "sqlite:////srv/people.db",
        "sqlite://",
        "sqlite:///${FOLDER}/people.db",
        "${PEOPLE}",
    ):
        text = f'[data]\npath = "{path}"\n'
        assert rebase_paths(text, Path("/a"), Path("/b/c")) == text
    text = '[columns.ill]\ndistance = { kind = "function", function = "mine.near:apart" }\n'
    assert rebase_paths(text, Path("/a"), Path("/b/c")) == text  # a module, not a file
