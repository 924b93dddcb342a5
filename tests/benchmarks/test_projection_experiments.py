"""The benchmark of projections, and the experiments of Fang, Ashrafi & Ng (2011)."""

from __future__ import annotations

import csv
import json
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from benchmarks.datasets.income_census import household, income_census
from benchmarks.experiments.plan_tables import QUICK, Subject
from benchmarks.experiments.plotting import draw_all
from benchmarks.experiments.projection_plots import PLOTS
from benchmarks.experiments.transformations import Transformations
from commandline import benchmark_without_data as benchmark
from sfumato.errors import FileError
from sfumato.projections import Codip

ATTRIBUTES = ["education", "workclass", "income", "graduate", "household=18-", "household=married"]


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The quick figures of the command line on the synthetic census."""
    folder = tmp_path_factory.mktemp("figures") / "new"
    done = benchmark("projection-figures", "--quick", "--out", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert all(str(folder / name) in done.stdout for name in PLOTS)
    return folder


def table(folder, name):
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_table_has_a_plot(figures):
    for name in PLOTS:
        rows = table(figures, name)
        assert {row["source"] for row in rows} == {"synthetic census"}
        assert {row["attributes"] for row in rows} == {str(len(ATTRIBUTES))}
        assert (figures / name).with_suffix(".svg").read_text(encoding="utf-8").count("<svg") == 1


def test_a_merge_loses_less_and_exposes_more(figures):
    rows = table(figures, "projection_tradeoff.csv")
    path = [row for row in rows if row["run"] == "as printed"]
    assert [int(row["tables"]) for row in path] == [6, 5, 4, 3, 2, 1]
    losses = [float(row["association_loss"]) for row in path]
    assert (losses[0], losses[-1]) == (1, 0)
    assert losses == sorted(losses, reverse=True)
    exposures = [float(row["information_exposure"]) for row in path]
    assert (exposures[0], exposures[-1]) == (0, 1)
    assert exposures == sorted(exposures)
    assert [row["run"] for row in rows if row["knee"]] == ["corrected"]


def test_no_plan_is_above_its_thresholds(figures):
    rows = table(figures, "projection_attributes.csv")
    assert {int(row["size"]) for row in rows} == {2, 3, 4, 5, 6}
    with_plan = [row for row in rows if row["tables"]]
    assert with_plan
    for row in with_plan:
        assert float(row["association_loss"]) <= 0.3
        assert float(row["information_exposure"]) <= 0.3
        assert int(row["tables"]) <= int(row["size"])


def test_more_tables_and_a_wider_limit_are_never_less_close(figures):
    """Theorem 1: a projection is at least as close as the table. A wider limit allows all that a narrower one does."""
    rows = [row for row in table(figures, "projection_closeness.csv") if row["closeness"]]
    reached = {(row["discernibility"], row["chosen"], row["tables"]): float(row["closeness"]) for row in rows}
    for (most, chosen, tables), closeness in reached.items():
        assert closeness <= reached[most, "by dependence", "1"]
        assert closeness >= reached[most, "by dependence", str(len(ATTRIBUTES))]
        for (wider, same, number), other in reached.items():
            if chosen == same == "by dependence" and tables == number and float(wider) >= float(most):
                assert other <= closeness
    counts = [int(row["transformations"]) for row in table(figures, "projection_anonymizations.csv")]
    assert counts == sorted(counts, reverse=True)


def test_attacks_follow_the_tables(figures):
    for row in table(figures, "projection_attacks.csv"):
        pairs = len(ATTRIBUTES) * (len(ATTRIBUTES) - 1)
        assert int(row["join_pairs"]) + int(row["inference_pairs"]) == pairs
        assert float(row["join_gain"]) >= 0
        assert float(row["link"]) <= float(row["corrected_bound"])


def test_plots_need_the_tables_only(figures, tmp_path):
    for name in PLOTS:
        (tmp_path / name).write_bytes((figures / name).read_bytes())
    for path in draw_all(tmp_path, PLOTS):
        assert path.read_bytes() == (figures / path.name).read_bytes()
    (tmp_path / "projection_closeness.csv").unlink()
    with pytest.raises(FileError, match="not found"):
        draw_all(tmp_path, PLOTS)


def test_cost_of_a_plan():
    done = benchmark("projections", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)
    assert (figures["rows"], figures["attributes"], figures["transformations"], figures["goal: CPU s"]) == (
        5000,
        6,
        36,
        None,
    )
    assert figures["CPU / lexsort"] > 0


def by_nodes(table, levels):
    """Return the group of each row: rows with the same nodes share a group."""
    columns = [table.column(name) for name in table.schema.quasi_identifiers]
    nodes = [column.paths[column.codes, level].tolist() for column, level in zip(columns, levels, strict=True)]
    groups = {}
    return [groups.setdefault(key, len(groups)) for key in zip(*nodes, strict=True)]


def test_transformations_agree_with_an_audit(monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", "")
    subject = Subject.read(QUICK)
    assert list(subject.dependence.names) == ATTRIBUTES
    names = ("education", "household=married")
    transformations = Transformations.measure(subject.table, names, k=2)
    assert transformations.count == 6 * 2 * 3
    for place in np.linspace(0, len(transformations.levels) - 1, 4).astype(int):
        groups = by_nodes(subject.table, transformations.levels[place])
        assert len(set(zip(groups, transformations.groups(transformations.levels[place]).tolist(), strict=True))) == len(
            set(groups)
        )
        sizes = np.bincount(groups)
        assert transformations.smallest[place] == sizes.min() >= 2
        assert transformations.discernibility[place] == sum(int(size) ** 2 for size in sizes)
        data = subject.table.data.append_column("group", [[str(group) for group in groups]])
        schema = sf.Schema(group="group", sensitive=names)
        levels = [each.measurement.level for each in sf.audit(data, schema, sf.TCloseness(1))]
        assert transformations.closeness[place] == tuple(levels)
    every = range(len(transformations.levels))
    assert transformations.best(names) == min(max(transformations.closeness[place]) for place in every) == 0
    assert transformations.best(("education",), k=10**6) is None
    assert transformations.best_of([("education",), names], k=10**6) is None
    assert transformations.best_levels(names, k=10**6) is None
    assert transformations.finest(10**6) is None


@pytest.mark.data
def test_the_rows_and_attributes_of_the_paper(real_data, monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", str(real_data))
    census = income_census()
    assert census.table.rows == 98_839
    subject = Subject(census.source, sf.projections.encode_sets(census.table).table, QUICK, lambda _: None)
    assert len(subject.dependence.names) == 15
    path = Codip(subject.dependence).run(Fraction(1)).plans
    (nine,) = [ratios for ratios in path if len(ratios.plan) == 9]
    assert round(nine.association_loss, 2) == 0.19, "the paper: Γ_β falls to 0.15 as Γ_α rises to 0.19"
    assert round(nine.information_exposure, 2) == 0.14


def test_labels_of_households():
    assert household("Householder") == frozenset()
    assert household("Child <18 ever marr not in subfamily") == {"18-", "descendent", "married"}
    assert household("Child 18+ never marr RP of subfamily") == {"descendent", "subfamily"}
    assert household("Other Rel 18+ spouse of subfamily RP") == {"married", "subfamily"}
    assert household("Child under 18 of RP of unrel subfamily") == {"18-", "descendent", "subfamily"}
