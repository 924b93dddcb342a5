"""The benchmarks of anonymizing run, tell what they should, and draw only from their tables."""

from __future__ import annotations

import csv
import json
import os

import pytest

import commandline
import sfumato as sf
from benchmarks import settings
from benchmarks.anonymize import GOALS, run
from benchmarks.draw import draw
from sfumato.errors import FileError, ParameterError

COMMON = ["source", "rows", "method", "against", "epsilon", "delta", "k"]
FOUND = ["principle", "groups", "violating_groups", "violating_rows"]
COLUMNS = {
    "vulnerability.csv": ["source", "rows", "norm", "epsilon", "delta", "groups", "breached", "vulnerability"],
    "quality.csv": [
        *COMMON, "s", "qd", "relative_error", "median_error", "bounded_error", "zero_queries", "loss", *FOUND,
    ],
    "cost.csv": [*COMMON, "cpu_seconds", *FOUND],
}  # fmt: skip


def benchmark(*arguments, **env):
    return commandline.benchmark(*arguments, env={"SFUMATO_DATA": "", **env})


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The quick figures, made by the command line from the synthetic census."""
    folder = tmp_path_factory.mktemp("figures") / "below"
    done = benchmark("figures", "--rows", "2000", "--quick", "--out", str(folder))
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


def test_pictures_are_drawn_from_the_tables_alone(figures, tmp_path):
    copy = tmp_path / "cost.csv"
    copy.write_bytes((figures / "cost.csv").read_bytes())
    (again,) = draw(tmp_path, ["6"])
    assert again.read_bytes() == (figures / "cost.svg").read_bytes()
    with pytest.raises(FileError, match="not there"):
        draw(tmp_path, ["4"])


def test_without_matplotlib(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = benchmark("figures", "--out", str(tmp_path / "out"), PYTHONPATH=path)
    assert done.returncode == 2
    assert "sfumato[figures]" in done.stderr
    assert not (tmp_path / "out").exists()


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


def test_anonymize_shows_a_table():
    done = benchmark("anonymize", "--rows", "1000", "--methods", "mondrian")
    assert (done.returncode, done.stderr) == (0, "")
    assert "S1" in done.stdout
    assert "synthetic census" in done.stdout


def test_what_is_not_there(monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", "")
    with pytest.raises(FileError, match="adult"):
        settings.adult()
    with pytest.raises(ParameterError, match="no method 'colour'"):
        run(1000, everything=False, hard=False, adult=False, methods=["colour"])
    done = benchmark("figures", "--only", "7", "--tables-only")
    assert done.returncode == 2
    assert "no figure '7'" in done.stderr


@pytest.mark.data
def test_settings_on_real_data(real_data, monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", str(real_data))
    figures = run(1000, everything=False, hard=False, adult=False, methods=["glaze"])
    assert [one["setting"] for one in figures["runs"]] == ["S1", "S3o", "S3i"]
    assert all(one["source"] == "sal_occ" and one["violating groups"] == 0 for one in figures["runs"])
    small, large = settings.income(100).table.data, settings.income(200).table.data
    assert large.slice(0, 100).equals(small)
    assert settings.hard(100).principles == (sf.Dissimilarity("0.15", "0.9", 21),)
    assert settings.composite(100).table.schema.distance == sf.distances.Lp(
        p=1,
        weights={"education": "0.4", "workclass": "0.2", "income50": "0.4"},
        by={"education": "rank", "income50": "rank"},
    )


@pytest.mark.data
def test_adult_is_what_other_tools_anonymize(real_data, monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", str(real_data))
    wishes = settings.adult()
    assert all((one.name, one.table.rows) in GOALS for one in wishes)
    few = settings.adult(1000)[0]
    assert len(few.table.schema.quasi_identifiers) == 8
    (age, *_) = [domain for domain in sf.anonymization.Task(few.table, few.principles).domains if domain.name == "age"]
    ages = [int(age.label(place)) for place in range(age.size)]
    assert age.share(0, age.size - 1) == pytest.approx((ages[-1] - ages[0]) / 99)


def test_full_domain_search_beside_a_sort():
    done = benchmark("lattice", "--losses", "mean", "--times", "1", "--times", "2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)
    assert [(one["source"], one["rows"], one["wish"]) for one in figures["runs"][:3]] == [
        ("census", 5000, "k"),
        ("census", 5000, "k, t equal"),
        ("census", 5000, "k, t hierarchical"),
    ]
    assert all(one["suppressed"] <= one["rows"] // 20 and one["CPU s"] > 0 for one in figures["runs"])
    assert [one["times the rows"] for one in figures["growth"]] == [2.0, 2.0, 2.0]
    shown = benchmark("lattice", "--losses", "mean")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "every least loss is proven" in shown.stdout
    assert benchmark("lattice", "--losses", "men").returncode == 2
