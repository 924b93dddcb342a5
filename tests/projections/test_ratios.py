"""The ratios of a plan, measured by the verifier's own code and by that which finds plans: the two share nothing."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.principles import in_projection
from sfumato.projections.checks.dependence_measurement import DependenceMeasurement

VALUES = ["a", "b", "(missing)", None]


@st.composite
def tables(draw):
    """A few attributes of a few people, some of the values harmless, and a plan over them."""
    count, rows = draw(st.integers(2, 4)), draw(st.integers(1, 12))
    names = [f"x{i}" for i in range(count)]
    column = st.lists(st.sampled_from(VALUES), min_size=rows, max_size=rows)
    data = {name: pa.array(draw(column), pa.string()) for name in names}
    table = sf.Table(pa.table(data), sf.Schema(sensitive=names))
    labels = {name: [table.column(name).value(code) for code in range(table.column(name).domain)] for name in names}
    harmless = {name: draw(st.lists(st.sampled_from(labels[name]), unique=True)) for name in names}
    places = draw(st.lists(st.integers(0, count - 1), min_size=count, max_size=count))
    blocks = [[name for name, place in zip(names, places, strict=True) if place == at] for at in range(count)]
    return table, harmless, [block for block in blocks if block]


@given(tables())
def test_two_ways_agree(case):
    table, harmless, plan = case
    dependence = sf.projections.Dependence.of(table, harmless=harmless)
    shared = DependenceMeasurement.of([table], harmless)
    assert shared.entropy == pytest.approx(dependence.entropy, abs=1e-9)
    assert shared.information == pytest.approx(dependence.information, abs=1e-9)
    assert shared.exposure == pytest.approx(dependence.exposure, abs=1e-9)
    ratios = dependence.ratios(sf.projections.Plan.of(plan, dependence.names))
    assert shared.ratios(plan) == pytest.approx(
        {"alpha": ratios.association_loss, "beta": ratios.information_exposure}, abs=1e-6
    )


@given(tables())
def test_tables_apart_are_measured_as_one(case):
    table, harmless, plan = case
    apart = [sf.Table(table.data.select(block), table.schema.projected(block)) for block in plan]
    whole, parts = (
        DependenceMeasurement.of([table], harmless).ratios(plan),
        DependenceMeasurement.of(apart, harmless).ratios(plan),
    )
    assert parts == pytest.approx(whole, abs=1e-9)


@pytest.mark.parametrize(
    ("on", "block", "expected"),
    [
        (None, ["job", "dx=a", "dx=b"], [None, ("dx=a", "dx=b")]),
        ("each", ["job", "dx=a"], ["each"]),
        ("whole", ["job"], ["whole"]),
        ("job", ["job", "pay"], ["job"]),
        ("job", ["pay"], []),
        ("dx", ["dx=a", "dx=b", "job"], [("dx=a", "dx=b")]),
        ("dx", ["dx=a"], None),
        (("job", "dx"), ["job", "dx=a", "dx=b"], [("job", "dx=a", "dx=b")]),
        (("job", "pay"), ["pay"], None),
        (("job", "pay"), ["dx=a"], []),
    ],
)
def test_what_a_principle_comes_to(on, block, expected):
    measured = in_projection(sf.TCloseness("0.1", on=on), block, {"dx": ("dx=a", "dx=b")})
    assert (None if measured is None else [principle.on for principle in measured]) == expected
