"""Releases that resist attacks on ends: cells say no more than their node, and nobody is known to have a value at an end."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from fixed_groups import Fixed

SIZE = 4


def cells(ages, of_row):
    frame = pa.table({"age": ages, "ill": ["flu", "gout"] * (len(ages) // 2)})
    release = sf.anonymize(
        frame, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), method=Fixed(of_row), resist=["ends"], seed=1
    )
    published, rows = release.frame.column("age").to_pylist(), release.private.rows
    return {int(row): cell for row, cell in zip(rows, published, strict=True)}


@settings(max_examples=settings.default.max_examples // 4)
@given(st.lists(st.integers(0, 99), min_size=2 * SIZE, max_size=5 * SIZE), st.randoms(use_true_random=False))
def test_cells_depend_on_values_only_through_the_grid(drawn, random):
    """Values move within the narrowest intervals, of width 5; the groups and the range stay."""
    ages = [0, 99, 1, 98, *drawn[: len(drawn) // SIZE * SIZE]]
    of_row = np.arange(len(ages)) // SIZE
    moved = [0, 99, 1, 98, *(age // 5 * 5 + random.randrange(5) for age in ages[4:])]
    one, other = cells(ages, of_row), cells(moved, of_row)
    for group in set(of_row.tolist()):
        rows = np.flatnonzero(of_row == group).tolist()
        if min(len({ages[row] for row in rows}), len({moved[row] for row in rows})) > 1:
            assert [one[row] for row in rows] == [other[row] for row in rows]
            assert one[rows[0]] == "*" or one[rows[0]].endswith(")")


@settings(max_examples=settings.default.max_examples // 4)
@given(st.lists(st.tuples(st.integers(0, 150), st.integers(0, 9999)), min_size=12, max_size=30))
def test_nothing_follows_from_the_ends(rows):
    ages, pays = zip(*rows, strict=True)
    pay = [amount / 100 for amount in pays]
    frame = pa.table({"age": ages, "pay": pay, "ill": (["flu", "gout"] * 15)[: len(rows)]})
    schema = sf.Schema(["age", "pay"], ["ill"])
    release = sf.anonymize(frame, schema, sf.KAnonymity(3), method="mondrian", resist=["ends"], seed=0)
    (skipped,) = sf.attack(release, attacks=["downcoding"]).skipped
    assert skipped.reason == "no published cell is an interval, a set, or a node with two children"


@pytest.fixture(scope="module")
def people():
    return sf.synthetic_census(rows=600, seed=1).select(["age", "income", "workclass"])


SCHEMA = sf.Schema(["age", "income"], ["workclass"])


@pytest.mark.parametrize("resist", [["ends"], ["minimality", "ends"]])
def test_folders_are_verified_and_repeated(people, tmp_path, resist):
    release = sf.anonymize(people, SCHEMA, sf.KAnonymity(4), resist=resist, seed=3)
    assert release.resist == tuple(resist)
    assert release.method.name == ("deal" if "minimality" in resist else "glaze")
    folder = release.save(tmp_path / "out", key=tmp_path / "key.json")
    assert sf.attack(folder, people, key=tmp_path / "key.json", attacks=["downcoding"]).results == ()
    for original in (people, None):
        checked = sf.verify(folder, original=original, schema=SCHEMA)
        assert checked.holds
        assert {check.name: check.holds for check in checked.checks}["declared"]
    other = sf.Schema(["age", "income"], ["workclass"], hierarchies={"age": sf.Intervals((7,))})
    assert not sf.verify(folder, original=people, schema=other).holds
    again = sf.replay(folder, people, key=tmp_path / "key.json").save(tmp_path / "again")
    assert all((again / name).read_bytes() == (folder / name).read_bytes() for name in ("data.csv", "release.json"))


def test_other_hierarchies_stay_as_they_are(people, tmp_path):
    """Of a quasi-identifier with names, of the secret, and of numbers: verified with and without the original."""
    schema = sf.Schema(
        ["age", "income", "sex"],
        ["workclass"],
        hierarchies={"age": sf.Intervals((4, 16)), "sex": sf.data.Flat(), "workclass": sf.data.Flat()},
    )
    data = people.append_column("sex", pa.array(["f", "m"] * 300))
    release = sf.anonymize(data, schema, sf.KAnonymity(4), resist=["ends"], seed=3)
    assert release.schema.hierarchies["age"] == sf.Intervals((4, 16))
    assert release.schema.recodings == {"age": "ancestor", "income": "ancestor"}
    folder = release.save(tmp_path / "out")
    for original in (data, None):
        assert [
            check.detail for check in sf.verify(folder, original=original, schema=schema).checks if check.holds is False
        ] == []


def test_a_release_with_ends_that_claims_to_have_none(people, tmp_path):
    folder = sf.anonymize(people, SCHEMA, sf.KAnonymity(4), seed=3).save(tmp_path / "out")
    document = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    (folder / "release.json").write_text(json.dumps({**document, "resist": ["ends"]}), encoding="utf-8")
    failing = {check.name: check.detail for check in sf.verify(folder).checks if check.holds is False}
    assert failing["resist"] == "'age' is published as intervals, which end at values of rows"


def test_from_a_config(people, tmp_path):
    from click.testing import CliRunner
    from pyarrow import csv

    from sfumato.cli import main

    csv.write_csv(people, tmp_path / "people.csv")
    sf.Config.of(SCHEMA, "people.csv", [sf.KAnonymity(4)]).save(tmp_path / "sfumato.toml")
    config = (tmp_path / "sfumato.toml").read_text(encoding="utf-8")
    (tmp_path / "sfumato.toml").write_text(config + '\n[method]\nresist = ["ends"]\n', encoding="utf-8")
    done = CliRunner().invoke(main, ["anonymize", str(tmp_path / "sfumato.toml"), "--output", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, ["verify", str(tmp_path / "out"), "--config", str(tmp_path / "sfumato.toml")])
    assert done.exit_code == 0, done.output
