"""A release.json with random damage: verification reports it or raises a typed error, never another exception."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import sfumato as sf
from damage import damaged_bytes, damaged_documents, places_of, value_at
from release_kinds import MAKERS, PEOPLE
from tampered_releases import PEOPLE as TAMPERED
from tampered_releases import PRINCIPLES, SCHEMA, made, state, stated

pytestmark = pytest.mark.fuzz


@pytest.fixture(scope="module", params=MAKERS)
def folder(request, tmp_path_factory):
    return MAKERS[request.param](seed=3).save(tmp_path_factory.mktemp(request.param) / "release")


def refused(folder, content):
    """Verify a copy of a folder with another release.json; whether it was refused or found to fail."""
    with tempfile.TemporaryDirectory() as place:
        copied = Path(shutil.copytree(folder, Path(place) / "copy"))
        (copied / "release.json").write_bytes(content)
        try:
            return not sf.verify(copied, PEOPLE).holds
        except sf.errors.SfumatoError as error:
            assert str(error)
            return True


@given(st.data())
def test_damaged_values(folder, data):
    document = json.loads((folder / "release.json").read_bytes())
    damaged = data.draw(damaged_documents(document, places_of(document)[1:]))
    refused(folder, json.dumps(damaged, indent=2, ensure_ascii=False).encode(errors="replace"))


UNVERIFIABLE = {"sfumato", "python", "numpy", "pyarrow", "jinja2", "method"}
"""What nobody can tell from the files: which versions made them, and by which method the groups were found."""

DEFAULTS = {("config", "missing"), ("config", "undeclared"), ("config", "unchanged_limit")}
"""Declarations that say what holds without them."""


@given(st.data())
def test_whoever_changes_a_value_is_found(data):
    """Also if digests and the report are made to fit: with the original, the schema and the requirements."""
    document = stated(written())
    places = [place for place in places_of(document)[1:] if place[0] not in UNVERIFIABLE | {"files"}]
    damaged = data.draw(damaged_documents(document, places))
    if damaged == document or any(_without(damaged, place) == _without(document, place) for place in DEFAULTS):
        return
    changed = [place for place in places if _value(document, place) != _value(damaged, place)]
    note(f"changed: {changed[-3:]}")
    with tempfile.TemporaryDirectory() as place:
        copied = Path(shutil.copytree(written(), Path(place) / "copy"))
        try:
            state(copied, damaged)
            assert not sf.verify(copied, TAMPERED, schema=SCHEMA, principles=PRINCIPLES, suppress=0).holds
        except (sf.errors.SfumatoError, UnicodeEncodeError, ValueError):
            return


def _value(document, place):
    with contextlib.suppress(LookupError, TypeError):
        return repr(value_at(document, place))


@cache
def written():
    return made().save(Path(tempfile.mkdtemp()) / "release")


def _without(document, place):
    """Return the document without the value at a place."""
    outer, inner = place
    section = document.get(outer)
    kept = {key: value for key, value in section.items() if key != inner} if isinstance(section, dict) else section
    return {**document, outer: kept}


@given(st.data())
def test_damaged_bytes(folder, data):
    content = (folder / "release.json").read_bytes()
    damaged = data.draw(damaged_bytes([content]))
    refused(folder, damaged)
