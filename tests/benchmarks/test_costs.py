"""The benchmarks of an audit, of anonymizing and of the full-domain search run on the synthetic census."""

from __future__ import annotations

import json
import sys

import pytest

import commandline
from benchmarks.measurement import growth
from commandline import benchmark_without_data as benchmark


@pytest.mark.long
def test_audit_on_the_synthetic_census():
    """In a process of its own, as a user runs it; the others run in this one, which is faster."""
    done = commandline.benchmark("audit", "--rows", "2000", "--json", env={"SFUMATO_DATA": ""})
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["source"] == "synthetic census"
    assert figures["audit / lexsort"] > 0


def test_audit_without_pycanon():
    done = benchmark("audit", "--rows", "1000", "--pycanon", sys.executable)
    assert done.returncode == 2
    assert "pycanon cannot be run" in done.stderr


def test_growth_compares_runs_that_differ_in_size_only():
    runs = [
        {"method": "a", "rows": 10, "CPU s": 1.0},
        {"method": "a", "rows": 20, "CPU s": 3.0},
        {"method": "b", "rows": 20, "CPU s": 9.0},
        {"method": "b", "rows": 40, "not supported": "it cannot"},
    ]
    assert growth(runs, ("method",)) == [{"method": "a", "rows": [10, 20], "times the rows": 2.0, "times the CPU time": 3.0}]


