"""Curves of a risk: each against enumeration, and against what theory says about their shape."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from risk_shapes import SETTINGS
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.matching.matching import Matching
from sfumato.disclosure.risk_report.risk_curves import by_cells, by_dictionary_size, true_against_estimated
from sfumato.disclosure.sensitivity.sensitivity import Additive, Multiplicative
from sfumato.disclosure.setting import setting_of

CELLS = st.sampled_from("ab") | st.none()


def fits(record, shown, individual):
    """Whether an individual is consistent with a record of which only some attributes are shown."""
    return all(record[j] is None or individual[j] is None or record[j] == individual[j] for j in shown)


def loss(record, shown, dictionary, weights):
    """What a record loses: the weights of what it discloses, over the individuals who fit."""
    fit = sum(fits(record, shown, individual) for individual in dictionary)
    return Fraction(sum(weights[j] for j in shown), fit) if fit else Fraction(0)


def least(records, dictionaries, shares, weights, k):
    """The least risk of k cells of each record, by trying every choice of each."""
    total = Fraction(0)
    for record in records:
        has = [j for j, value in enumerate(record) if value is not None]
        total += min(
            sum(share * loss(record, shown, each, weights) for share, each in zip(shares, dictionaries, strict=True))
            for shown in combinations(has, min(k, len(has)))
        )
    return total / len(records)


@st.composite
def cases(draw, owned=True):
    """Records, and a dictionary that holds each of them, known no better, among others; and weights."""
    m = draw(st.integers(1, 4))
    row = st.lists(CELLS, min_size=m, max_size=m)
    records = draw(st.lists(row, min_size=1, max_size=5))
    others = draw(st.lists(row, min_size=1, max_size=6))
    mine = [[value if draw(st.booleans()) else None for value in record] for record in records] if owned else []
    return records, mine + others, draw(st.lists(st.integers(0, 3), min_size=m, max_size=m))


def frame(rows, start=0):
    columns = {f"a{j}": pa.array([row[j] for row in rows], pa.string()) for j in range(len(rows[0]))}
    return pa.table({"id": [f"i{start + i}" for i in range(len(rows))], **columns})


def setting(case, owned=True, more=(), **parameters):
    """Record i is of individual i, if it is owned; else of nobody whom the dictionary knows."""
    records, individuals, weights = case
    books = [Dictionary(frame(each), identity="id", name=f"d{n}") for n, each in enumerate([individuals, *more])]
    additive = Additive({f"a{j}": weight for j, weight in enumerate(weights)})
    data = frame(records, 0 if owned else 1000)
    kinds = {f"a{j}": "text" for j in range(len(weights))}
    parameters = {"sensitivity": additive, **parameters}
    return setting_of(data, sf.Schema(kinds=kinds), books, identity="id", **parameters)


@given(cases())
def test_risk_by_cells(case):
    """The least risk for each k; it never falls with k, since no ρ is empty."""
    records, individuals, weights = case
    (line,) = by_cells(setting(case)).lines
    for k, risk in enumerate(line.risks):
        assert risk == pytest.approx(float(least(records, [individuals], [1], weights, k)), abs=1e-12)
    assert all(few <= many + 1e-12 for few, many in pairwise(line.risks))


@given(cases(owned=False), st.data())
def test_risk_by_cells_under_a_prior(case, data):
    """Under a prior the choice is made for all dictionaries together; here ρ may be empty, too."""
    records, individuals, weights = case
    other = data.draw(st.lists(st.lists(CELLS, min_size=len(weights), max_size=len(weights)), min_size=1, max_size=5))
    prior = [Fraction(1, 4), Fraction(3, 4)]
    curve = by_cells(setting(case, owned=False, more=[other], prior=prior))
    assert [line.against for line in curve.lines] == ["under the prior", "against d0", "against d1"]
    for k in range(len(weights) + 1):
        wanted = [
            least(records, [individuals, other], prior, weights, k),
            least(records, [individuals], [1], weights, k),
            least(records, [other], [1], weights, k),
        ]
        assert [line.risks[k] for line in curve.lines] == pytest.approx([float(risk) for risk in wanted], abs=1e-12)


@given(cases(), st.integers(0, 9))
def test_parts_of_a_dictionary(case, seed):
    """The last part is the dictionary, and the risk falls from part to part at every k.

    Every part holds the records' individuals, so by Theorem 1 no point lies below y = x: the rule that is best for the
    smaller part has no higher risk against the larger one.
    """
    records, individuals, weights = case
    declared = setting(case)
    (curve,) = by_dictionary_size(declared, ("0.3", "0.6", "1"), seed=seed)
    assert (curve.kept, curve.sampled) == (len(records), None)
    assert curve.individuals == tuple(sorted({max(len(records), math.ceil(len(individuals) * s / 10)) for s in (3, 6, 10)}))
    known = {}
    for k, risks in zip(curve.cells, curve.risks, strict=True):
        known |= {(size, k): risk for size, risk in zip(curve.individuals, risks, strict=True)}
        assert risks[-1] == pytest.approx(float(least(records, [individuals], [1], weights, k)), abs=1e-12)
        assert all(few >= many - 1e-12 for few, many in pairwise(risks))
        if curve.individuals[0] == len(records):
            smallest = least(records, [individuals[: len(records)]], [1], weights, k)
            assert risks[0] == pytest.approx(float(smallest), abs=1e-12)
    (found,) = true_against_estimated(declared, ("0.3", "0.6", "1"), seed=seed)
    assert (found.unmet, found.below, found.why) == (0, 0, None)
    assert len(found.points) == len(curve.cells) * math.comb(len(curve.individuals), 2)
    for point in found.points:
        assert point.supposed < point.truly
        assert point.estimated == pytest.approx(known[point.supposed, point.cells], abs=1e-12)
        assert known[point.truly, point.cells] - 1e-12 <= point.true <= point.estimated + 1e-12
        assert point.emptied == 0


@given(cases(owned=False), st.integers(0, 9))
def test_without_identities(case, seed):
    """Somebody who fits each record as a whole stands in every part, if anybody does: then too all is bounded."""
    records, individuals, _ = case
    (found,) = true_against_estimated(setting(case, owned=False), ("0.2", "0.6", "1"), seed=seed)
    every = range(len(records[0]))
    assert found.unmet == sum(not any(fits(record, every, one) for one in individuals) for record in records)
    for point in found.points:
        assert not point.below or point.emptied
    assert found.unmet or not found.below
    assert (found.why is None) == (found.below == 0)


def test_an_estimate_that_is_none():
    """A record that nobody fits as a whole: by what is disclosed of it only the larger part has somebody who does."""
    case = [["a", "x"]], [["b", "x"], ["b", "x"], ["b", "x"], ["a", "y"]], [1, 9]
    found = [true_against_estimated(setting(case, owned=False), ("0.5", "1"), ("0.5",), seed=seed)[0] for seed in range(20)]
    assert {one.unmet for one in found} == {1}
    below = [one for one in found if one.below]
    assert 0 < len(below) < len(found)
    (point,) = below[0].points
    assert (point.estimated, point.true, point.emptied) == (0, 1, 1)
    assert "1 of 1 records" in below[0].why
    assert below[0].to_dict()["why"] == below[0].why


def test_an_estimate_is_no_bound_if_a_false_identification_harms_more():
    case = [["a"]], [["a"], ["a"]], [1]
    whole = setting(case, owned=False)
    harmful = replace(whole, phi=replace(whole.phi, false_identification=3.0))
    found = [true_against_estimated(each, ("0.5", "1"), ("1",))[0] for each in (whole, harmful)]
    assert [one.below for one in found] == [0, 1]
    assert "a false identification harms more" in found[1].why


@given(st.data())
def test_parts_of_a_matching(data):
    """Some records, and some individuals: each as if there had never been others."""
    m = data.draw(st.integers(1, 3))
    codes = st.lists(st.lists(st.integers(-1, 2), min_size=m, max_size=m), min_size=1, max_size=6).map(np.array)
    values, held = data.draw(codes), data.draw(codes)
    own = np.array(data.draw(st.lists(st.integers(-1, len(held) - 1), min_size=len(values), max_size=len(values))))
    weights = np.array(data.draw(st.just([]) | st.lists(st.integers(1, 5), min_size=len(held), max_size=len(held))), float)
    some = np.array(data.draw(st.lists(st.sampled_from(range(len(held))), min_size=1, unique=True)))
    records = np.array(data.draw(st.lists(st.sampled_from(range(len(values))), min_size=1, unique=True)))
    whole = Matching.of_codes(values, held, own=own, weights=weights)
    found = whole.among(some).only(records)
    place = {int(v): i for i, v in enumerate(some)}
    wanted = Matching.of_codes(
        values[records],
        held[some],
        own=np.array([place.get(int(v), -1) for v in own[records]]),
        weights=weights[some] if len(weights) else weights,
    )
    rule = np.array(data.draw(st.lists(st.booleans(), min_size=found.values.size, max_size=found.values.size)))
    rule = rule.reshape(found.values.shape) & found.everything
    assert found.own.tolist() == wanted.own.tolist()
    assert found.sizes(rule).tolist() == wanted.sizes(rule).tolist()
    assert found.probabilities(rule).tolist() == wanted.probabilities(rule).tolist()


def test_more_records_than_are_measured():
    setting = SETTINGS["one"]()
    (curve,) = by_dictionary_size(setting, most=10)
    assert (curve.sampled, curve.kept) == (10, 10)
    (again,) = by_dictionary_size(setting, most=10)
    assert curve == again
    (found,) = true_against_estimated(setting, most=10)
    assert (found.sampled, found.records, found.below) == (10, 10, 0)


def test_infinite_risks_are_plain_data():
    case = [["a", "b"]], [["a", "b"]], [0, 0]
    told = by_cells(setting(case, sensitivity=Additive({"a0": "inf"}))).to_dict()
    assert told["lines"][0]["risks"] == [0, 1, "inf"]
    product = by_cells(setting(case, sensitivity=Multiplicative(default=0))).to_dict()
    assert product["lines"][0]["risks"] == [1, 1, 1], "e to the power of nothing"


@pytest.mark.parametrize("bad", [(), ("0",), ("1.5",), (-1,), ("x",)])
def test_bad_shares(bad):
    with pytest.raises(sf.SfumatoError) as caught:
        by_dictionary_size(SETTINGS["one"](), bad)
    assert caught.value.remedy
    with pytest.raises(sf.SfumatoError):
        true_against_estimated(SETTINGS["one"](), ("1",), bad)
