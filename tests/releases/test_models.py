"""The models of release.json: real documents of every kind are read and written unchanged, and corrupt ones are refused."""

from __future__ import annotations

import json

import pytest

import sfumato as sf
from release_kinds import MAKERS
from sfumato.releases.kinds import KINDS
from sfumato.releases.model_base import unknown_keys
from sfumato.releases.reader import Manifest


@pytest.fixture(scope="module", params=sorted(MAKERS))
def release(request, tmp_path_factory):
    """The kind of a release, and its folder."""
    return request.param, MAKERS[request.param]().save(tmp_path_factory.mktemp("kind") / "out")


def test_every_kind_has_a_maker_here():
    assert MAKERS.keys() == KINDS.keys()


def test_a_document_is_written_as_it_was_read(release):
    kind, folder = release
    manifest = Manifest.load(folder)
    assert manifest.kind == kind
    assert isinstance(manifest.document, KINDS[kind].document)
    assert manifest.document.to_json() == (folder / "release.json").read_text(encoding="utf-8")
    assert list(unknown_keys(manifest.document)) == []


def test_a_document_of_another_kind_is_refused(release):
    kind, folder = release
    manifest = Manifest.load(folder)
    for other, name in (("groups", "grouped"), ("projected", "projected"), ("withheld", "withheld"), ("anatomized",) * 2):
        if other == kind:
            assert getattr(manifest, name) is manifest.document
        else:
            with pytest.raises(sf.errors.ReleaseError, match="this is a release of") as caught:
                getattr(manifest, name)
            assert KINDS[kind].command in str(caught.value)


def test_checks_and_pages_of_every_kind_can_be_loaded():
    for kind in KINDS.values():
        assert callable(kind.load("checks"))
        assert callable(kind.load("page"))


def places(value, path=()):
    """Every place in a document; of a list the first entry."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value[:1]):
            yield from places(inner, (*path, key))


def test_a_corrupt_document_is_refused_with_file_key_and_value(release, tmp_path):
    """A value of a type that no key has, anywhere in a document, is found and named; free parameters are not typed."""
    _, folder = release
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    path = tmp_path / "release.json"
    refused = 0
    for place in places(content):
        mutant = json.loads(json.dumps(content))
        inner = mutant
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = {"nonsense": [None]} if not isinstance(inner[place[-1]], dict) else "nonsense"
        path.write_text(json.dumps(mutant), encoding="utf-8")
        free = {"parameters", "sensitivity", "distance"} & set(place) or ("config" in place and "principles" in place)
        if free:
            continue
        with pytest.raises(sf.errors.ReleaseError) as caught:
            Manifest.read(path)
        refused += 1
        assert caught.value.file == str(path)
        if place not in (("format",), ("kind",)):
            key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")
            assert caught.value.key.startswith(key)
            assert "nonsense" in str(caught.value)
    assert refused > 20


def test_a_missing_key_is_named(release, tmp_path):
    _, folder = release
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    since_format_3 = {"warnings", "coverage", "unchanged"}  # older releases lack them; verification requires them
    for key in content.keys() - {"kind"} - since_format_3:
        path = tmp_path / "release.json"
        path.write_text(json.dumps({k: v for k, v in content.items() if k != key}), encoding="utf-8")
        with pytest.raises(sf.errors.ReleaseError, match="the key is missing") as caught:
            Manifest.read(path)
        assert caught.value.key == key


def test_unknown_keys_are_found_at_any_depth(release):
    _, folder = release
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    content["extra"] = 1
    content["config"]["more"] = 2
    content["files"]["report.html"]["owner"] = "me"
    document = KINDS[release[0]].document.model_validate(content)
    assert list(unknown_keys(document)) == ["extra", "config.more", "files.report.html.owner"]
    assert document.to_dict()["extra"] == 1
