"""Configs with an invalid entry: which one it is, and that the rest can be used without it."""

from __future__ import annotations

import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from sfumato.config.toml_text import read_toml
from sfumato.config_edits import remove_value
from sfumato.errors import SfumatoError
from sfumato.ui.invalid_entries import data_section_alone, entry_name, keys_of, removable_entry
from sfumato.ui.session import Session

NAMES = st.lists(
    st.sampled_from(["age", "a.b", "a", "b c", "a.b.c", 'quo"te', "ä", "role"]), min_size=1, max_size=4, unique=True
)


@pytest.fixture(scope="module")
def session():
    found = Session()
    yield found
    found.folder.close()


def written(roles, ks):
    quoted = {name: '"' + name.replace('"', '\\"') + '"' for name in roles}
    parts = [
        '[data]\npath = "people.csv"\n',
        *(f'[columns.{quoted[name]}]\nrole = "{role}"\n' for name, role in roles.items()),
    ]
    return "\n".join([*parts, *(f'[[principles]]\nname = "k-anonymity"\nk = {k}\n' for k in ks)])


@given(NAMES, st.data())
def test_without_the_invalid_entry_the_rest_is_valid_and_unchanged(session, names, data):
    """One column has no valid role, or one requirement no valid k: it is found, and only it goes."""
    roles, ks = dict.fromkeys(names, "other"), [2, 3, 4]
    wrong_column = data.draw(st.booleans())
    if wrong_column:
        wrong = data.draw(st.sampled_from(names))
        roles[wrong] = "nonsense"
    else:
        wrong = data.draw(st.integers(0, 2))
        ks[wrong] = -1
    text = written(roles, ks)
    config, error = session.parsed(text)
    assert config is None
    entry = removable_entry(error, text)
    assert entry == (["columns", wrong] if wrong_column else ["principles", wrong])
    expected = tomllib.loads(text)
    if wrong_column:
        del expected["columns"][wrong]
        expected = {key: value for key, value in expected.items() if value}
    else:
        del expected["principles"][wrong]
    without = remove_value(text, entry)
    assert tomllib.loads(without) == expected
    assert session.parsed(without)[1] is None
    assert str(wrong if wrong_column else wrong + 1) in entry_name(entry, text)


@pytest.mark.parametrize(
    ("text", "keys", "entry"),
    [
        ('[data]\npath = "p.csv"\n[date]\nx = 1\n', ["date"], ["date"]),
        ('[data]\npath = "p.csv"\n[method]\nname = "nonsense"\neffort = 2\n', ["method", "name"], ["method", "name"]),
        ('[data]\npath = "p.csv"\nnonsense = 1\n', ["data", "nonsense"], None),
        ('[columns.age]\nrole = "other"\n', ["data"], None),
        ("[data\n", [], None),
    ],
)
def test_where_an_error_is(session, text, keys, entry):
    error = session.parsed(text)[1]
    assert isinstance(error, SfumatoError)
    assert (list(keys_of(error, text)), removable_entry(error, text)) == (keys, entry)


@given(st.text(max_size=40))
def test_the_section_that_names_the_table_stays_as_it_is(path):
    """Whatever else the config contains, and whatever the path is."""
    data = {"path": path, "sheet": "x"}
    text = tomlkit.dumps({"columns": {"age": {"role": "nonsense"}}, "data": data, "principles": [{"k": "five"}]})
    assert read_toml(data_section_alone(text), None) == {"data": data}


def test_without_a_table_nothing_is_left():
    assert [data_section_alone(text) for text in ("", "[data", "data = 1\n", '[columns.age]\nrole = "other"\n')] == [""] * 4
