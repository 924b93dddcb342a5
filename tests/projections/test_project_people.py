"""All projected tables publish the same people: rows that one table drops are in none, and nothing reveals them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from standin import Chunks
from test_project import ROWS, K, people, project


class TestTheSamePeople:
    """Rows that one table drops are in no table, and nothing reveals their values."""

    rows: ClassVar = {
        "age": [30] * 6 + [40] * 6 + [50] * 3,
        "dx": [["x"], ["y"], ["x", "y"]] * 4 + [["HIV"]] * 3,
        "job": list("pq") * 7 + ["p"],
    }
    schema = sf.Schema(["age"], ["dx", "job"])
    required: ClassVar = [sf.KAnonymity(2), sf.DistinctLDiversity(2, on="dx")]

    def make(self, rows=None, **options):
        given = {"plan": [["dx"], ["job"]], "method": "lattice", "suppress": "0.2", **options}
        return sf.project(pa.table(rows or self.rows), self.schema, self.required, **given)

    @pytest.mark.parametrize("plan", [[["dx"], ["job"]], [["dx=x", "dx=y", "dx=HIV"], ["job"]]])
    @pytest.mark.parametrize("form", ["csv", "parquet"])
    def test_their_values_occur_nowhere(self, tmp_path, plan, form):
        harmless = {"dx=HIV": ["0"], "dx=x": ["0"]}
        made = self.make(plan=plan, harmless=harmless)
        folder = made.save(tmp_path / "out", internal=tmp_path / "internal.html", format=form)
        assert not [path for path in folder.iterdir() if b"HIV" in path.read_bytes()]
        ages = [sorted(frame["age"].to_pylist()) for frame in made.frames]
        assert ages == [["30"] * 6 + ["40"] * 6] * 2
        assert made.plan.label == "dx=x + dx=y | job"
        assert made.harmless == {"dx=x": ["0"]}
        content = made.to_dict()
        assert [(table["rows"], table["suppressed"]) for table in content["tables"]] == [(12, 3), (12, 3)]
        assert content["rows"] == 15
        assert any("3 rows of 15 were suppressed, the same in every table" in note for note in made.notes)
        assert sf.verify(folder, pa.table(self.rows))

    def test_the_result_is_that_without_the_rows(self):
        made, alone = self.make(), self.make({name: cells[:12] for name, cells in self.rows.items()})
        assert made.ratios == alone.ratios
        assert [frame.equals(other) for frame, other in zip(made.frames, alone.frames, strict=True)] == [True, True]
        assert made.attacks().to_dict() == alone.attacks().to_dict()

    def test_each_table_drops_other_rows(self):
        """Each table alone drops three rows, and together they drop six."""
        rows = {"age": range(12), "a": list("xyzxyzxxxxyz"), "b": list("pqrpppqrppqr")}
        options = {"plan": "a|b", "method": Chunks(3), "schema": sf.Schema(["age"], ["a", "b"])}
        required = [sf.KAnonymity(3), sf.DistinctLDiversity(2)]
        made = project(pa.table(rows), principles=required, suppress="0.5", **options)
        assert [sorted(set(frame["age"].to_pylist())) for frame in made.frames] == [["[0, 2]", "[9, 11]"]] * 2
        with pytest.raises(
            sf.errors.RequirementError, match=r"all tables must publish the same people.* 3 rows .*of 3 that may be"
        ):
            project(pa.table(rows), principles=required, suppress="0.25", **options)

    def test_a_principle_on_a_bit_that_is_gone(self):
        with pytest.raises(sf.errors.RequirementError, match="same people"):
            sf.project(
                pa.table(self.rows),
                self.schema,
                [*self.required, sf.TCloseness(1, on="dx=HIV")],
                plan=[["dx"], ["job"]],
                method="lattice",
                suppress="0.2",
            )

    def test_with_a_search(self, tmp_path):
        made = project(principles=[K, sf.DistinctLDiversity(3, on="pay")], suppress="0.5", alpha="0.5")
        dropped = {release.suppressed for release in made.releases}
        assert len(dropped) == 1
        assert dropped != {0}
        assert made.table.rows == ROWS - dropped.pop() == len(made.attacker_views[0].of_row)
        assert sf.verify(made.save(tmp_path / "out"), people())


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("pq")), min_size=6, max_size=18))
def test_tables_are_of_the_same_people(secrets):
    """Chunks groups all tables by age in the same way, so their cells show the same people."""
    a, b = zip(*secrets, strict=True)
    data = pa.table({"age": range(len(a)), "a": a, "b": b})
    required = [sf.KAnonymity(3), sf.DistinctLDiversity(2)]
    options = {"plan": "a|b", "suppress": "0.6", "method": Chunks(3)}
    try:
        made = sf.project(data, sf.Schema(["age"], ["a", "b"], kinds={"age": "numeric"}), required, **options)
    except sf.errors.RequirementError:
        return
    one, other = (sorted(frame["age"].to_pylist()) for frame in made.frames)
    assert one == other
    assert len(one) >= len(a) - int(Fraction("0.6") * len(a))
    assert all(release.audit.holds for release in made.releases)
