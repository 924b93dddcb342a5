"""The experiments of Wang & Liu (2010) and the settings that they use."""

from __future__ import annotations

import csv
import os

import pytest

import commandline
import sfumato as sf
from benchmarks.costs.anonymize_cost import GOALS, run
from benchmarks.datasets import survey
from benchmarks.experiments.proximity_plots import draw
from commandline import benchmark_without_data as benchmark
from sfumato.errors import FileError, ParameterError

COMMON = ["source", "rows", "method", "against", "epsilon", "delta", "k"]
RESULT = ["principle", "groups", "violating_groups", "violating_rows"]
COLUMNS = {
    "vulnerability.csv": ["source", "rows", "norm", "epsilon", "delta", "groups", "breached", "vulnerability"],
    "quality.csv": [
        *COMMON, "s", "qd", "relative_error", "median_error", "bounded_error", "pooled_error",
        "zero_queries", "loss", *RESULT,
    ],
    "cost.csv": [*COMMON, "cpu_seconds", *RESULT],
}  # fmt: skip


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The quick figures of the command line on the synthetic census."""
    folder = tmp_path_factory.mktemp("figures") / "new"
    done = benchmark("proximity-figures", "--rows", "2000", "--quick", "--out", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 6
    return folder


def table(folder, name):
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", COLUMNS)
def test_tables_have_their_columns(figures, name):
    rows = table(figures, name)
    assert rows
    assert list(rows[0]) == COLUMNS[name]
    assert {row["source"] for row in rows} == {"synthetic census"}
    assert (figures / name).with_suffix(".svg").read_text(encoding="utf-8").count("<svg") == 1


def test_vulnerability_grows_with_epsilon_and_delta(figures):
    rows = table(figures, "vulnerability.csv")
    assert {row["norm"] for row in rows} == {"L1", "L2"}
    share = {(row["norm"], row["epsilon"], row["delta"]): float(row["vulnerability"]) for row in rows}
    for (norm, epsilon, delta), one in share.items():
        assert 0 <= one <= 1
        for (other_norm, wider, stricter), other in share.items():
            if norm == other_norm and float(epsilon) <= float(wider) and float(delta) <= float(stricter):
                assert one <= other


def test_quality_of_every_method(figures):
    rows = table(figures, "quality.csv")
    assert {row["method"] for row in rows} == {"glaze", "mondrian", "xcolor"}
    assert {row["against"] for row in rows} == {"epsilon", "delta", "k", "s"}
    for row in rows:
        assert float(row["relative_error"]) >= 0
        assert 0 <= float(row["loss"]) <= 1
        if row["method"] == "glaze":
            assert (row["principle"], row["violating_groups"]) == ("dissimilarity", "0")
        if row["principle"] != "dissimilarity":
            assert row["method"] == "mondrian"
    errors = {(r["method"], r["qd"]): float(r["relative_error"]) for r in rows if (r["against"], r["k"]) == ("k", "10")}
    assert errors["glaze", "1"] < errors["xcolor", "1"]


def test_cost_counts_rows(figures):
    rows = table(figures, "cost.csv")
    assert {row["rows"] for row in rows if row["method"] == "glaze"} == {"1000", "2000"}
    assert all(float(row["cpu_seconds"]) >= 0 for row in rows)


def test_plots_need_the_tables_only(figures, tmp_path):
    copy = tmp_path / "cost.csv"
    copy.write_bytes((figures / "cost.csv").read_bytes())
    (again,) = draw(tmp_path, ["6"])
    assert again.read_bytes() == (figures / "cost.svg").read_bytes()
    with pytest.raises(FileError, match="not found"):
        draw(tmp_path, ["4"])


def test_without_matplotlib(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {"SFUMATO_DATA": "", "PYTHONPATH": path}
    done = commandline.benchmark("proximity-figures", "--out", str(tmp_path / "out"), env=env)
    assert done.returncode == 2
    assert "sfumato[figures]" in done.stderr
    assert not (tmp_path / "out").exists()


def test_missing_data_and_unknown_names(monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", "")
    with pytest.raises(FileError, match="adult"):
        survey.adult()
    with pytest.raises(ParameterError, match="colour"):
        run(1000, all_rows=False, hard=False, adult=False, methods=["colour"])
    done = benchmark("proximity-figures", "--figures", "7", "--tables-only")
    assert done.returncode == 2
    assert "unknown figure '7'" in done.stderr


@pytest.mark.data
def test_settings_on_real_data(real_data, monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", str(real_data))
    figures = run(1000, all_rows=False, hard=False, adult=False, methods=["glaze"])
    assert [one["setting"] for one in figures["runs"]] == ["S1", "S3o", "S3i"]
    assert all(one["source"] == "sal_occ" and one["violating groups"] == 0 for one in figures["runs"])
    small, large = survey.income(100).table.data, survey.income(200).table.data
    assert large.slice(0, 100).equals(small)
    assert survey.hard(100).principles == (sf.Dissimilarity("0.15", "0.9", 21),)
    assert survey.composite(100).table.schema.distance == sf.distances.Lp(
        p=1,
        weights={"education": "0.4", "workclass": "0.2", "income50": "0.4"},
        by={"education": "rank", "income50": "rank"},
    )


@pytest.mark.data
def test_adult_is_what_other_tools_anonymize(real_data, monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", str(real_data))
    assert all((setting.name, setting.table.rows) in GOALS for setting in survey.adult())
    small = survey.adult(1000)[0]
    assert len(small.table.schema.quasi_identifiers) == 8
    (age, *_) = [domain for domain in sf.anonymization.Task(small.table, small.principles).domains if domain.name == "age"]
    ages = [int(age.label(place)) for place in range(age.size)]
    assert age.share(0, age.size - 1) == pytest.approx((ages[-1] - ages[0]) / 99)
