"""`sfumato anonymize` and `sfumato verify` in a pipeline."""

from __future__ import annotations

import json
from functools import partial

import pytest

import commandline
from sfumato.registry import METHODS
from standin import Chunks

CONFIG = """
[data]
path = "people.csv"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
[columns.town]
role = "quasi-identifier"
hierarchy = "towns.csv"
[columns.ill]
role = "sensitive"
[[principles]]
name = "k-anonymity"
k = 2
[[principles]]
name = "distinct-l-diversity"
l = 2
[method]
name = "chunks"
size = 3
[output]
path = "release"
"""
TOWNS = "Rome;Italy;*\nMilan;Italy;*\nBonn;Germany;*\n"
PEOPLE = "name,age,town,ill\n" + "".join(
    f"p{i},{20 + i},{town},{ill}\n"
    for i, (town, ill) in enumerate(
        [("Rome", "flu"), ("Milan", "cold"), ("Rome", "flu"), ("Bonn", "flu"), ("Bonn", "gout"), ("Rome", "cold")]
    )
)


@pytest.fixture
def sfumato(monkeypatch, project):
    """Run the command line in the project's folder."""
    monkeypatch.setitem(METHODS.entries, Chunks.name, Chunks)
    return partial(commandline.sfumato, cwd=project)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "towns.csv").write_text(TOWNS, encoding="utf-8")
    (tmp_path / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def change(project, name, old, new):
    path = project / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_anonymize_and_verify(sfumato, project):
    done = sfumato("anonymize", "sfumato.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 principles hold" in done.stdout
    assert "sfumato verify release" in done.stdout
    lines = (project / "release" / "data.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "group,age,town,ill"
    cells = sorted({line.split(",", 1)[1].rsplit(",", 1)[0] for line in lines[1:]})
    assert cells == ['"[20, 22]",{Milan; Rome}', '"[23, 25]",{Bonn; Rome}'], "a set leaves less open than Italy, or *"
    done = sfumato("verify", "release", "--original", "people.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "18 of 18 checks hold" in done.stdout
    change(project, "release/data.csv", "gout", "flu")
    done = sfumato("verify", "release", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["checks"][0] == {
        "name": "file",
        "holds": False,
        "detail": "data.csv: the file was changed after it was written",
    }


def test_json_and_seeds(sfumato, project):
    done = sfumato("anonymize", "sfumato.toml", "--seed", "3", "--output", "a", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert ("seed" in found, found["holds"], found["folder"]) == (False, True, "a")
    change(project, "sfumato.toml", "size = 3", "size = 3\nseed = 3")
    change(project, "sfumato.toml", 'path = "release"', 'path = "b"\nformat = "parquet"')
    assert sfumato("anonymize", "sfumato.toml").returncode == 0
    assert sorted(p.name for p in (project / "b").iterdir()) == ["data.parquet", "release.json", "report.html"]
    assert sfumato("anonymize", "sfumato.toml", "--output", "a", "--force").returncode == 0
    assert sfumato("verify", "a", "--original", "people.csv").returncode == 0


def test_an_existing_folder_is_2(sfumato, project):
    (project / "release").mkdir()
    for extra in ([], ["--force"]):
        done = sfumato("anonymize", "sfumato.toml", *extra)
        assert done.returncode == 2
        assert "release: " in done.stderr
    assert not list((project / "release").iterdir())


def test_an_unreachable_requirement_is_1_and_writes_nothing(sfumato, project):
    change(project, "people.csv", "gout", "flu")
    before = sorted(p.name for p in project.iterdir())
    change(project, "sfumato.toml", "l = 2", "l = 3")
    done = sfumato("anonymize", "sfumato.toml", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no grouping of these rows can satisfy distinct l-diversity (l = 3) on " in done.stderr
    assert sorted(p.name for p in project.iterdir()) == before


def test_one_secret_for_all_is_1(sfumato, project):
    path = project / "people.csv"
    path.write_text(PEOPLE.replace("cold", "flu").replace("gout", "flu"), encoding="utf-8")
    done = sfumato("anonymize", "sfumato.toml")
    assert done.returncode == 1
    assert "l 1, wanted at least 2" in done.stderr


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("sfumato.toml", "k = 2", "k = 7", ["k = 7 is larger than the table"]),
        ("sfumato.toml", "size = 3", "size = 3\nsede = 1", ["method.sede", "no parameter 'sede'"]),
        ("sfumato.toml", "size = 3", 'size = 3\nseed = "x"', ["method.seed", "integer"]),
        ("sfumato.toml", '"chunks"', '"chunk"', ["method.name", "Did you mean 'chunks'"]),
        ("sfumato.toml", '[output]\npath = "release"', "", ["output.path", "--output"]),
        ("sfumato.toml", 'path = "release"', 'path = "no/where"', ["no/where", "parent is not a folder"]),
        ("sfumato.toml", 'path = "people.csv"', 'path = "people.csv"\nperson_id = "town"', ["'town'", "declared twice"]),
        ("sfumato.toml", 'path = "people.csv"', 'path = "people.csv"\ngroup = "town"', ["Remove group"]),
        ("sfumato.toml", 'hierarchy = "towns.csv"', 'recoding = "interval"', ["column 'town'", "intervals require"]),
        ("towns.csv", "Germany;*", "Germany;Europe", ["towns.csv", "not a tree"]),
        ("people.csv", "name,", "nom,", ["people.csv", "column 'name'"]),
    ],
)
def test_bad_input_is_2(sfumato, project, name, old, new, words):
    change(project, name, old, new)
    before = sorted(p.name for p in project.iterdir())
    done = sfumato("anonymize", "sfumato.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    assert sorted(p.name for p in project.iterdir()) == before


def test_a_folder_that_is_not_a_release_is_2(sfumato, project):
    for folder in (".", "nowhere", "sfumato.toml"):
        done = sfumato("verify", folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Name the folder of a release" in done.stderr


def test_seeds_on_the_command_line(sfumato, project):
    for seed in ("-1", "x", "1.5"):
        assert sfumato("anonymize", "sfumato.toml", "--seed", seed).returncode == 2


def test_a_custom_distance(sfumato, project):
    (project / "nearness.py").write_text("def d(x, y):\n    return int(x != y)\n", encoding="utf-8")
    change(
        project,
        "sfumato.toml",
        "[method]",
        '[[principles]]\nname = "dissimilarity"\nepsilon = 0\ndelta = "0.5"\nk = 2\n[distance]\nkind = "function"\n'
        'function = "nearness:d"\n[method]',
    )
    done = sfumato("anonymize", "sfumato.toml", "--allow-code", "--key", "key.json")
    assert done.returncode == 0, done.stderr
    assert sfumato("verify", "release").returncode == 1
    done = sfumato("verify", "release", "--config", "sfumato.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--allow-code" in done.stderr
    done = sfumato("verify", "release", "--config", "sfumato.toml", "--allow-code")
    assert done.returncode == 0, done.stdout
    again = ("anonymize", "release/release.json", "--key", "key.json", "--output", "again", "--data")
    assert sfumato(*again, "people.csv").returncode == 2
    assert sfumato(*again, "sfumato.toml").returncode == 2
    done = sfumato(*again, "sfumato.toml", "--allow-code")
    assert done.returncode == 0, done.stderr


def test_a_config_is_compared(sfumato, project):
    assert sfumato("anonymize", "sfumato.toml").returncode == 0
    done = sfumato("verify", "release", "--config", "sfumato.toml", "--original", "people.csv")
    assert done.returncode == 0, done.stdout
    assert "declared: release.json agrees with what is expected" in done.stdout
    text = (project / "sfumato.toml").read_text(encoding="utf-8")
    for old, new, words in [
        ("k = 2", "k = 3", "k-anonymity (k = 3) is requested"),
        ('[columns.name]\nrole = "identifier"', "", "the role of 'name' is 'identifier'"),
        ('hierarchy = "towns.csv"', "", "the hierarchy of 'town'"),
    ]:
        (project / "sfumato.toml").write_text(text.replace(old, new), encoding="utf-8")
        done = sfumato("verify", "release", "--config", "sfumato.toml")
        assert done.returncode == 1
        assert words in " ".join(done.stdout.split())


def test_warnings_are_shown_and_refused_with_strict(sfumato, project):
    change(project, "sfumato.toml", '[[principles]]\nname = "distinct-l-diversity"\nl = 2\n', "")
    done = sfumato("anonymize", "sfumato.toml")
    assert done.returncode == 0
    assert "WARNING no requirement covers the sensitive attribute 'ill'" in done.stdout
    assert 'write accepted = "reason"' in " ".join(done.stdout.split())
    stated = json.loads(sfumato("anonymize", "sfumato.toml", "--force", "--json").stdout)["warnings"]
    assert [(warning["kind"], warning["attribute"]) for warning in stated] == [("uncovered", "ill")]
    done = sfumato("anonymize", "sfumato.toml", "--strict", "--output", "strict")
    assert done.returncode == 1
    assert "because of 1 warning" in done.stderr
    assert not (project / "strict").exists()
    change(project, "sfumato.toml", 'role = "sensitive"', 'role = "sensitive"\naccepted = "everybody sneezes"')
    done = sfumato("anonymize", "sfumato.toml", "--strict", "--output", "strict")
    assert (done.returncode, "WARNING" in done.stdout) == (0, False)
    assert "which is accepted (everybody sneezes)" in done.stdout


def test_an_invalid_number_of_threads_is_reported_before_the_table_is_read(sfumato, project, monkeypatch):
    (project / "people.csv").unlink()
    monkeypatch.setenv("SFUMATO_WORKERS", "many")
    done = sfumato("anonymize", "sfumato.toml")
    assert done.returncode == 2
    assert "the environment variable SFUMATO_WORKERS is 'many'" in done.stderr


def test_force_never_replaces_the_folder_that_is_read(sfumato, project):
    """Nor the release that is repeated, not even by itself with another seed; the error comes before the work."""
    assert sfumato("anonymize", "sfumato.toml").returncode == 0
    before = {path.name: path.read_bytes() for path in (project / "release").iterdir()}
    for arguments in (["sfumato.toml", "--data", "release/data.csv"], ["release/release.json", "--data", "people.csv"]):
        done = sfumato("anonymize", *arguments, "--output", "release", "--force")
        assert done.returncode == 2
        assert "which is being read, and is not replaced" in done.stderr
    assert before == {path.name: path.read_bytes() for path in (project / "release").iterdir()}
