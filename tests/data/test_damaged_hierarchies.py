"""Hierarchy files and declared builders with random damage: a tree over the column, or a typed error."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from damage import damaged_bytes, damaged_documents, places_of

pytestmark = pytest.mark.fuzz

LINES = b"flu;lung;*\nasthma;lung;*\nulcer;gut;*\n"
PEOPLE = pa.table(
    {
        "age": ["17", "30", "41.5", "60", None],
        "zip": ["02139", "02140", "10001", "94043", ""],
        "born": ["1990-01-02", "1991-02-28", "2000-02-29", None, "1890-12-31"],
        "ill": ["flu", "asthma", "ulcer", "flu", "x"],
    }
)
BUILDERS = [
    ("age", {"intervals": [5, 10], "origin": 0}),
    ("age", {"ranges": [[18, 40, 65], {"young": [0, 40], "old": [40, 100]}]}),
    ("age", {"quantiles": [4, 2]}),
    ("zip", {"prefix": [3, 2]}),
    ("zip", {"mask": [1, 3], "side": "right", "character": "*"}),
    ("zip", {"consecutive": [2, 4]}),
    ("born", {"dates": ["month", "year", "decade"]}),
    ("ill", {"groups": [{"lung": ["flu", "asthma"]}, {"body": ["lung"]}], "rest": "other"}),
    ("ill", {"frequent": 2}),
    ("ill", {"icd": 1}),
    ("ill", {"flat": True}),
]


@given(damaged_bytes([LINES]))
def test_damaged_files(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ill.csv"
        path.write_bytes(content)
        try:
            tree = sf.Hierarchy.from_file(path)
        except sf.errors.SfumatoError as error:
            assert "ill.csv" in str(error)
            return
    for leaf in tree.leaves:
        assert tree.generalize(leaf, tree.height) == tree.labels[-1][0]


@given(st.data())
def test_damaged_builders(data):
    column, section = data.draw(st.sampled_from(BUILDERS))
    document = {"columns": {column: {"role": "quasi-identifier", "hierarchy": section}}}
    places = [place for place in places_of(document) if len(place) > 3]
    damaged = data.draw(damaged_documents(document, places))["columns"][column]["hierarchy"]
    text = f'[data]\npath = "p.csv"\n[columns.{column}]\nrole = "quasi-identifier"\nhierarchy = {_toml(damaged)}\n'
    try:
        schema = sf.Config.parse(text).schema
        encoded = sf.Table(PEOPLE, schema, untyped=True).column(column)
        assert encoded.hierarchy is None or len(encoded.hierarchy.leaves) >= 1
    except sf.errors.SfumatoError as error:
        assert error.remedy or column in str(error)


def _toml(value):
    """Write plain data as a TOML value; what TOML cannot write is an empty text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(str(key))} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(c if c.isalnum() or c in " *[].,/-" else f"\\U{ord(c):08x}" for c in value) + '"'
    return '""' if value is None else repr(value)
