"""The benchmark of releases runs from file to folder, reports every stage, and refuses unknown names."""

from __future__ import annotations

import json

import pytest
from pyarrow import csv as arrow_csv

import commandline
from benchmarks.costs.release_cost import StageTimer, make_file, run
from commandline import benchmark_without_data as benchmark
from sfumato.errors import ParameterError


@pytest.mark.long
def test_on_the_synthetic_census():
    options = ("--rows", "2000", "--rows", "4000", "--requirements", "k", "--json")
    done = commandline.benchmark("release", *options, env={"SFUMATO_DATA": ""})  # in a process of its own
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)
    assert [(one["rows"], one["requirements"]) for one in figures["runs"]] == [(2000, "k"), (4000, "k")]
    for one in figures["runs"]:
        assert one["source"] == "synthetic census"
        assert "not reached" not in one
        assert list(one["stages"])[:2] == ["reading", "encoding"]
        assert {"finding groups", "publishing", "writing"} <= one["stages"].keys()
        assert any(stage.startswith("verifying") for stage in one["stages"])
        total = sum(seconds["wall"] for seconds in one["stages"].values())
        assert one["wall s"] + one["method, wall s"] == pytest.approx(total, abs=0.02)
        assert one["CPU / pyarrow"] > 0
        assert one["peak memory, MB"] > 50
    assert [one["requirements"] for one in figures["growth"]] == ["k"]


def test_a_table_is_shown():
    done = benchmark("release", "--rows", "1000", "--requirements", "k")
    assert (done.returncode, done.stderr) == (0, "")
    assert "/ pyarrow" in done.stdout
    assert "verifying" in done.stdout


def test_unknown_names():
    for options, words in ((("--requirements", "l"), "unknown requirement 'l'"), (("--methods", "colour"), "colour")):
        done = benchmark("release", "--rows", "1000", *options)
        assert done.returncode == 2
        assert words in done.stderr
    with pytest.raises(ParameterError):
        run([1000], 0, ["l"], ["mondrian"])


def test_the_same_seed_makes_the_same_file(tmp_path):
    paths = [tmp_path / name for name in ("one.csv", "same.csv", "other.csv")]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        make_file(path, 500, seed)
    one, same, other = (path.read_bytes() for path in paths)
    assert one == same != other
    assert arrow_csv.read_csv(paths[0]).num_rows == 500


def test_stages_are_timed_separately():
    stages = StageTimer()
    stages.begin("reading")
    for step in ("finding", "finding", "publishing"):
        stages.progress(step, 0.5)
    stages.begin(None)
    assert list(stages.seconds) == ["reading", "finding", "publishing"]
    assert all(seconds["wall"] >= 0 for seconds in stages.seconds.values())
