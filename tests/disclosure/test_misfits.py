"""An attacker who expects errors: individuals who misfit in a few disclosed values are still consistent."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.disclosure.matching.joint_matching import joint_sizes
from sfumato.disclosure.matching.matching import Matching
from sfumato.disclosure.rules import best_by_cells, best_rule
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights


@st.composite
def cases(draw):
    m = draw(st.integers(1, 5))
    rows = st.lists(st.integers(-1, 2), min_size=m, max_size=m)
    records = draw(st.lists(rows, min_size=1, max_size=3))
    people = draw(st.lists(rows, min_size=1, max_size=7))
    leanings = draw(st.just([]) | st.lists(st.integers(1, 3), min_size=len(people), max_size=len(people)))
    own = draw(st.lists(st.integers(-1, len(people) - 1), min_size=len(records), max_size=len(records)))
    weights = draw(st.lists(st.integers(0, 3), min_size=m, max_size=m))
    return records, people, leanings, own, weights, draw(st.integers(0, 3))


def fitting(record, shown, people, misfits):
    """Those who differ from the record in at most so many of the values that are shown, both being there."""
    return [
        v
        for v, person in enumerate(people)
        if sum(-1 not in (record[j], person[j]) and record[j] != person[j] for j in shown) <= misfits
    ]


def chance(record, shown, people, leanings, own, misfits):
    fit = fitting(record, shown, people, misfits)
    if not leanings:
        return Fraction(1, len(fit)) if fit else Fraction(0)
    return Fraction(leanings[own], sum(leanings[v] for v in fit)) if own in fit else Fraction(0)


def matching_of(case):
    records, people, leanings, own, _, misfits = case
    return Matching.of_codes(
        np.array(records), np.array(people), weights=np.array(leanings, float), own=np.array(own), misfits=misfits
    )


@given(cases(), st.randoms(use_true_random=False))
def test_who_fits(case, random):
    records, people, leanings, own, _, misfits = case
    matching = matching_of(case)
    rule = np.array([[value >= 0 and random.random() < 0.7 for value in record] for record in records])
    shown = [np.flatnonzero(row).tolist() for row in rule]
    found = [matching.individuals_of(i, rule).tolist() for i in range(len(records))]
    assert found == [fitting(record, told, people, misfits) for record, told in zip(records, shown, strict=True)]
    assert matching.sizes(rule).tolist() == [len(each) for each in found]
    wanted = [chance(r, told, people, leanings, o, misfits) for r, told, o in zip(records, shown, own, strict=True)]
    assert matching.probabilities(rule).tolist() == pytest.approx([float(each) for each in wanted])
    without = matching.outcomes_without(rule)[0]
    for i, told in enumerate(shown):
        for j in told:
            rest = [other for other in told if other != j]
            assert without[i, j] == pytest.approx(float(chance(records[i], rest, people, leanings, own[i], misfits)))


@given(cases())
def test_the_best_values_of_each_record(case):
    records, people, leanings, own, weights, misfits = case
    m = len(weights)
    phi = SensitivityWeights(
        "sum", np.tile(np.array(weights, float), (len(records), 1)), np.zeros((m, m)), np.ones(len(records))
    )
    found = best_by_cells([matching_of(case)], phi)
    for k in range(m + 1):
        total = Fraction(0)
        for record, mine in zip(records, own, strict=True):
            has = [j for j, value in enumerate(record) if value >= 0]
            total += min(
                sum(weights[j] for j in shown) * chance(record, shown, people, leanings, mine, misfits)
                for shown in combinations(has, min(k, len(has)))
            )
        assert found[k] == pytest.approx(float(total / len(records)))
        best = best_rule([matching_of(case)], phi, k, "record")
        assert (best.risk, best.exact) == (pytest.approx(float(total / len(records))), True)


def test_a_joint_matching_with_misfits():
    """Ann's record fits both with a misfit allowed, Bob's too: either may be either."""
    codes = np.array([[0, 0], [1, 0]])
    strict, tolerant = Matching.of_codes(codes, codes), Matching.of_codes(codes, codes, misfits=1)
    assert joint_sizes(strict, strict.everything).sizes.tolist() == [1, 1]
    assert joint_sizes(tolerant, tolerant.everything).sizes.tolist() == [2, 2]


def test_from_a_table(tmp_path):
    """A misspelt name and a wrong age: with one misfit the right individual fits, and so does another."""
    people = pa.table({"id": [1], "name": ["Ann"], "age": [30], "town": ["Ulm"]})
    register = sf.disclosure.Dictionary(
        pa.table({"id": [1, 2], "name": ["Anne", "Ann"], "age": [30, 30], "town": ["Ulm", "Bonn"]}),
        identity="id",
        name="book",
    )
    strict = sf.risk(people, sf.Schema(), register, identity="id")
    tolerant = sf.risk(people, sf.Schema(), register, identity="id", misfits=1)
    assert (strict.risk, tolerant.risk) == (0, 1.5)
    made = sf.withhold(people, sf.Schema(undeclared="keep"), register, 2, identity="id", misfits=1)
    assert sf.verify(made.save(tmp_path / "out"), people).holds


@pytest.mark.parametrize("misfits", [-1, 3, 1.5, True, "1"])
def test_out_of_range(misfits):
    people = pa.table({"name": ["Ann"], "age": [30], "town": ["Ulm"]})
    with pytest.raises(sf.errors.ParameterError, match="misfits"):
        sf.risk(people, sf.Schema(), sf.disclosure.Dictionary(people), misfits=misfits)


@pytest.mark.data
def test_people_are_found_in_spite_of_errors(real_data):
    """Of the two directories of febrl, with Jaro at 0.8: the right individual fits in spite of two misfits in 95 %."""
    sides = []
    for which in "ab":
        table = sf.read_table(real_data / "record_linkage" / f"febrl_dataset4{which}.csv", sf.Schema()).data
        person = pa.array([name.split("-")[1] for name in table.column("rec_id").cast(pa.string()).to_pylist()])
        sides.append(table.drop_columns(["rec_id"]).append_column("person", person))
    names = [name for name in sides[0].column_names if name != "person"]
    register = sf.disclosure.Dictionary(sides[1], identity="person", name="4b")
    compared = dict.fromkeys(names, sf.disclosure.SimilarityConsistency("jaro", "0.8"))
    shares = []
    for misfits in (0, 2):
        found = sf.risk(sides[0], sf.Schema(), register, identity="person", consistency=compared, misfits=misfits)
        matching = found.setting.matchings[0]
        shares.append(matching.match(matching.everything)[2].mean())
    assert shares[0] < 0.6
    assert shares[1] >= 0.95
