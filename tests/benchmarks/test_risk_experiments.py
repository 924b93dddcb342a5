"""The benchmark of disclosure risk, and the experiment of Lebanon et al. (2006)."""

from __future__ import annotations

import csv

import pytest

from benchmarks.costs.risk_cost import measure
from benchmarks.datasets import directories
from benchmarks.experiments.plotting import draw_all
from benchmarks.experiments.risk_plots import PLOTS
from commandline import benchmark_without_data as benchmark
from sfumato.errors import FileError

COMMON = ["source", "consistency", "records", "attributes", "sensitivity", "cells"]
COLUMNS = {
    "risk.csv": [*COMMON, "individuals", "risk"],
    "bound.csv": [*COMMON, "estimated_from", "true_among", "estimated_risk", "true_risk", "below"],
    "independence.csv": [*COMMON, "min_risk", "least_risk", "worse_records"],
}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The quick figures of the command line on the synthetic census."""
    folder = tmp_path_factory.mktemp("figures") / "new"
    done = benchmark("risk-figures", "--quick", "--out", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 5
    return folder


def table(folder, name):
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", COLUMNS)
def test_tables_have_their_columns(figures, name):
    rows = table(figures, name)
    assert list(rows[0]) == COLUMNS[name]
    assert {row["source"] for row in rows} == {"synthetic census"}
    assert {row["consistency"] for row in rows} == {"equality", "similarity"}
    if name in PLOTS:
        assert (figures / name).with_suffix(".svg").read_text(encoding="utf-8").count("<svg") == 1


def test_the_shape_of_figure_1(figures):
    """The risk grows with the cells and falls with the dictionary; e to the power of a sum is above the sum."""
    rows = table(figures, "risk.csv")
    risks = {
        tuple(row[key] for key in ("consistency", "sensitivity", "cells", "individuals")): float(row["risk"]) for row in rows
    }
    for (consistency, sensitivity, cells, size), risk in risks.items():
        for (other, same, more, larger), beside in risks.items():
            if (consistency, sensitivity) == (other, same):
                assert int(cells) > int(more) or size != larger or risk <= beside
                assert cells != more or int(size) > int(larger) or risk >= beside
        assert risk < risks[consistency, "multiplicative", cells, size] or sensitivity == "multiplicative"


def test_no_estimate_is_below_the_true_risk(figures):
    for row in table(figures, "bound.csv"):
        assert row["below"] == "0"
        assert int(row["estimated_from"]) < int(row["true_among"])
        assert float(row["estimated_risk"]) >= float(row["true_risk"])


def test_min_risk_is_never_below_the_least(figures):
    for row in table(figures, "independence.csv"):
        assert float(row["min_risk"]) >= float(row["least_risk"])
        assert (row["min_risk"] == row["least_risk"]) or int(row["worse_records"])


def test_plots_need_the_tables_only(figures, tmp_path):
    for name in COLUMNS:
        (tmp_path / name).write_bytes((figures / name).read_bytes())
    for path in draw_all(tmp_path, PLOTS):
        assert path.read_bytes() == (figures / path.name).read_bytes()
    (tmp_path / "risk.csv").unlink()
    with pytest.raises(FileError, match="not found"):
        draw_all(tmp_path, PLOTS)


@pytest.mark.parametrize("consistency", ["equality", "similarity"])
def test_cost_of_a_risk(monkeypatch, consistency):
    monkeypatch.setenv("SFUMATO_DATA", "")
    one = measure(consistency, 60, 0)
    assert (one["source"], one["consistency"], one["records"]) == ("synthetic census", consistency, 60)
    assert (one["individuals"], one["exact"], one["goal: CPU s"]) == (5000, True, None)
    assert list(one["least risk"]) == ["2", "4", "5", "7"]
    assert one["least risk"]["7"] == pytest.approx(one["risk"])


def test_missing_data(monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", "")
    directories.catalogue.cache_clear()
    with pytest.raises(FileError, match="items"):
        directories.catalogue()


@pytest.mark.data
def test_directories(real_data, monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", str(real_data))
    sizes = {name: (load().num_rows, load().num_columns - 1) for name, load in directories.available_directories().items()}
    assert sizes == {"catalogue": (68_825, 22), "RLdata10000": (10_000, 7), "febrl 4a": (5000, 10)}
    setting = directories.sample_records(directories.febrl(), 50)
    assert setting.records == 50
    assert (setting.matchings[0].match(setting.everything)[2]).all(), "each record is of an individual in the directory"
