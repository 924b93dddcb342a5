"""The trade-off curve and its knee."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest
from hypothesis import given

import naive_plans as naive
import sfumato as sf
from small_plans import columns, dependence_of

NEAR = 1e-9


@given(columns(most=5))
def test_the_points_are_the_plans_that_none_beats(people):
    comp, ref = dependence_of(people), naive.Table(people)
    curve = sf.projections.tradeoff(comp)
    ratios = {
        (round(float(ref.association_loss(plan)), 9), round(float(ref.information_exposure(plan)), 9))
        for plan in naive.partitions(ref.names)
    }
    front = sorted(
        (a, b) for a, b in ratios if not any(c <= a + NEAR and d <= b + NEAR and (a, b) != (c, d) for c, d in ratios)
    )
    points = [(w.association_loss, w.information_exposure) for w in curve.points]
    assert points == pytest.approx([pytest.approx(point, abs=1e-8) for point in front])
    assert curve.exhaustive
    check_knee(curve)
    for point in (*curve.points, *curve.merges):
        assert point == comp.ratios(point.plan)


def check_knee(curve):
    """The knee is the point furthest below the chord, or balanced if none is below; its thresholds admit it."""
    assert curve.knee in curve.points
    assert curve.knee.association_loss <= curve.alpha + NEAR
    assert curve.knee.information_exposure <= curve.beta + NEAR
    first, last = curve.points[0], curve.points[-1]
    if len(curve.points) > 1:
        lost = last.association_loss - first.association_loss
        exposed = first.information_exposure - last.information_exposure
        rescaled = {
            point.plan: (
                (point.association_loss - first.association_loss) / lost,
                (point.information_exposure - last.information_exposure) / exposed,
            )
            for point in curve.points
        }
        depth = {plan: 1 - loss - exposure for plan, (loss, exposure) in rescaled.items()}
        if "no knee" in curve.explanation:
            assert max(depth.values()) <= 1e-6
            assert max(rescaled[curve.knee.plan]) <= min(map(max, rescaled.values())) + 1e-6
        else:
            assert depth[curve.knee.plan] >= max(depth.values()) - 1e-6
    assert "α = " in curve.explanation


@given(columns(least=3, most=5))
def test_merges_go_from_apart_to_whole(people):
    comp = dependence_of(people)
    merges = sf.projections.tradeoff(comp).merges
    assert [len(ratios.plan) for ratios in merges] == list(range(len(people), 0, -1))
    assert merges[0].plan == sf.projections.Plan.singletons(comp.names)
    assert merges[-1].plan == sf.projections.Plan.single_table(comp.names)


def test_a_line_and_a_point_have_no_knee():
    line = sf.projections.tradeoff(dependence_of({"a": list("xxyyz"), "b": list("xyyyz")}))
    assert len(line.points) == 2
    assert line.knee.plan == sf.projections.Plan.singletons("ab"), "of two ends the one that exposes less"
    assert "no knee" in line.explanation
    point = sf.projections.tradeoff(dependence_of({"a": list("xxyy"), "b": list("xyxy")}))
    assert [ratios.plan for ratios in point.points] == [sf.projections.Plan.singletons("ab")]
    assert "no trade-off" in point.explanation


@pytest.fixture(scope="module")
def workers(real_data):
    """Census-Income (KDD): people who work in an industry, with the attributes of Fang, Ashrafi & Ng (2011)."""
    raw = pyarrow.csv.read_csv(real_data / "census_income_kdd" / "census_income_train.csv.gz")
    raw = raw.filter(pc.not_equal(raw["major_industry"], "Not in universe or children"))
    names = ["class_of_worker", "education", "major_industry", "employment_stat", "own_business", "income_class"]
    data = {name: raw[name] for name in [*names, "major_occupation"]}
    for name in ("wage_per_hour", "dividends", "capital_gains", "capital_losses"):
        data[name] = pc.greater(raw[name], 0)
    for name, part in [("married", "Married"), ("child", "Child"), ("minor", "<18"), ("subfamily", "RP of")]:
        source = "marital_status" if name == "married" else "hh_family_detail"
        data[name] = pc.match_substring(raw[source], part)
    return sf.Table(pa.table(data), sf.Schema(sensitive=list(data), kinds=dict.fromkeys(data, "categorical")))


@pytest.mark.data
def test_fifteen_real_attributes(workers):
    """As in the paper's Fig. 5, most of the exposure goes for a small part of the association."""
    assert workers.rows == 98_839
    comp = sf.projections.Dependence.of(workers)
    assert len(comp.names) == 15
    curve = sf.projections.tradeoff(comp)
    assert not curve.exhaustive
    losses, exposures = zip(*((w.association_loss, w.information_exposure) for w in curve.points), strict=True)
    assert (losses[0], exposures[0], losses[-1], exposures[-1]) == (0.0, 1.0, 1.0, 0.0)
    assert list(losses) == sorted(losses)
    assert list(exposures) == sorted(exposures, reverse=True)
    assert curve.knee.association_loss < 0.25
    assert curve.knee.information_exposure < 0.2
    check_knee(curve)
    search = sf.projections.search_plans(comp, "0.2", "0.5")
    assert search.best is not None
    assert len(search.best.plan) < 7
