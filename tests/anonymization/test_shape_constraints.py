"""What glaze is told of each shape: groups that it regards as fine satisfy the requirement, and releases hold and verify."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization.methods.part_search import failing_groups
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.principles import View
from sfumato.principles.shapes import SHAPES

SHAPED = [shape for shape in SHAPES if shape != "star"]
DISTANCES = {
    "numbers": ({}, sf.distances.Absolute(), 1),
    "points": ({}, sf.distances.Lp(p=1, ranges={"s": [0, 12], "t": [0, 12]}), "0.1"),
    "circle": ({}, sf.distances.Lp(p=2, ranges={"s": [0, 12], "t": [0, 12]}), "0.1"),
    "texts": ({"s": "text"}, sf.distances.Jaro(), "0.3"),
}
"""An order, a plane, and two distances without either."""


def table_of(draw, kind, rows):
    kinds, distance, _ = DISTANCES[kind]
    names = ["ann", "anna", "hannah", "bob", "bobby", "rob"]
    secrets = {"s": draw.choice(names, rows) if kind == "texts" else draw.integers(0, 13, rows)}
    if isinstance(distance, sf.distances.Lp):
        secrets["t"] = draw.integers(0, 13, rows)
    frame = pa.table({"age": draw.integers(20, 60, rows), "zip": draw.integers(0, 9, rows), **secrets})
    return frame, sf.Schema(["age", "zip"], list(secrets), kinds=kinds, distance=distance)


@pytest.mark.parametrize("shape", SHAPED)
@pytest.mark.parametrize("kind", DISTANCES)
@settings(max_examples=settings.default.max_examples // 6)
@given(seed=st.integers(0, 2**31), groups=st.integers(1, 8), delta=st.sampled_from(["0", "0.4", "0.5", "2/3", "0.8"]))
def test_what_the_search_regards_as_fine_is(kind, shape, seed, groups, delta):
    draw = np.random.default_rng(seed)
    frame, schema = table_of(draw, kind, 24)
    principle = sf.Dissimilarity(DISTANCES[kind][2], delta, shape=shape)
    task = sf.anonymization.Task(sf.Table(frame, schema), (principle,))
    labels = np.unique(draw.integers(0, groups, 24), return_inverse=True)[1]
    fine, holds = ~failing_groups(SearchProblem.of(task), labels), task.satisfied(labels)
    assert (holds | ~fine).all(), "a group without excess satisfies the requirement"
    if kind == "numbers":
        sizes = np.bincount(labels)
        large = sizes >= SearchProblem.of(task).constraints.least
        assert (fine[large] == holds[large]).all(), "along an order the search knows the requirement exactly"


RELEASED = [*((shape, "numbers") for shape in SHAPED), ("ball", "points"), ("clique", "texts")]


@pytest.mark.parametrize(("shape", "kind"), RELEASED)
def test_releases_hold_and_verify(shape, kind, tmp_path):
    frame, schema = table_of(np.random.default_rng(5), kind, 200)
    if kind == "numbers":  # steps that chains do not bridge
        frame = frame.set_column(2, "s", pa.array(np.random.default_rng(6).integers(0, 40, 200) * 5))
    release = sf.anonymize(frame, schema, sf.Dissimilarity(DISTANCES[kind][2], "0.4", 4, shape=shape), seed=1)
    assert release.audit.holds
    assert release.audit.groups.count > 10, "the table is not merged into a few groups"
    found = sf.verify(release.save(tmp_path / "out"), original=frame)
    assert found.holds, found
    assert f"shape = {shape}" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("shape", ["ball", "clique"])
@given(st.lists(st.integers(0, 9), min_size=2, max_size=9), st.sampled_from(["0.2", "0.5", "2/3", "0.8", "1"]))
def test_feasibility_of_monotone_shapes_is_decided(shape, values, delta):
    """The table as one group decides: there is nothing between guaranteed and impossible."""
    table = sf.Table(pa.table({"s": values}), sf.Schema(sensitive=["s"]))
    principle = sf.Dissimilarity(1, delta, 2, shape=shape)
    found = sf.feasibility(table, None, principle)
    as_one = principle.holds(View(table).as_one_group())
    assert found.verdict == ("guaranteed" if as_one else "impossible")


@pytest.mark.parametrize("method", ["mondrian", "lattice"])
def test_other_methods_serve_balls(method):
    frame, schema = table_of(np.random.default_rng(2), "numbers", 300)
    release = sf.anonymize(frame, schema, sf.Dissimilarity(0, "0.6", 4, shape="ball"), method=method, seed=1)
    assert release.audit.holds
    assert release.audit.groups.count > 1


def test_xcolor_refuses_other_shapes():
    frame, schema = table_of(np.random.default_rng(2), "numbers", 30)
    with pytest.raises(sf.errors.ParameterError, match="the shape star"):
        sf.anonymize(frame, schema, sf.Dissimilarity(0, "0.6", 4, shape="ball"), method="xcolor")
