"""The errata of paper 002's rules, each with a case on which the printed text goes wrong; MinRisk; and bad input."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_rules as naive
from sfumato.disclosure.matching import Matching
from sfumato.disclosure.rules import best_by_cells, best_rule, independence_cost, min_risk
from sfumato.disclosure.weights import Weights, losses
from sfumato.errors import ParameterProblem
from small_disclosure import Small

SEEDS = st.integers(0, 10**9)


def product(weights):
    """Φ₅ with the given weights by record and attribute."""
    cells = np.array(weights, float)
    return Weights("product", cells, np.zeros((cells.shape[1],) * 2), np.ones(len(cells)))


def summed(weights):
    cells = np.array(weights, float)
    return Weights("sum", cells, np.zeros((cells.shape[1],) * 2), np.ones(len(cells)))


def equal_book(held):
    return naive.Book([[None if value < 0 else value for value in row] for row in held], lambda j, one, two: one == two)


def risk_of(matching, phi, rule):
    return float(losses(phi.of(rule), matching.probabilities(rule)).mean())


DEPENDENT = [[0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 1], [1, 0, 1]]
"""Four share the first value, four the second, three the third; but only one the first two, and three the first and third."""


def test_erratum_1_min_risk_misses_the_optimum_by_a_factor_of_3():
    known, phi = Matching.of_codes(np.array([[0, 0, 0]]), np.array(DEPENDENT)), product([[0.0, 0.0, 0.0]])
    assert min_risk(known, phi, 2).tolist() == [[True, True, False]]
    best = best_rule([known], phi, 2, "record")
    assert best.rule.tolist() == [[True, False, True]]
    found = independence_cost(known, phi, 2)
    assert (found.risk, found.least, found.records) == (1.0, pytest.approx(1 / 3), 1)
    assert found.ratio == pytest.approx(3.0)
    assert found.worst == pytest.approx(3.0)


def test_erratum_2_missing_values_are_no_candidates():
    values, held = [[0, -1, 1]], [[0, 0, 1], [0, 1, 1], [1, 1, 1]]
    known, phi = Matching.of_codes(np.array(values), np.array(held)), product([[0.0, 0.0, 0.0]])
    sensitivity = naive.Sensitivity("product", [[Fraction(0)] * 3], {}, [Fraction(1)])
    printed = naive.literal_min_risk([[0, None, 1]], sensitivity, equal_book(held), 2)
    assert len(printed[0] & {0, 2}) == 1, "the printed algorithm discloses one value instead of two"
    assert min_risk(known, phi, 2).tolist() == [[True, False, True]]
    assert min_risk(known, phi, 3).tolist() == [[True, False, True]]


def test_erratum_3_a_value_that_nobody_has_comes_first():
    held = [[0, 0], [0, 1], [1, 0]]
    known, phi = Matching.of_codes(np.array([[0, 9]]), np.array(held)), product([[0.0, 5.0]])
    sensitivity = naive.Sensitivity("product", [[Fraction(0), Fraction(5)]], {}, [Fraction(1)])
    assert naive.literal_min_risk([[0, 9]], sensitivity, equal_book(held), 1) == (frozenset({0}),)
    rule = min_risk(known, phi, 1)
    assert rule.tolist() == [[False, True]]
    assert risk_of(known, phi, rule) == best_rule([known], phi, 1, "record").risk == 0.0


def test_erratum_4_ties_still_give_k_cells():
    known = Matching.of_codes(np.array([[0, 0, 0]]), np.array([[0, 0, 0], [1, 1, 1]]))
    assert naive.scanned([2.0, 2.0, 2.0], 2) == []
    assert len(naive.scanned([1.0, 2.0, 3.0], 2)) == 1
    assert min_risk(known, product([[0.0, 0.0, 0.0]]), 2).tolist() == [[True, True, False]]


def test_erratum_5_the_product_of_alphas_is_not_the_size_of_rho():
    held = [[0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 0, 1]]
    known, phi, book = Matching.of_codes(np.array([[0, 0, 0]]), np.array(held)), product([[1.0, 1.0, 1.0]]), equal_book(held)
    nothing = min_risk(known, phi, 0)
    assert math.prod(naive.alone([[None] * 3], book, 0, j) for j in range(3)) == 4**3
    assert known.sizes(nothing).tolist() == [4]
    assert risk_of(known, phi, nothing) == 1 / 4
    assert best_by_cells([known], phi)[0] == 1 / 4


def test_erratum_9_zero_times_infinity_and_what_discloses_nothing():
    held = np.array([[0, 0], [0, 1], [1, 0]])
    known = Matching.of_codes(np.array([[0, 9]]), held)  # nobody has a 9
    for phi in (product([[0.0, math.inf]]), summed([[1.0, math.inf]])):
        best = best_rule([known], phi, 1, "record")
        assert best.rule.tolist() == [[False, True]]
        assert best.risk == 0.0
    assert best_by_cells([known], product([[0.0, math.inf]]))[0] == pytest.approx(1 / 3)
    assert best_by_cells([known], summed([[1.0, math.inf]]))[0] == 0.0
    other = Matching.of_codes(np.array([[0, 9]]), np.array([[0, 9], [0, 9]]))  # in another dictionary two have
    every = best_rule([known, other], summed([[1.0, 3.0]]), 2, "record", [0.5, 0.5])
    assert every.risk == 0.5 * 0.0 + 0.5 * 4 / 2
    assert math.isinf(best_rule([known, other], summed([[1.0, math.inf]]), 2, "record", [0.5, 0.5]).risk)
    assert best_rule([known, other], summed([[1.0, math.inf]]), 2, "record", [1.0, 0.0]).risk == 0.0


@given(SEEDS)
def test_min_risk_is_the_best_of_one_cell(seed):
    small = Small(seed, dictionaries=1, form="product", pairs=False)
    found = independence_cost(small.matchings[0], small.phi, 1)
    assert found.ratio == pytest.approx(1.0)
    assert found.records == 0


@given(SEEDS)
def test_min_risk_is_the_best_where_attributes_are_independent(seed):
    random = np.random.default_rng(seed)
    columns = [random.integers(0, 3, random.integers(1, 4)) for _ in range(3)]
    held = np.array([[a, b, c] for a in columns[0] for b in columns[1] for c in columns[2]])
    values = random.integers(0, 3, (3, 3))
    phi = product(random.choice([0.0, 0.5, 1.0, 2.0], (3, 3)))
    found = independence_cost(Matching.of_codes(values, held), phi, int(random.integers(0, 4)))
    assert found.ratio == pytest.approx(1.0)
    assert found.records == 0


@given(SEEDS)
def test_what_independence_costs(seed):
    small = Small(seed, dictionaries=1, form="product", pairs=False)
    cells = int(small.random.integers(0, small.shape[1] + 1))
    table = small.table()
    rule = small.sets(min_risk(small.matchings[0], small.phi, cells))
    assert rule in set(naive.rules(small.records, cells, "record"))
    found = independence_cost(small.matchings[0], small.phi, cells)
    assert found.risk == pytest.approx(float(naive.risks(table, rule, small.books)[0]))
    assert found.least == pytest.approx(float(naive.least(table, small.records, small.books, cells, "record", None)))
    best = [
        min(lost[0] for shown, lost in table[i].items() if len(shown) == min(cells, len(naive.candidates(small.records, i))))
        for i in range(len(rule))
    ]
    mine = [table[i][shown][0] for i, shown in enumerate(rule)]
    assert found.records == sum(one > other * (1 + Fraction(1, 10**6)) for one, other in zip(mine, best, strict=True))


KNOWN = Matching.of_codes(np.array([[0, 0, 0]]), np.array(DEPENDENT))


@pytest.mark.parametrize(("per", "most"), [("record", 3), ("table", 3), ("attribute", 1)])
def test_numbers_of_cells_out_of_range(per, most):
    for cells in (-1, most + 1):
        with pytest.raises(ParameterProblem, match=f"from 0 to {most}"):
            best_rule([KNOWN], summed([[1, 1, 1]]), cells, per)


def test_bad_input():
    phi = summed([[1, 1, 1]])
    with pytest.raises(ParameterProblem, match="table, record, attribute"):
        best_rule([KNOWN], phi, 1, "row")
    with pytest.raises(ParameterProblem, match="at least one dictionary"):
        best_rule([], phi, 1, "record")
    for prior in ([0.5, 0.4], [1.5, -0.5], [math.nan, 1.0]):
        with pytest.raises(ParameterProblem, match="add up to 1"):
            best_rule([KNOWN, KNOWN], phi, 1, "record", prior)
    with pytest.raises(ParameterProblem, match="one for each dictionary"):
        best_rule([KNOWN, KNOWN], phi, 1, "record", [1.0])
    other = Matching.of_codes(np.array([[0, -1, 0]]), np.array(DEPENDENT))
    with pytest.raises(ParameterProblem, match="same records"):
        best_rule([KNOWN, other], phi, 1, "record")
    with pytest.raises(ParameterProblem, match="multiplicative"):
        min_risk(KNOWN, phi, 1)
    between = Weights("product", np.ones((1, 3)), np.triu(np.ones((3, 3)), 1), np.ones(1))
    with pytest.raises(ParameterProblem, match="pairs"):
        min_risk(KNOWN, between, 1)


def test_too_many_attributes():
    wide = Matching.of_codes(np.zeros((1, 63), int), np.zeros((2, 63), int))
    with pytest.raises(ParameterProblem, match="Name fewer attributes"):
        best_rule([wide], summed(np.ones((1, 63))), 1, "record")
    assert min_risk(wide, product(np.ones((1, 63))), 5).sum() == 5
    own = Weights("function", np.zeros((1, 13)), np.zeros((13, 13)), np.ones(1), lambda i, shown: float(shown.sum()))
    with pytest.raises(ParameterProblem, match="up to 12"):
        best_rule([Matching.of_codes(np.zeros((1, 13), int), np.zeros((2, 13), int))], own, 1, "record")
