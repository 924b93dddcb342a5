"""`sfumato hierarchy` and `sfumato init --hierarchies`: files that are built, and files to fill in."""

from __future__ import annotations

import json

import pytest

import commandline
import sfumato as sf

PEOPLE = "zip,town,age,ill\n" + "".join(
    f"0{1230 + i * 3 % 70},town {i % 25},{20 + i % 40},{('flu', 'gout', 'cold')[i % 3]}\n" for i in range(300)
)


@pytest.fixture
def sfumato(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    return lambda *arguments: commandline.sfumato(*map(str, arguments))


def test_a_hierarchy_is_built_from_the_values(sfumato, tmp_path):
    done = sfumato("hierarchy", "people.csv", "zip", "--builder", "prefix = [3, 2]", "--output", "zip.csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    tree = sf.Hierarchy.from_file(tmp_path / "zip.csv")
    zips = sorted({line.split(",")[0] for line in PEOPLE.splitlines()[1:]})
    assert tree.rows() == [[code, f"{code[:3]}*", f"{code[:2]}*", "*"] for code in zips]
    again = sfumato("hierarchy", "people.csv", "zip", "--builder", "prefix = [3]", "-o", "zip.csv")
    assert again.returncode == 2
    assert "the file exists" in again.stderr
    assert sfumato("hierarchy", "people.csv", "zip", "--builder", "prefix = [3]", "-o", "zip.csv", "--force").returncode == 0
    assert sf.Hierarchy.from_file(tmp_path / "zip.csv").height == 2
    numbers = sfumato("hierarchy", "people.csv", "age", "--builder", "ranges = [[0, 30, 120]]")
    assert numbers.stdout.splitlines()[0] == "20;[0, 30);*"


def test_a_skeleton_must_be_filled_in(sfumato, tmp_path):
    done = sfumato("hierarchy", "people.csv", "ill", "--levels", 2)
    assert done.stdout == "cold;;;*\nflu;;;*\ngout;;;*\n"
    (tmp_path / "ill.csv").write_text(done.stdout, encoding="utf-8")
    with pytest.raises(sf.errors.HierarchyError, match="line 1 has no label on level 1") as caught:
        sf.Hierarchy.from_file(tmp_path / "ill.csv")
    assert (caught.value.file, caught.value.value) == (str(tmp_path / "ill.csv"), "cold")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["zip", "--builder", "prefix = [3"], "the builder is not valid TOML"),
        (["zip", "--builder", "prefixes = [3]"], "names no builder"),
        (["zip", "--builder", "prefix = [1, 3]"], "falling"),
        (["zap"], "there is no such column"),
        (["ill", "--builder", "icd = 9"], "'cold' is not a code of ICD-9"),
    ],
)
def test_bad_input(sfumato, arguments, words):
    done = sfumato("hierarchy", "people.csv", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_init_writes_skeletons_and_keeps_those_that_exist(sfumato, tmp_path):
    done = sfumato("init", "people.csv", "--hierarchies")
    assert done.returncode == 0
    assert "Wrote hierarchies/town.csv: fill in its labels, and name it in the config." in done.stdout
    path = tmp_path / "hierarchies" / "town.csv"
    assert path.read_text(encoding="utf-8").splitlines()[:2] == ["town 0;;*", "town 1;;*"]
    assert '# hierarchy = "hierarchies/town.csv"' in (tmp_path / "sfumato.toml").read_text(encoding="utf-8")
    path.write_text("town 0;north;*\n", encoding="utf-8")
    again = sfumato("init", "people.csv", "--hierarchies", "--force", "--json")
    assert json.loads(again.stdout)["hierarchies"]["hierarchies/town.csv"] is False
    assert path.read_text(encoding="utf-8") == "town 0;north;*\n"


def test_the_draft_of_near_unique_values_runs(sfumato, tmp_path):
    names = [f"{chr(97 + i % 26)}{'x' * (i % 5)}{i // 3}" for i in range(300)]
    rows = [f"{20 + i % 40},{'mf'[i % 2]},{name},{'flu' if i % 3 else 'gout'}" for i, name in enumerate(names)]
    (tmp_path / "towns.csv").write_text("\n".join(["age,sex,birthplace,ill", *rows]), encoding="utf-8")
    assert sfumato("init", "towns.csv").returncode == 0
    assert "hierarchy = { frequent = [20, 5] }" in (tmp_path / "sfumato.toml").read_text(encoding="utf-8")
    assert sfumato("anonymize", "sfumato.toml").returncode == 0
    assert sfumato("verify", "release", "--original", "towns.csv", "--config", "sfumato.toml").returncode == 0


def test_force_never_replaces_the_data(sfumato, tmp_path):
    import sqlite3

    done = sfumato("hierarchy", "people.csv", "zip", "-o", "./people.csv", "--force")
    assert (done.returncode, (tmp_path / "people.csv").read_text(encoding="utf-8")) == (2, PEOPLE)
    assert "this is being read, and is not replaced" in done.stderr
    with sqlite3.connect(tmp_path / "people.db") as database:
        database.execute("create table people (zip text)")
        database.execute("insert into people values ('01234')")
    before = (tmp_path / "people.db").read_bytes()
    done = sfumato("hierarchy", "sqlite:///people.db", "zip", "-o", "people.db", "--force")
    assert (done.returncode, (tmp_path / "people.db").read_bytes()) == (2, before)
