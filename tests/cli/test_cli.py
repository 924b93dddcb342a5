"""The command line in a pipeline: real processes, exit statuses, output on the right stream."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf
from commandline import sfumato

CONFIG = """
[data]
path = "people.csv"
[columns.zip]
role = "quasi-identifier"
[columns.income]
role = "sensitive"
kind = "numeric"
[[principles]]
name = "k-anonymity"
k = {k}
[[principles]]
name = "dissimilarity"
epsilon = "3"
delta = "0.2"
"""
PEOPLE = "zip,income\n" + "".join(f"01,{i}\n" for i in (100, 101, 102, 103, 900))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "sfumato.toml").write_text(CONFIG.format(k=5), encoding="utf-8")
    return tmp_path


def test_holds_is_0(project):
    done = sfumato("audit", str(project / "sfumato.toml"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 principles hold" in done.stdout
    assert "risk 0.75" in done.stdout


def test_fails_is_1(project):
    config = project / "sfumato.toml"
    config.write_text(config.read_text(encoding="utf-8").replace("0.2", "0.26"), encoding="utf-8")
    done = sfumato("audit", "sfumato.toml", cwd=project)
    assert done.returncode == 1
    assert "FAILS" in done.stdout
    assert "zip = 01 (5 rows): risk 0.75" in done.stdout
    assert "1 (100 %)" in done.stdout


def test_json(project):
    done = sfumato("audit", "sfumato.toml", "--json", cwd=project)
    found = json.loads(done.stdout)
    assert [p["holds"] for p in found["principles"]] == [True, True]
    assert found["principles"][1]["exact"] == {"risk": "0.75", "k": "5"}


def test_rows_and_joint_verdict(project):
    """The rows of the worst group, and whether other groups could satisfy everything together."""
    (project / "people.csv").write_text(PEOPLE + "02,7\n", encoding="utf-8")
    shown = sfumato("audit", "sfumato.toml", "--rows", "3", "--possible", cwd=project).stdout
    assert ["6", "02", "7"] in [line.split() for line in shown.splitlines()]
    assert "All together: guaranteed: " in shown and "the table as one group satisfies it; no more is guaranteed" in shown
    found = json.loads(sfumato("audit", "sfumato.toml", "--rows", "3", "--possible", "--json", cwd=project).stdout)
    assert found["possible"]["groups"] == 1
    assert found["principles"][0]["worst_groups"][0]["listed"] == [{"row": 6, "zip": "02", "income": "7"}]


def bad(project, name, old, new):
    path = project / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("sfumato.toml", "columns.zip", "columns.zap", ["people.csv", "column 'zap'", "Did you mean 'zip'"]),
        ("people.csv", "101", "many", ["people.csv", "column 'income', row 2", "'many' is not a number"]),
        ("sfumato.toml", 'epsilon = "3"', 'epsilon = "-3"', ["sfumato.toml", "principles[1].epsilon", "out of range"]),
        ("sfumato.toml", 'delta = "0.2"', 'delta = "2"', ["principles[1].delta", "out of range"]),
        ("sfumato.toml", "k = 5", "k = 6", ["k = 6 is larger than the table"]),
        ("people.csv", PEOPLE, "zip,income\n", ["people.csv", "no rows"]),
        ("people.csv", PEOPLE, "", ["people.csv", "empty"]),
        ("people.csv", "900\n", "900,1\n", ["people.csv", "row 5", "3 cells"]),
        (
            "sfumato.toml",
            "[[principles]]",
            "[distance]\nkind = 'jaccard'\n[[principles]]",
            ["column 'income'", "jaccard"],
        ),
        ("sfumato.toml", 'kind = "numeric"', 'kind = "set"\ndistance = { kind = "absolute" }', ["'income'", "'set'"]),
        ("sfumato.toml", 'path = "people.csv"', 'path = "nobody.csv"', ["nobody.csv", "the file does not exist"]),
        ("sfumato.toml", '"k-anonymity"', '"l-anonymity"', ["principles[0].name", "no principle 'l-anonymity'"]),
        ("sfumato.toml", "columns.zip]", "columns.zip]\nhierarchy = 'tree.csv'", ["tree.csv", "cannot be read"]),
    ],
)
def test_bad_input_is_2(project, name, old, new, words):
    text = (project / name).read_text(encoding="utf-8")
    assert old in text
    (project / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    done = sfumato("audit", "sfumato.toml", cwd=project)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("sfumato: ")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ("01;x;*\n01;y;*\n", ["tree.csv", "not a tree"]),
        ("02;x;*\n", ["tree.csv", "column 'zip'", "lacks 1", "'01'"]),
    ],
)
def test_bad_hierarchy_is_2(project, tree, words):
    (project / "tree.csv").write_text(tree, encoding="utf-8")
    config = project / "sfumato.toml"
    text = config.read_text(encoding="utf-8").replace("columns.zip]", "columns.zip]\nhierarchy = 'tree.csv'")
    config.write_text(text, encoding="utf-8")
    done = sfumato("audit", "sfumato.toml", cwd=project)
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr


def test_an_invalid_custom_distance_is_2(project):
    (project / "near.py").write_text("def d(x, y):\n    return x - y if x > y else 0\n", encoding="utf-8")
    config = project / "sfumato.toml"
    text = config.read_text(encoding="utf-8").replace(
        "[[principles]]", '[distance]\nkind = "function"\nfunction = "near:d"\n[[principles]]', 1
    )
    config.write_text(text, encoding="utf-8")
    done = sfumato("audit", "sfumato.toml", cwd=project)
    assert done.returncode == 2
    assert "distance.function" in done.stderr
    assert "--allow-code" in done.stderr
    done = sfumato("audit", "sfumato.toml", "--allow-code", cwd=project)
    assert done.returncode == 2
    assert "not the same both ways" in done.stderr
    (project / "near.py").write_text("def d(x, y):\n    return float('nan')\n", encoding="utf-8")
    done = sfumato("audit", "sfumato.toml", "--allow-code", cwd=project)
    assert done.returncode == 2
    assert "is not a number" in done.stderr


def test_no_principles_is_2(project):
    config = project / "sfumato.toml"
    config.write_text(CONFIG.split("[[", maxsplit=1)[0], encoding="utf-8")
    done = sfumato("audit", "sfumato.toml", cwd=project)
    assert done.returncode == 2
    assert "requests no principle" in done.stderr


def test_usage_is_2():
    assert sfumato("audit").returncode == 2
    assert sfumato("nonsense").returncode == 2


def test_demo(tmp_path):
    done = sfumato("demo", "--rows", "5000", "--save", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stderr
    assert "k-anonymity" in done.stdout
    assert "4 of 4 principles hold" in done.stdout
    assert "Utility: loss" in done.stdout
    assert sf.verify(tmp_path / "demo" / "release", tmp_path / "demo" / "people.csv").holds
    again = sfumato("audit", str(tmp_path / "demo" / "sfumato.toml"), "--json")
    assert again.returncode == 1, again.stderr
    assert json.loads(again.stdout)["rows"] == 5000


def test_demo_says_what_the_audit_found():
    """In so few people the coarsened census fails frequency l-diversity too."""
    done = sfumato("demo", "--rows", "3000")
    sentence = "It satisfies k-anonymity, distinct l-diversity, but not frequency l-diversity, (ε,δ)^k-dissimilarity."
    assert sentence in done.stdout


def test_demo_cannot_write():
    done = sfumato("demo", "--rows", "1000", "--save", "/proc/nowhere")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize(
    "verb",
    [
        (),
        ("audit",),
        ("demo",),
        ("anonymize",),
        ("verify",),
        ("frontier",),
    ],
)
def test_help_imports_nothing_heavy(verb):
    probe = (
        "import sys\n"
        "from sfumato.cli import main\n"
        "try:\n    main([*sys.argv[1:], '--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'numba', 'pyarrow', 'pydantic', 'numpy', 'rich'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", probe, *verb], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")
    if verb:
        assert "Example:" in done.stdout


def test_no_writable_home(project):
    """Compiled code needs a folder; if none is writable, a private temporary one is used."""
    if os.getuid() == 0:
        home = Path("/proc/self/nowhere")
    else:
        home = project / "locked"
        home.mkdir(mode=0o500)
    env = {"HOME": str(home), "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": ""}
    done = sfumato("audit", "sfumato.toml", cwd=project, env=env)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_config_with_a_mark(project):
    config = project / "sfumato.toml"
    config.write_bytes(b"\xef\xbb\xbf" + config.read_bytes())
    assert sfumato("audit", "sfumato.toml", cwd=project).returncode == 0


def test_the_exit_status_after_a_closed_pipe(project):
    for extra in ([], ["--json"]):
        command = f"{sys.executable} -m sfumato --quiet audit sfumato.toml {' '.join(extra)} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_2(project):
    command = f"{sys.executable} -m sfumato audit sfumato.toml --json > /dev/full"
    done = subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_output_that_cannot_show_greek(project):
    done = sfumato("audit", "sfumato.toml", cwd=project, env={"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "(?,?)^k-dissimilarity" in done.stdout
    done = sfumato("audit", "sfumato.toml", "--json", cwd=project, env={"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"})
    assert json.loads(done.stdout)["principles"][1]["label"].startswith("(ε,δ)^k")


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_narrow_terminals_do_not_break_words(project, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    done = sfumato("audit", "sfumato.toml", cwd=project)
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= columns
    assert "k-anonymity" in done.stdout
    assert "dissimilarity" in done.stdout
    assert "wanted at least 5" in done.stdout or columns > 110


def test_a_distance_beside_the_config(project):
    (project / "own_distance.py").write_text("def d(x, y):\n    return abs(x - y)\n", encoding="utf-8")
    bad(
        project,
        "sfumato.toml",
        '[[principles]]\nname = "k',
        '[distance]\nkind = "function"\nfunction = "own_distance:d"\n[[principles]]\nname = "k',
    )
    done = sfumato("audit", str(project / "sfumato.toml"), "--allow-code", cwd="/")
    assert done.returncode == 0, done.stderr
    assert "(function)" in done.stdout


def test_demo_overwrites_nothing(tmp_path):
    (tmp_path / "sfumato.toml").write_text("# mine", encoding="utf-8")
    done = sfumato("demo", "--rows", "1000", "--save", str(tmp_path))
    assert done.returncode == 2
    assert "something exists here already" in done.stderr
    assert (tmp_path / "sfumato.toml").read_text(encoding="utf-8") == "# mine"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"k-anonymity"', '"l-diversity"', "'distinct-l-diversity' or 'frequency-l-diversity'"),
        ("[data]", "[dat]", "Did you mean 'data'"),
        ("k = 5", "k = 2.5", "k = 2.5 is not a whole number"),
        ("[[principles]]", "[principles]", "Write [[principles]]"),
        ('kind = "numeric"', 'kind = "numeric"\ndistance = "absolute"', 'such as { kind = "lp" }'),
        ('kind = "numeric"', 'kind = "numeric"\nhierarchy = { interval = [5] }', "Did you mean 'intervals'"),
        ('path = "people.csv"', 'path = "C:\\Users\\x.csv"', "single quotes"),
        ("[[principles]]", '[distance]\nkind = "lp"\nweights = 3\n[[principles]]', "wrong type"),
        ("[[principles]]", '[distance]\nkind = "lp"\nname = "z"\n[[principles]]', "p, weights, by, ranges"),
        ("[data]", 'source = "x"\n[data]', "the key is unknown"),
        ("k = 5", 'k = 5\n[[principles]]\nname = "distinct-l-diversity"\nl = 2\non = 5', "on = 5"),
    ],
)
def test_mistakes_get_a_useful_answer(project, old, new, words):
    config = project / "sfumato.toml"
    text = config.read_text(encoding="utf-8")
    assert old in text
    changed = text.replace(old, new, 1)
    if new == "[principles]":
        changed = changed.split("[[principles]]")[0]
    config.write_text(changed, encoding="utf-8")
    done = sfumato("audit", "sfumato.toml", cwd=project)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert words in done.stderr


@pytest.mark.parametrize("verb", ["audit", "anonymize", "frontier", "risk", "project"])
def test_a_table_instead_of_a_config_leads_to_init(project, verb):
    done = sfumato(verb, "people.csv", cwd=project)
    assert done.returncode == 2
    assert "sfumato init people.csv" in done.stderr


@pytest.mark.parametrize("verb", ["init", "audit", "anonymize", "frontier", "risk", "project"])
def test_a_file_that_does_not_exist(project, verb):
    done = sfumato(verb, "nothere.csv", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothere.csv: the file does not exist" in done.stderr
    assert "Did you mean 'people.csv'?" in sfumato(verb, "poeple.csv", cwd=project).stderr


@pytest.mark.parametrize("verb", ["verify", "report"])
def test_a_folder_that_does_not_exist(project, verb):
    done = sfumato(verb, "nothere", *(["--output", "page.html"] if verb == "report" else []), cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothere: no such folder" in done.stderr
