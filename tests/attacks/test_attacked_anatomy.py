"""Attacks on anatomies: those on the secrets of groups achieve what they do on cells of the same groups."""

from __future__ import annotations

import json

import pytest

import sfumato as sf
from sfumato.registry import ATTACKS

PEOPLE = sf.synthetic_census(rows=300, seed=3)
SCHEMA = sf.Schema(["age", "sex"], ["income", "workclass"])
REQUIRED = [sf.FrequencyLDiversity(3, on="income"), sf.DistinctLDiversity(2)]
OF_GROUPS = ["homogeneity", "skewness", "proximity", "learning", "swap-optimality"]


@pytest.fixture(scope="module")
def anatomy():
    return sf.anatomize(PEOPLE, SCHEMA, REQUIRED, seed=0)


@pytest.fixture(scope="module")
def folder(anatomy, tmp_path_factory):
    place = tmp_path_factory.mktemp("attacked")
    return anatomy.save(place / "out", key=place / "key.json")


def test_attacks_on_the_secrets_of_groups_achieve_the_same_as_on_cells(anatomy, folder):
    on_anatomy = sf.attack(anatomy, attacks=OF_GROUPS)
    on_cells = sf.attack(anatomy.private.release, attacks=OF_GROUPS)
    on_folder = sf.attack(folder, PEOPLE, key=folder.parent / "key.json", attacks=OF_GROUPS)
    assert {result.attack for result in on_anatomy} == set(OF_GROUPS)
    assert on_anatomy.to_dict() == on_cells.to_dict() == on_folder.to_dict()


def test_linkage_is_stated_as_certain_and_attacks_on_cells_are_not_measured(anatomy):
    others = [name for name in ATTACKS if ATTACKS[name].needs_cells]
    found = sf.attack(anatomy, attacks=others)
    assert len(found) == 0
    assert "linkage" in others
    assert all("linked to their row with certainty" in one.reason for one in found.skipped)
    assert {name for name in ATTACKS if not ATTACKS[name].needs_cells} == {*OF_GROUPS, "replay"}


def test_without_the_original_published_secrets_are_counted(anatomy, folder):
    whole, alone = (sf.attack(each, attacks=["homogeneity"]) for each in (anatomy, folder))
    assert [each.success for each in alone] == [each.success for each in whole]
    assert sf.attack(folder, attacks=["learning"]).skipped[0].reason == "the original was not given"


def test_people_of_a_folder_are_known_from_the_key_only(folder, tmp_path):
    with pytest.raises(sf.errors.ReleaseError, match="from its key only"):
        sf.attack(folder, PEOPLE)
    key = json.loads((folder.parent / "key.json").read_text())
    for change, problem in (({"data": {"people.csv": "0"}}, "another release"), ({"original_rows": [1]}, "does not have")):
        path = tmp_path / "key.json"
        path.write_text(json.dumps({**key, **change}))
        with pytest.raises(sf.errors.ReleaseError, match=problem):
            sf.attack(folder, PEOPLE, key=path)