def test_anonymize_on_the_synthetic_census():
    done = benchmark("anonymize", "--rows", "2000", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    runs = json.loads(done.stdout)["runs"]
    assert [one["method"] for one in runs] == ["glaze", "mondrian", "xcolor"]
    for one in runs:
        assert one["source"] == "synthetic census"
        assert one["goal: loss"] is None
        assert one["violating groups"] == 0
        assert one["CPU s"] >= 0
        assert one["CPU / lexsort"] > 0
    assert runs[0]["loss"] < runs[2]["loss"]


def test_shapes_on_the_synthetic_census():
    done = benchmark("shapes", "--rows", "1000", "--audited-rows", "1000", "--shapes", "star,clique", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)
    assert [one["shape"] for one in figures["runs"]] == ["star", "clique"]
    for one in figures["runs"]:
        assert one["violating groups"] == one["groups that violate each shape"][one["shape"]] == 0
        assert one["loss"] > 0
    assert all(figures["audit"][f"{shape} / lexsort"] > 0 for shape in ("star", "ball", "clique", "chain", "cycle"))


@pytest.mark.long
def test_first_use():
    """Of a command without kernels: the others compile for many seconds."""
    done = benchmark("first-use", "--commands", "init", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    (one,) = json.loads(done.stdout)["runs"]
    assert one["command"] == "init"
    assert min(one["first use, CPU s"], one["again, CPU s"], one["first use / baseline"]) > 0


def test_first_use_of_an_unknown_command():
    done = benchmark("first-use", "--commands", "imagine")
    assert done.returncode == 2
    assert "imagine" in done.stderr


def test_anonymize_shows_a_table():
    done = benchmark("anonymize", "--rows", "1000", "--methods", "mondrian")
    assert (done.returncode, done.stderr) == (0, "")
    assert "S1" in done.stdout
    assert "synthetic census" in done.stdout


def test_gap_of_the_census():
    done = benchmark("gap", "--rows", "1000", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    runs = json.loads(done.stdout)["runs"]
    assert [one["setting"] for one in runs] == ["S1, k alone", "S1"]
    assert all(0 < one["bound"] <= one["loss"] for one in runs)


def test_exact_groups_of_the_census():
    done = benchmark("exact", "--rows", "13", "--requirements", "k3,l3", "--json")
    assert done.returncode == 0
    runs = json.loads(done.stdout)["runs"]
    assert [one["proof"] for one in runs] == ["best"] * 10
    assert all(one["bound"] == one["loss"] and one["glaze / loss"] >= 1 for one in runs)
    assert all(one["the same with secrets / loss"] <= 1 for one in runs)


def test_parts_and_whole_tables():
    done = benchmark("parts", "--rows", "1000", "--workers", "2", "--whole", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    runs = json.loads(done.stdout)["runs"]
    assert [(one["searched"], one["threads"]) for one in runs] == [("whole", 1), ("in parts", 2)]
    assert all(one["violating rows"] == 0 and one["CPU s"] > 0 for one in runs)
    assert benchmark("parts", "--settings", "S9").returncode == 2


@pytest.mark.long
def test_full_domain_search():
    done = benchmark("lattice", "--losses", "mean", "--times", "1", "--times", "2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)
    assert [(one["source"], one["rows"], one["requirements"]) for one in figures["runs"][:3]] == [
        ("census", 5000, "k"),
        ("census", 5000, "k, t equal"),
        ("census", 5000, "k, t hierarchical"),
    ]
    assert all(one["suppressed"] <= one["rows"] // 20 and one["CPU s"] > 0 for one in figures["runs"])
    assert [one["times the rows"] for one in figures["growth"]] == [2.0, 2.0, 2.0]
    shown = benchmark("lattice", "--losses", "mean")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "every least loss is proven to be optimal" in shown.stdout
    assert benchmark("lattice", "--losses", "men").returncode == 2


@pytest.mark.long
def test_wide_tables():
    options = ("--rows", "1000", "--rows", "2000", "--k", "10", "--shapes", "many values, both", "--methods", "mondrian")
    done = benchmark("wide", *options, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)
    assert [(one["shape"], one["rows"]) for one in figures["runs"]] == [
        ("many values", 1000),
        ("many values", 2000),
        ("both", 1000),
        ("both", 2000),
    ]
    assert all(one["violations"] == 0 and 0 < one["loss"] <= 1 and one["CPU s"] > 0 for one in figures["runs"])
    assert all(one["most distinct values"] > 900 for one in figures["runs"])
    assert [one["times the rows"] for one in figures["growth"]] == [2.0, 2.0]
    assert benchmark("wide", "--shapes", "narrow").returncode == 2


def test_register():
    """The benchmark itself compares the counts of both ways."""
    done = benchmark("register", "--records", "300", "--individuals", "500", "--sample", "20", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    runs = json.loads(done.stdout)["runs"]
    assert [one["case"] for one in runs] == ["few attributes", "all attributes"]
    assert all(one["consistent, mean"] >= 1 for one in runs)
    done = benchmark("register", "--records", "300", "--individuals", "200")
    assert done.returncode == 2


@pytest.mark.long
def test_rules_that_generalize():
    done = benchmark("generalize", "--records", "60", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    runs = json.loads(done.stdout)["runs"]
    assert [one["values"] for one in runs] == [1, 2, 3, 4]
    for one in runs:
        assert one["source"] == "synthetic census" and one["exact"]
        assert one["risk, generalizing"] <= one["risk, withholding"] * (1 + 1e-9)
    assert any(one["generalized cells"] for one in runs)


@pytest.mark.long
def test_many_attributes():
    done = benchmark("many-attributes", "--rows", "500", "--attributes", "70", "--cells", "3", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    (one,) = json.loads(done.stdout)["runs"]
    assert (one["records"], one["attributes"]) == (500, 70)
    assert 0 < one["bound"] <= one["risk"] <= 1.17  # e to the power of three weights of 0.05
    done = benchmark("many-attributes", "--attributes", "3", "--cells", "4")
    assert (done.returncode, "no more values than the table has attributes" in done.stderr) == (2, True)


@pytest.mark.long
def test_both_engines_make_the_same_bytes():
    done = benchmark("scale", "--rows", "2000", "--again", "--json")
    assert done.returncode == 0, done.stderr
    local, stream = json.loads(done.stdout)["runs"]
    assert (local["engine"], stream["engine"]) == ("local", "stream")
    assert local["verified"] and stream["verified"] and local["holds"]
    assert local["SHA-256"] == stream["SHA-256"]
    assert local["made and saved again, s"] > 0


@pytest.mark.long
def test_both_engines_audit_alike():
    done = benchmark("scale", "--rows", "2000", "--audit", "--json")
    assert done.returncode == 0, done.stderr
    local, stream = json.loads(done.stdout)["runs"]
    assert (local["engine"], stream["engine"]) == ("local", "stream")
    assert (local["groups"], local["SHA-256"]) == (stream["groups"], stream["SHA-256"])


def test_attacks_on_the_synthetic_census():
    methods = "mondrian,projections"
    done = benchmark("attacks", "--rows", "600", "--methods", methods, "--attacks", "homogeneity,linkage", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    runs = json.loads(done.stdout)["runs"]
    assert {one["attack"] for one in runs} == {"homogeneity", "linkage", "intersection"}
    assert all(0 <= one["success, %"] <= 100 and 0 <= one["loss"] <= 1 for one in runs)


@pytest.mark.long
def test_ui():
    done = benchmark("ui", "--rows", "1000", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    runs = json.loads(done.stdout)["runs"]
    assert {"address printed", "first page", "key press to verdict", "frontier"} <= {one["what"] for one in runs}
    assert all(one["measured"] > 0 for one in runs)
