"""Best rules in special cases: infinite weights, a custom function, searches that stop early, invalid input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_rules as naive
from sfumato.disclosure.matching.matching import Matching
from sfumato.disclosure.rules import best_by_cells, best_rule, choice_losses, record_rules, selections, table_rules
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights, losses
from sfumato.errors import ParameterError
from small_disclosure import Small

SEEDS = st.integers(0, 10**9)
SETS = ["record", "table", "attribute"]


def summed(weights):
    cells = np.array(weights, float)
    return SensitivityWeights("sum", cells, np.zeros((cells.shape[1],) * 2), np.ones(len(cells)))


def product(weights):
    return SensitivityWeights("product", *(vars(summed(weights))[name] for name in ("cells", "pairs", "scale")))


def most(small, per):
    return {"record": small.shape[1], "table": small.values.size, "attribute": small.shape[0]}[per]


def test_erratum_9_zero_times_infinity_and_what_discloses_nothing():
    known = Matching.of_codes(np.array([[0, 9]]), np.array([[0, 0], [0, 1], [1, 0]]))  # nobody has a 9
    for phi in (product([[0.0, math.inf]]), summed([[1.0, math.inf]])):
        best = best_rule([known], phi, 1, "record")
        assert best.disclosed.tolist() == [[False, True]]
        assert best.risk == 0.0
    assert best_by_cells([known], product([[0.0, math.inf]]))[0] == pytest.approx(1 / 3), "Φ₅ of nothing is 1"
    assert best_by_cells([known], summed([[1.0, math.inf]]))[0] == 0.0
    other = Matching.of_codes(np.array([[0, 9]]), np.array([[0, 9], [0, 9]]))  # in another dictionary two have
    every = best_rule([known, other], summed([[1.0, 3.0]]), 2, "record", [0.5, 0.5])
    assert every.risk == 0.5 * 4 / 2, "an empty ρ adds nothing"
    assert math.isinf(best_rule([known, other], summed([[1.0, math.inf]]), 2, "record", [0.5, 0.5]).risk)
    assert best_rule([known, other], summed([[1.0, math.inf]]), 2, "record", [1.0, 0.0]).risk == 0.0


@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize("small_case", [False, True])
@pytest.mark.parametrize("per", ["table", "attribute"])
def test_an_infinite_risk_is_accepted_only_if_it_must_be(per, small_case, worst, monkeypatch):
    """Everybody has a second value that must not be disclosed, and four of eight cells are to be: as many as may."""
    if not small_case:
        monkeypatch.setattr(selections, "MOST_LOOKS", -1)
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    known = [Matching.of_codes(codes, codes)] * (2 if worst else 1)
    phi = summed([[1.0, math.inf]] * 4)
    if per == "table":
        best = best_rule(known, phi, 4, per)
        assert best.disclosed.tolist() == [[True, False]] * 4
        assert best.risk == 0.5
    best = best_rule(known, phi, 5 if per == "table" else 1, per)
    assert math.isinf(best.risk)
    assert math.isinf(best.bound)
    assert best.exact
    assert "finite" in best.how
    assert best.disclosed.sum(axis=0).tolist() == ([4, 1] if per == "table" else [1, 1])


@given(SEEDS, st.sampled_from(SETS), st.booleans())
def test_a_function_of_ones_own_need_not_grow(seed, per, worst):
    small = Small(seed, records=3, attributes=3)
    values = small.random.choice([0.0, 0.25, 1.0, 3.0, math.inf], (small.shape[0], 8), p=[0.2, 0.3, 0.2, 0.2, 0.1])

    def own(i, shown):
        return float(values[i, sum(1 << int(j) for j in np.flatnonzero(shown))])

    small.phi = SensitivityWeights("function", np.zeros(small.shape), small.phi.pairs, np.ones(small.shape[0]), own)
    small.sensitivity = naive.Sensitivity(
        "function", None, None, None, lambda i, shown: own(i, np.isin(np.arange(small.shape[1]), list(shown)))
    )
    cells, prior = int(small.random.integers(0, most(small, per) + 1)), None if worst else small.prior
    best = best_rule(small.matchings, small.phi, cells, per, None if worst else [float(share) for share in small.prior])
    least = naive.least(small.table(), small.records, small.books, cells, per, prior)
    assert best.risk == pytest.approx(float(least), rel=1e-9)
    assert best.exact


@given(SEEDS, st.sampled_from(SETS), st.booleans())
def test_a_search_that_is_broken_off_says_so(seed, per, worst):
    """The rule is of the set all the same, its risk is what it says, and the bound is below the least."""
    small = Small(seed)
    cells, prior = int(small.random.integers(0, most(small, per) + 1)), None if worst else small.prior
    if per == "table" and small.values.size > 12:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice_losses, "TABLE", 1)
        patch.setattr(record_rules, "BUDGET", int(small.random.integers(0, 60)))
        best = best_rule(small.matchings, small.phi, cells, per, None if worst else [float(share) for share in small.prior])
    table, shown = small.table(), small.sets(best.disclosed)
    assert shown in set(naive.rules(small.records, cells, per))
    assert best.risk == pytest.approx(float(naive.combined(naive.risks(table, shown, small.books), prior)), rel=1e-9)
    least = float(naive.least(table, small.records, small.books, cells, per, prior))
    assert best.bound <= least * (1 + 1e-9) + 1e-12
    assert best.bound <= best.risk


def test_a_search_that_is_broken_off_leaves_a_gap(monkeypatch):
    random = np.random.default_rng(5)
    held = random.integers(0, 2, (60, 16))
    known, phi = Matching.of_codes(held[:1], held), product(random.random((1, 16)))
    table = best_rule([known], phi, 6, "record")
    monkeypatch.setattr(choice_losses, "TABLE", 1)
    assert best_rule([known], phi, 6, "record").risk == pytest.approx(table.risk)
    monkeypatch.setattr(record_rules, "BUDGET", 2_000)
    broken = best_rule([known], phi, 6, "record")
    assert broken.bound < table.risk <= broken.risk
    assert not broken.exact
    assert 0 < broken.gap < 1


def test_more_values_than_a_table_can_have():
    random = np.random.default_rng(6)
    held = np.where(random.random((300, 40)) < 0.1, -1, random.integers(0, 3, (300, 40)))
    known, phi = Matching.of_codes(held[:3], held), summed(random.random((3, 40)))
    best = best_rule([known], phi, 5, "record")
    assert best.disclosed.sum(axis=1).tolist() == [5, 5, 5]
    assert best.bound <= best.risk
    assert best.risk == pytest.approx(losses(phi.of(best.disclosed), known.probabilities(best.disclosed)).mean())
    for _ in range(200):  # none of a few others is better than the bound, nor, as the search came to its end, than the best
        rule = np.zeros((3, 40), bool)
        for i in range(3):
            rule[i, random.choice(np.flatnonzero(known.everything[i]), 5, replace=False)] = True
        assert losses(phi.of(rule), known.probabilities(rule)).mean() >= best.bound


def test_the_table_rules_in_many_ties():
    """Many equal losses, and wide steps: the cells that are lacking are found by several records together."""
    random = np.random.default_rng(1)
    for _ in range(300):
        least = np.cumsum(random.choice([0.0, 1.0, 5.0], (6, 5)), axis=1)
        least -= least[:, :1]
        wanted = int(random.integers(0, 25))
        totals = {0: 0.0}
        for row in least:
            after = {}
            for cells, lost in totals.items():
                for more, value in enumerate(row.tolist()):
                    after[cells + more] = min(after.get(cells + more, math.inf), lost + value)
            totals = after
        found = table_rules.sizes_for(least, np.full(6, 4), np.arange(6), wanted)
        assert found.closed
        assert found.sizes.sum() == wanted
        assert least[np.arange(6), found.sizes].sum() == totals[wanted]
        assert found.bound <= totals[wanted] + 1e-9


@given(SEEDS)
def test_records_are_chosen_for_in_any_order(seed):
    small = Small(seed, dictionaries=1)
    cells, order = int(small.random.integers(0, small.shape[1] + 1)), small.random.permutation(small.shape[0])
    known, phi = small.matchings[0], small.phi
    turned = Matching(
        known.values[order], known.dictionary_values, known.near_starts, known.near, known.weights, known.own[order]
    )  # fmt: skip
    other = phi.only(order)
    one, two = best_rule([known], phi, cells, "record"), best_rule([turned], other, cells, "record")
    assert one.risk == two.risk
    assert one.disclosed[order].tolist() == two.disclosed.tolist()


def test_progress_is_told():
    told = []
    known = Matching.of_codes(np.zeros((3, 2), int), np.zeros((2, 2), int))
    best_rule([known], summed(np.ones((3, 2))), 1, "record", progress=lambda step, share=None: told.append((step, share)))
    assert told == [("weighing choices", 0.0)]


@pytest.mark.parametrize("per", SETS)
def test_no_records_and_no_individuals(per):
    nobody = Matching.of_codes(np.zeros((0, 2), int), np.zeros((2, 2), int))
    best = best_rule([nobody], summed(np.zeros((0, 2))), 0, per)
    assert (best.disclosed.shape, best.risk, best.exact) == ((0, 2), 0.0, True)
    assert best_by_cells([nobody], summed(np.zeros((0, 2)))).tolist() == [0.0, 0.0, 0.0]
    empty = Matching.of_codes(np.zeros((2, 2), int), np.zeros((0, 2), int))
    best = best_rule([empty], summed(np.ones((2, 2))), 1, per)
    assert (best.risk, best.exact) == (0.0, True)


KNOWN = Matching.of_codes(np.array([[0, 0, 0]]), np.array([[0, 0, 0], [0, 1, 1]]))


@pytest.mark.parametrize(("per", "largest"), [("record", 3), ("table", 3), ("attribute", 1)])
def test_numbers_of_cells_out_of_range(per, largest):
    for cells in (-1, largest + 1):
        with pytest.raises(ParameterError, match=f"from 0 to {largest}"):
            best_rule([KNOWN], summed([[1, 1, 1]]), cells, per)


def test_bad_input():
    phi = summed([[1, 1, 1]])
    with pytest.raises(ParameterError, match="table, record, attribute"):
        best_rule([KNOWN], phi, 1, "row")
    with pytest.raises(ParameterError, match="at least one dictionary"):
        best_rule([], phi, 1, "record")
    for prior in ([0.5, 0.4], [1.5, -0.5], [math.nan, 1.0]):
        with pytest.raises(ParameterError, match="sum to 1"):
            best_rule([KNOWN, KNOWN], phi, 1, "record", prior)
    with pytest.raises(ParameterError, match="one for each dictionary"):
        best_rule([KNOWN, KNOWN], phi, 1, "record", [1.0])
    with pytest.raises(ParameterError, match="same records"):
        best_rule([KNOWN, Matching.of_codes(np.array([[0, -1, 0]]), np.array([[0, 0, 0]]))], phi, 1, "record")


def test_too_many_attributes():
    wide = Matching.of_codes(np.zeros((1, 63), int), np.zeros((2, 63), int))
    with pytest.raises(ParameterError, match="Name fewer attributes"):
        best_rule([wide], summed(np.ones((1, 63))), 1, "record")
    own = SensitivityWeights(
        "function", np.zeros((1, 13)), np.zeros((13, 13)), np.ones(1), lambda i, shown: float(shown.sum())
    )
    with pytest.raises(ParameterError, match="up to 12"):
        best_rule([Matching.of_codes(np.zeros((1, 13), int), np.zeros((2, 13), int))], own, 1, "record")


def test_messages_number_records_from_1():
    """As files number their rows: both messages that name a record say row 2 for the second."""
    codes = np.zeros((2, 13), int)
    codes[0, 1:] = -1
    matching = Matching.of_codes(codes, codes)
    function = SensitivityWeights("function", np.zeros((2, 13)), np.zeros((13, 13)), np.ones(2), lambda i, shown: 1.0)
    with pytest.raises(ParameterError, match="row 2 has 13 values"):
        best_rule([matching], function, 1, "record")
    wide = np.zeros((2, 21), int)
    wide[0, 1:] = -1
    with pytest.raises(ParameterError, match="row 2 has 21 values; with misfits"):
        best_rule([Matching.of_codes(wide, wide, misfits=1)], summed(np.ones((2, 21))), 1, "record")
