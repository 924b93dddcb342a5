"""`sfumato frontier` on a terminal and in a pipeline."""

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
[columns.age]
role = "quasi-identifier"
[columns.pay]
role = "sensitive"
[[principles]]
name = "dissimilarity"
epsilon = 1
delta = "0.5"
k = 4
[method]
name = "chunks"
size = 4
"""
PAY = [1, 2, 7, 8, 3, 4, 9, 10, 5, 6, 11, 12]
"""In the order of ages; at ε = 3 each has one neighbour among its four."""


@pytest.fixture
def project(tmp_path):
    people = "".join(f"{20 + i},{pay}\n" for i, pay in enumerate(PAY))
    (tmp_path / "people.csv").write_text("age,pay\n" + people, encoding="utf-8")
    (tmp_path / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


@pytest.fixture
def sfumato(monkeypatch, project):
    """Run the verb on the project, on a narrow terminal."""
    monkeypatch.setitem(METHODS.entries, Chunks.name, Chunks)
    monkeypatch.setenv("COLUMNS", "80")
    return partial(commandline.sfumato, "frontier", "sfumato.toml", cwd=project)


def found(done):
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def cells(content):
    return {(c["epsilon"], c["delta"], c["k"]): c for c in content["frontier"]["cells"]}


def test_the_grid_is_around_the_requirement(sfumato):
    content = found(sfumato("--json"))
    assert content["frontier"]["epsilons"] == ["0.5", "1", "1.5", "2"]
    assert content["frontier"]["deltas"] == ["0.4", "0.5", "0.6"]
    assert content["frontier"]["ks"] == [2, 4, 8]
    assert (content["rows"], content["method"], content["sample"], content["contour"]) == (12, None, None, None)


def test_a_grid_from_options(sfumato):
    content = found(sfumato("--epsilon", "3, 1,3", "--delta", "1,0.5", "--k", "4", "--json"))
    statuses = {key: cell["status"] for key, cell in cells(content).items()}
    # three groups of four without neighbours exist at ε = 1; of 1 to 4 no two may share one of three groups at ε = 3, δ = 1
    assert statuses == {
        ("1", "0.5", 4): "guaranteed",
        ("1", "1", 4): "guaranteed",
        ("3", "0.5", 4): "guaranteed",
        ("3", "1", 4): "impossible",
    }


def test_reach(sfumato):
    content = found(sfumato("--epsilon", "3", "--delta", "0.5,1", "--k", "4", "--reach", "--json"))
    assert content["method"] == "chunks"
    tried = cells(content)
    assert tried["3", "1", 4]["status"] == "impossible"
    # one neighbour in a group of four is allowed; each of the three groups covers 3 of the 11 years
    assert tried["3", "0.5", 4]["status"] == "reached"
    assert tried["3", "0.5", 4]["loss"] == pytest.approx(3 / 11)


def test_a_sample(sfumato):
    arguments = ["--epsilon", "3", "--delta", "0.5", "--k", "4", "--reach", "--sample"]
    content = found(sfumato(*arguments, "8", "--json"))
    assert content["sample"] == 8
    assert "was tried on 8 of 12 rows" in content["notes"][-1]
    assert found(sfumato(*arguments, "99", "--json"))["notes"] == []
    done = sfumato(*arguments, "3")
    assert done.returncode == 2
    assert "a sample of 3 rows cannot contain a group of k = 4" in done.stderr


def test_what_is_shown_fits_80_columns(sfumato):
    done = sfumato("--reach", "--contour")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    for words in ("people.csv: 12 rows", "k = 4", "ε = 0.5", "δ = 0.6", "reached: the method", "Groups in breach"):
        assert words in done.stdout


def test_the_contour_is_of_the_existing_groups(sfumato, project):
    content = found(sfumato("--contour", "--json"))
    assert content["contour"]["groups"] == 12
    assert content["contour"]["breached"] == [[12, 12, 12]] * 4
    config = project / "sfumato.toml"
    config.write_text(CONFIG.replace('people.csv"', 'people.csv"\ngroup = "ward"'), encoding="utf-8")
    rows = "".join(f"{20 + pay},{pay},{pay % 3}\n" for pay in PAY)
    (project / "people.csv").write_text("age,pay,ward\n" + rows, encoding="utf-8")
    content = found(sfumato("--contour", "--epsilon", "2,3", "--delta", "0.4", "--json"))
    # a ward holds every third pay: at ε = 2 none are near; at ε = 3 a pay in the middle is near 2 of the other 3
    assert content["contour"]["breached"] == [[0], [3]]
    done = sfumato("--reach", "--epsilon", "3", "--delta", "0.5", "--k", "4")
    assert (done.returncode, "Remove group" in done.stderr) == (2, True)


def test_other_requirements_are_held(sfumato, project):
    """Groups of four reach the dissimilarity alone; k-anonymity with k = 5 rules them out, and the whole table remains."""
    config = project / "sfumato.toml"
    arguments = ["--epsilon", "1", "--delta", "0.5", "--k", "4", "--reach", "--json"]
    assert cells(found(sfumato(*arguments)))["1", "0.5", 4]["status"] == "reached"
    config.write_text(CONFIG + '[[principles]]\nname = "k-anonymity"\nk = 5\n', encoding="utf-8")
    content = found(sfumato(*arguments))
    assert content["notes"] == ["held in every cell: k-anonymity (k = 5)"]
    assert content["frontier"]["others"] == ["k-anonymity (k = 5)"]
    cell = cells(content)["1", "0.5", 4]
    assert cell["loss"] is None, "the method makes groups of four"
    assert cell["verdict"] == "guaranteed", "two groups of six exist"
    config.write_text(CONFIG + '[[principles]]\nname = "k-anonymity"\nk = 13\n', encoding="utf-8")
    content = found(sfumato(*arguments))
    assert cells(content)["1", "0.5", 4]["status"] == "impossible"
    assert "no grouping of these rows can satisfy k-anonymity (k = 13)" in content["notes"][-1]


def test_the_loss_is_shown_in_every_cell_that_is_reached(sfumato):
    content = found(sfumato("--reach", "--json"))
    for cell in cells(content).values():
        if cell["k"] <= 4 and cell["status"] != "impossible":
            assert cell["loss"] == pytest.approx(3 / 11), "any groups of four consecutive ages lose the same"


def test_on_a_column(sfumato, project):
    config = project / "sfumato.toml"
    both = CONFIG.replace("[columns.pay]", '[columns.rent]\nrole = "sensitive"\n[columns.pay]')
    config.write_text(both.replace("k = 4", 'k = 4\non = "each"'), encoding="utf-8")
    people = "".join(f"{20 + i},{pay},{i}\n" for i, pay in enumerate(PAY))
    (project / "people.csv").write_text("age,pay,rent\n" + people, encoding="utf-8")
    done = sfumato()
    assert done.returncode == 2
    assert "--on" in done.stderr
    content = found(sfumato("--on", "pay", "--json"))
    assert content["frontier"]["attribute"] == "pay"
    # what the config demands of the other column is held
    assert content["notes"] == ["held in every cell: (ε,δ)^k-dissimilarity (epsilon = 1, delta = 0.5, k = 4)"]
    done = sfumato("--on", "whole", "--epsilon", "1")
    assert done.returncode == 2
    assert "requests no dissimilarity on rent + pay" in done.stderr
    for wrong in ("age", "pya"):
        done = sfumato("--on", wrong)
        assert done.returncode == 2
        assert wrong in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--epsilon", "x"], "epsilon: "),
        (["--epsilon", "-1"], "epsilon = -1"),
        (["--epsilon", "0.1,,0.2"], "empty entry"),
        (["--epsilon", ""], "empty entry"),
        (["--delta", "1.1"], "delta = 1.1"),
        (["--delta", "nan"], "delta: "),
        (["--k", "0"], "'0' is not a whole number from 1"),
        (["--k", "2.5"], "'2.5' is not a whole number from 1"),
        (["--sample", "0"], "--sample"),
    ],
)
def test_bad_numbers_are_2(sfumato, arguments, words):
    done = sfumato(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_no_requirement_is_2(sfumato, project):
    config = project / "sfumato.toml"
    config.write_text(CONFIG.replace("dissimilarity", "alpha-k-anonymity").replace("epsilon = 1", "").replace(
        'delta = "0.5"', "alpha = 1"), encoding="utf-8")  # fmt: skip
    done = sfumato("--epsilon", "1")
    assert done.returncode == 2
    assert "requests no dissimilarity; --delta and --k must be given" in done.stderr
    assert sfumato("--epsilon", "1", "--delta", "1", "--k", "2").returncode == 0
    config.write_text(CONFIG.replace("epsilon = 1", 'epsilon = 1\nshape = "ball"'), encoding="utf-8")
    assert "requests no dissimilarity of the shape star; --delta and --k must be given" in sfumato("--epsilon", "1").stderr
    config.unlink()
    assert sfumato().returncode == 2
