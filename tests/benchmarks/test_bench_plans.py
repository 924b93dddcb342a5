"""The benchmark of projections runs, tells what it should, and draws only from its tables."""

from __future__ import annotations

import csv
import json
from fractions import Fraction

import numpy as np
import pytest

import commandline
import sfumato as sf
from benchmarks import several as settings
from benchmarks.draw_plans import PICTURES, draw
from benchmarks.plan_figures import QUICK, Subject
from benchmarks.transformations import Transformations
from sfumato.errors import FileError
from sfumato.projections import Codip

ATTRIBUTES = ["education", "workclass", "income", "graduate", "household=18-", "household=married"]


def benchmark(*arguments):
    return commandline.benchmark(*arguments, env={"SFUMATO_DATA": ""})


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The quick figures, made by the command line from the synthetic census."""
    folder = tmp_path_factory.mktemp("figures") / "below"
    done = benchmark("projections", "--quick", "--out", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert "CPU / lexsort" in done.stdout
    assert all(str(folder / name) in done.stdout for name in PICTURES)
    return folder


def table(folder, name):
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_table_has_its_picture(figures):
    for name in PICTURES:
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
    assert [row["run"] for row in rows if row["knee"]] == ["mended"]


def test_no_plan_is_above_its_thresholds(figures):
    rows = table(figures, "projection_attributes.csv")
    assert {int(row["size"]) for row in rows} == {2, 3, 4, 5, 6}
    found = [row for row in rows if row["tables"]]
    assert found
    for row in found:
        assert float(row["association_loss"]) <= 0.3
        assert float(row["information_exposure"]) <= 0.3
        assert int(row["tables"]) <= int(row["size"])


def test_more_tables_and_more_room_are_never_less_close(figures):
    """Theorem 1: a projection is at least as close as the table; and a wider limit has all that a narrower one has."""
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
        assert float(row["link"]) <= float(row["mended"])


def test_pictures_are_drawn_from_the_tables_alone(figures, tmp_path):
    for name in PICTURES:
        (tmp_path / name).write_bytes((figures / name).read_bytes())
    for path in draw(tmp_path):
        assert path.read_bytes() == (figures / path.name).read_bytes()
    (tmp_path / "projection_closeness.csv").unlink()
    with pytest.raises(FileError, match="not there"):
        draw(tmp_path)


def test_the_cost_alone(tmp_path):
    done = benchmark("projections", "--cost-only", "--json", "--out", str(tmp_path / "none"))
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["rows"], told["attributes"], told["transformations"], told["goal: CPU s"]) == (5000, 6, 36, None)
    assert told["CPU / lexsort"] > 0
    assert not (tmp_path / "none").exists()


def by_nodes(table, levels):
    """Each row's group: rows are together if all their nodes are."""
    columns = [table.column(name) for name in table.schema.quasi_identifiers]
    nodes = [column.paths[column.codes, level].tolist() for column, level in zip(columns, levels, strict=True)]
    known = {}
    return [known.setdefault(key, len(known)) for key in zip(*nodes, strict=True)]


def test_transformations_are_those_that_an_audit_finds(monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", "")
    subject = Subject.of(QUICK)
    assert list(subject.dependence.names) == ATTRIBUTES
    names = ("education", "household=married")
    found = Transformations.of(subject.table, names, k=2)
    assert found.count == 6 * 2 * 3
    for place in np.linspace(0, len(found.levels) - 1, 4).astype(int):
        groups = by_nodes(subject.table, found.levels[place])
        assert len(set(zip(groups, found.groups(found.levels[place]).tolist(), strict=True))) == len(set(groups))
        sizes = np.bincount(groups)
        assert found.smallest[place] == sizes.min() >= 2
        assert found.discernibility[place] == sum(int(size) ** 2 for size in sizes)
        data = subject.table.data.append_column("group", [[str(group) for group in groups]])
        schema = sf.Schema(group="group", sensitive=names)
        levels = [each.measurement.level for each in sf.audit(data, schema, sf.TCloseness(1))]
        assert found.closeness[place] == tuple(levels)
    every = range(len(found.levels))
    assert found.best(names) == min(max(found.closeness[place]) for place in every) == 0
    assert found.best(("education",), k=10**6) is None
    assert found.best_of([("education",), names], k=10**6) is None
    assert found.best_levels(names, k=10**6) is None
    assert found.finest(10**6) is None


@pytest.mark.data
def test_the_rows_and_secrets_of_the_paper(real_data, monkeypatch):
    monkeypatch.setenv("SFUMATO_DATA", str(real_data))
    found = settings.several()
    assert found.table.rows == 98_839
    subject = Subject(found.source, sf.projections.encode_sets(found.table).table, QUICK, lambda _: None)
    assert len(subject.dependence.names) == 15
    path = Codip(subject.dependence).run(Fraction(1)).plans
    (nine,) = [weighed for weighed in path if len(weighed.plan) == 9]
    assert round(nine.association_loss, 2) == 0.19, "the paper: Γ_β falls to 0.15 as Γ_α rises to 0.19"
    assert round(nine.information_exposure, 2) == 0.14


def test_labels_of_households():
    said = settings.household
    assert said("Householder") == frozenset()
    assert said("Child <18 ever marr not in subfamily") == {"18-", "descendent", "married"}
    assert said("Child 18+ never marr RP of subfamily") == {"descendent", "subfamily"}
    assert said("Other Rel 18+ spouse of subfamily RP") == {"married", "subfamily"}
    assert said("Child under 18 of RP of unrel subfamily") == {"18-", "descendent", "subfamily"}
