"""Releases that somebody changed after they were written: verification with the original and the config finds each one."""

from __future__ import annotations

import shutil

import pytest

import sfumato as sf
from tampered_releases import CASES, PEOPLE, PRINCIPLES, SCHEMA, made, put, rows_of, tamper


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    place = tmp_path_factory.mktemp("written")
    return {form: made().save(place / form, format=form) for form in ("csv", "parquet")}


def verified(folder):
    return sf.verify(folder, PEOPLE, schema=SCHEMA, principles=PRINCIPLES, suppress=0)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_release_that_nobody_changed(written, form):
    result = verified(written[form])
    assert result.holds, result.failures
    assert not result.not_checked


def test_a_release_that_is_stated_again_is_the_same(written, tmp_path):
    """The way in which these tests write a changed release changes nothing by itself."""
    folder = shutil.copytree(written["csv"], tmp_path / "release")
    put(folder, rows_of(folder))
    for path in folder.iterdir():
        assert path.read_bytes() == (written["csv"] / path.name).read_bytes(), path.name


@pytest.mark.parametrize(("form", "name"), CASES)
def test_a_changed_release_is_found(written, tmp_path, form, name):
    folder = shutil.copytree(written[form], tmp_path / "release")
    tamper(folder, form, name)
    try:
        result = verified(folder)
    except sf.errors.ReleaseError:
        return  # release.json is not one: it is refused as a whole
    assert not result.holds, result
