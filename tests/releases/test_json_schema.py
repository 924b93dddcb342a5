"""The published JSON Schema of release.json: real releases of every kind satisfy it, and corrupt ones do not."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from release_kinds import MAKERS
from sfumato.releases.json_schema import release_schema

SCHEMA = Path(__file__).parent.parent.parent / "docs" / "release.schema.json"


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_docs_have_the_schema_of_the_models():
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == release_schema(), "run docs/make_pages.py"


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_real_releases_satisfy_it(kind, validator, tmp_path):
    folder = MAKERS[kind]().save(tmp_path / "out")
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    assert list(validator.iter_errors(content)) == []
    assert validator.is_valid({**content, "format": content["format"]})
    for spoil in (
        lambda c: c.pop("rows"),
        lambda c: c.update(rows="many"),
        lambda c: c.update(extra=1),
        lambda c: c["config"].update(extra=1),
        lambda c: c["files"]["report.html"].pop("sha256"),
        lambda c: c.update(kind="other"),
    ):
        corrupt = copy.deepcopy(content)
        spoil(corrupt)
        assert not validator.is_valid(corrupt)
