"""MinRisk: where it is optimal, where it is not, and the corrections of the published algorithm."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.disclosure.matching.matching import Matching
from sfumato.disclosure.rules.minrisk_algorithm import independence_costs, min_risk
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights
from sfumato.errors import ParameterError


def weights(cells):
    cells = np.array(cells, float)
    return SensitivityWeights("product", cells, np.zeros((cells.shape[1], cells.shape[1])), np.ones(len(cells)))


def loss(record, shown, dictionary, weight):
    """e to the power of the weights of what is shown, over how many individuals fit; nothing if nobody does."""
    fit = sum(all(-1 in (record[j], one[j]) or record[j] == one[j] for j in shown) for one in dictionary)
    return math.exp(sum(weight[j] for j in shown)) / fit if fit else 0.0


def least(record, k, dictionary, weight):
    has = [j for j, value in enumerate(record) if value >= 0]
    return min(loss(record, shown, dictionary, weight) for shown in combinations(has, min(k, len(has))))


def taken(record, k, dictionary, weight):
    matching = Matching.of_codes(np.array([record]), np.array(dictionary))
    found = min_risk(matching, weights([weight]), k)
    assert found.bound <= least(record, k, dictionary, weight) * (1 + 1e-9)
    rule = found.disclosed
    assert found.risk == pytest.approx(loss(record, np.flatnonzero(rule[0]), dictionary, weight))
    shown = np.flatnonzero(rule[0]).tolist()
    assert len(shown) == min(k, sum(value >= 0 for value in record))
    return loss(record, shown, dictionary, weight)


@st.composite
def cases(draw, missing=True):
    m = draw(st.integers(1, 4))
    values = st.integers(-1 if missing else 0, 2)
    rows = st.lists(values, min_size=m, max_size=m)
    weight = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=m, max_size=m))
    return draw(rows), draw(st.integers(0, m)), draw(st.lists(rows, min_size=1, max_size=7)), weight


@given(cases())
def test_one_value_is_chosen_best(case):
    """With one value there is nothing to be independent of."""
    record, _, dictionary, weight = case
    assert taken(record, 1, dictionary, weight) == pytest.approx(least(record, 1, dictionary, weight))


@given(st.data())
def test_best_where_attributes_are_independent(data):
    """A dictionary of all combinations of some values, each column with multiplicities of its own."""
    m = data.draw(st.integers(1, 3))
    columns = [data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=3)) for _ in range(m)]
    dictionary = [list(row) for row in product(*columns)]
    record = [data.draw(st.sampled_from(column)) for column in columns]
    weight = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=m, max_size=m))
    k = data.draw(st.integers(0, m))
    assert taken(record, k, dictionary, weight) == pytest.approx(least(record, k, dictionary, weight))


@given(cases())
def test_the_cost_of_independence(case):
    record, k, dictionary, weight = case
    (found,) = independence_costs(Matching.of_codes(np.array([record]), np.array(dictionary)), weights([weight]), [k])
    risk, best = taken(record, k, dictionary, weight), least(record, k, dictionary, weight)
    assert (found.risk, found.least) == (pytest.approx(risk), pytest.approx(best))
    assert found.worse == (risk > best * (1 + 1e-9))
    if best and found.worse:
        assert found.factor == pytest.approx(risk / best)
        assert found.excess == pytest.approx(risk / best - 1)


def test_dependence_costs_a_factor_of_three():
    """Erratum 1: the first two values are common, but nobody else has both; the third is rarer, and tells nothing more."""
    dictionary = [[0, 0, 0]] + [[0, 1, 0]] * 2 + [[0, 1, 1]] * 3 + [[1, 0, 1]] * 5
    record, weight = [0, 0, 0], [0.0, 0.0, 0.0]
    assert taken(record, 2, dictionary, weight) == 1
    assert least(record, 2, dictionary, weight) == pytest.approx(1 / 3)
    (found,) = independence_costs(Matching.of_codes(np.array([record]), np.array(dictionary)), weights([weight]), [2])
    assert (found.worse, found.factor, found.excess) == (1, pytest.approx(3), pytest.approx(2))


def test_missing_values_are_no_candidates():
    """Erratum 2: a missing value has the smallest γ, and disclosing it would disclose nothing."""
    matching = Matching.of_codes(np.array([[-1, 0, 0]]), np.array([[0, 0, 0], [0, 0, 1]]))
    assert min_risk(matching, weights([[0, 1, 2]]), 1).disclosed.tolist() == [[False, True, False]]
    assert min_risk(matching, weights([[0, 1, 2]]), 3).disclosed.tolist() == [[False, True, True]]


def test_a_value_that_fits_nobody_comes_first():
    """Erratum 3: as written its γ is infinite and it is avoided, though the loss is then 0; whatever it weighs."""
    dictionary, record = [[0, 0], [1, 0]], [5, 0]
    assert taken(record, 1, dictionary, [9.0, 0.0]) == 0
    assert min_risk(Matching.of_codes(np.array([record]), np.array(dictionary)), weights([[np.inf, 0]]), 1).disclosed[0, 0]


def test_ties_do_not_lose_values():
    """Erratum 4: a scan for what is below the k-th smallest finds none of four that tie."""
    matching = Matching.of_codes(np.array([[0, 0, 0, 0]]), np.array([[0, 0, 0, 0], [0, 0, 0, 0]]))
    assert min_risk(matching, weights([[1, 1, 1, 1]]), 3).disclosed.tolist() == [[True, True, True, False]]


def test_the_risk_is_measured_not_multiplied():
    """Erratum 5: ∏α with α(⊥) = N would put |ρ| at N² = 9 of 3 individuals; the reported risk is that of |ρ| = 2."""
    matching = Matching.of_codes(np.array([[0, 0, 0]]), np.array([[0, 0, 0], [0, 1, 1], [1, 1, 1]]))
    (found,) = independence_costs(matching, weights([[0, 0, 0]]), [1])
    assert (found.risk, found.least) == (0.5, 0.5)


@pytest.mark.parametrize("form", ["sum", "constant"])
def test_other_sensitivities_are_refused(form):
    phi = SensitivityWeights(form, np.ones((1, 1)), np.zeros((1, 1)), np.ones(1))
    with pytest.raises(ParameterError, match="MinRisk requires a multiplicative"):
        min_risk(Matching.of_codes(np.array([[0]]), np.array([[0]])), phi, 1)


def test_infinite_weights_come_last():
    matching = Matching.of_codes(np.array([[0, 0, -1]]), np.array([[0, 0, 0], [1, 0, 0]]))
    assert min_risk(matching, weights([[0, np.inf, 0]]), 1).disclosed.tolist() == [[True, False, False]]
    assert min_risk(matching, weights([[0, np.inf, 0]]), 2).disclosed.tolist() == [[True, True, False]]
