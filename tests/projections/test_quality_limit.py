"""The limit on the discernibility of every projected table: kept, stated, checked, and an error if there is no such plan."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import csv

import sfumato as sf
from sfumato.anonymization.methods import Grouping, Task
from sfumato.cli import main
from standin import Chunks
from test_project import SCHEMA, K, people
from test_project_folder import PLAN, claim, failing, folder, made, stated, written

__all__ = ["folder", "written"]


def discernibility(frame, rows):
    """By the definition: each published row costs the rows of its group, each other row all rows."""
    sizes = Counter(frame.column("group").to_pylist())
    return sum(size**2 for size in sizes.values()) + (rows - frame.num_rows) * rows


@dataclass(frozen=True)
class WiderForMore(Chunks):
    """Groups of twice as many rows for each further sensitive attribute."""

    name: ClassVar[str] = "wider-for-more"

    def group(self, task: Task, seed: int = 0) -> Grouping:
        return Chunks(self.size * 2 ** (len(task.table.schema.sensitive) - 1)).group(task)


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("size", [3, 7])
def test_the_limit_decides(size, more):
    """48 rows in groups of a size: the very sum of the squares is allowed, and no less."""
    projected = sf.project(people(), SCHEMA, sf.KAnonymity(2), plan=PLAN, method=Chunks(size))
    exact = max(discernibility(frame, 48) for frame in projected.frames)
    options = {"plan": PLAN, "method": Chunks(size), "discernibility": exact + more}
    if more < 0:
        with pytest.raises(sf.errors.RequirementError, match=f"discernibility {exact:,}, above {exact - 1}"):
            sf.project(people(), SCHEMA, sf.KAnonymity(2), **options)
    else:
        found = sf.project(people(), SCHEMA, sf.KAnonymity(2), **options)
        assert found.document.quality.discernibility == [discernibility(frame, 48) for frame in found.frames]
        assert f"{exact:,}, required at most {exact + more}" in repr(pickle.loads(pickle.dumps(found))).replace("  ", " ")


def test_the_search_avoids_tables_above_the_limit():
    """One attribute in a table allows groups of 6, two groups of 12, and so on: 48·12 allows two, and no more."""
    options = {"alpha": 1, "beta": 1, "method": WiderForMore(6)}
    assert len(sf.project(people(), SCHEMA, K, **options).plan) == 1
    found = sf.project(people(), SCHEMA, K, **options, discernibility=48 * 12)
    assert max(map(len, found.plan.blocks)) == 2
    assert found.plan.label == "sex + title | job + pay"
    with pytest.raises(sf.errors.RequirementError, match="raise discernibility"):
        sf.project(people(), SCHEMA, K, **options, discernibility=48 * 6 - 1)


def test_suppressed_rows_cost_all_rows(tmp_path):
    """Rows that any table drops are in none; each costs the 48 rows of the original."""
    draw = people()
    rare = draw.set_column(draw.column_names.index("town"), "town", pa.array(["Rome", "Oslo"] * 23 + ["Bonn", "Kiel"]))
    schema = sf.Schema(["town"], ["sex", "title", "job", "pay"])
    options = {"plan": PLAN, "method": "lattice", "suppress": "0.1"}
    found = sf.project(rare.drop_columns(["age"]), schema, K, **options, discernibility=10**6)
    dropped = 48 - found.frames[0].num_rows
    assert dropped == 2
    exact = [discernibility(frame, 48) for frame in found.frames]
    assert found.document.quality.discernibility == exact
    assert sf.project(rare.drop_columns(["age"]), schema, K, **options, discernibility=max(exact)).plan == found.plan
    with pytest.raises(sf.errors.RequirementError, match=f"above {max(exact) - 1}"):
        sf.project(rare.drop_columns(["age"]), schema, K, **options, discernibility=max(exact) - 1)
    assert sf.verify(found.save(tmp_path / "out"), rare.drop_columns(["age"]), project={"discernibility": "1e6"})


class TestVerified:
    @pytest.fixture
    def limited(self, tmp_path):
        return made(discernibility="288").save(tmp_path / "limited")

    def test_stated_and_reported(self, limited):
        assert stated(limited)["quality"] == {"discernibility": [288, 288], "wanted": "288", "holds": True}
        assert "is at most 288" in (limited / "report.html").read_text(encoding="utf-8")
        found = sf.verify(limited, people(), project={"discernibility": 288})
        assert found
        assert {check.name: check.holds for check in found.checks}["discernibility"] is True

    @pytest.mark.parametrize(
        "change",
        [{"wanted": "287"}, {"holds": False}, {"discernibility": [287, 288]}, {"discernibility": [288]}, {"wanted": "many"}],
    )
    def test_a_changed_claim(self, limited, change):
        claim(limited, lambda content: content["quality"].update(change))
        assert "discernibility" in failing(sf.verify(limited))

    def test_expectations(self, limited, folder):
        assert failing(sf.verify(limited, project={"discernibility": 289})) == ["declared"]
        assert "states no limit" in sf.verify(folder, project={"discernibility": 288}).failures

    def test_without_a_limit_nothing_is_stated(self, folder):
        assert "quality" not in stated(folder)


@pytest.mark.parametrize("bad", [0, -1, "many", True])
def test_invalid_limits(bad):
    with pytest.raises(sf.errors.ParameterError, match="discernibility"):
        sf.project(people(), SCHEMA, K, plan=PLAN, method=Chunks(6), discernibility=bad)


def test_by_config_and_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = people().drop_columns(["name"])
    csv.write_csv(data, "people.csv")
    columns = "\n".join(f'[columns.{name}]\nrole = "sensitive"' for name in ("sex", "title", "job", "pay"))
    text = f"""\
[data]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
[columns.town]
role = "quasi-identifier"
{columns}
[[principles]]
name = "k-anonymity"
k = 4
[method]
name = "mondrian"
[project]
plan = [["sex", "title"], ["job", "pay"]]
discernibility = 5
"""
    Path("sfumato.toml").write_text(text, encoding="utf-8")
    run = CliRunner().invoke(main, ["project", "sfumato.toml", "--output", "out"])
    assert run.exit_code == 1 and "discernibility" in run.output + run.stderr
    run = CliRunner().invoke(main, ["project", "sfumato.toml", "--discernibility", "2304", "--output", "out"])
    assert run.exit_code == 0, run.output
    assert json.loads((tmp_path / "out/release.json").read_text(encoding="utf-8"))["quality"]["wanted"] == "2304"
    assert CliRunner().invoke(main, ["verify", "out", "--config", "sfumato.toml"]).exit_code == 1
    text = text.replace("discernibility = 5", "discernibility = -5")
    Path("sfumato.toml").write_text(text, encoding="utf-8")
    run = CliRunner().invoke(main, ["project", "sfumato.toml", "--output", "out"])
    assert run.exit_code == 2 and "project.discernibility" in run.output + run.stderr
