"""Joint matching against enumeration, and what k-anonymity is and is not in terms of the risk."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_risk as naive
import sfumato as sf
import sfumato.disclosure.matching.matching as matching_module
import sfumato.disclosure.matching.sorted_join as sorted_join
from sfumato.disclosure._k_anonymity_levels import k_anonymity_levels, levels_of_matching
from sfumato.disclosure._risk import risk
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.matching.joint_matching import joint_sizes
from sfumato.disclosure.matching.matching import Matching
from sfumato.disclosure.sensitivity.sensitivity import ConstantSensitivity

CODES = st.integers(-1, 2)


def drawn(draw, rows, columns):
    return np.array([[draw(CODES) for _ in range(columns)] for _ in range(rows)])


@st.composite
def matchings(draw, itself=False):
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    records = drawn(draw, n, m)
    held = records if itself else drawn(draw, draw(st.integers(1, 6)), m)
    rule = np.array([[draw(st.booleans()) for _ in range(m)] for _ in range(n)])
    own = np.arange(n) if itself else np.full(n, -1)
    return records, held, rule, Matching.of_codes(records, held, own=own)


@given(matchings())
def test_a_joint_matching_is_what_all_assignments_leave(case):
    records, held, rule, matching = case
    values = [[None if code < 0 else code for code in row] for row in held.tolist()]
    shown = [
        naive.disclosed([None if code < 0 else code for code in row], rule[i]) for i, row in enumerate(records.tolist())
    ]
    lists = [naive.rho(row, values) for row in shown]
    left = naive.left_by_joint_matching(lists)
    found = joint_sizes(matching, rule)
    assert (None if found.sizes is None else found.sizes.tolist()) == (left and [len(each) for each in left])
    assert (found.sizes is None) == bool(found.why)
    starts, individuals = matching.lists(rule, matching.sizes(rule))
    assert [individuals[low:high].tolist() for low, high in pairwise(starts)] == lists


@given(matchings(itself=True))
def test_three_levels_of_k(case):
    """Rows alike can be exchanged in any assignment, and an assignment takes individuals from ρ."""
    _, _, rule, itself = case
    found = levels_of_matching(itself, rule & itself.everything)
    assert found.release <= found.joint <= found.consistent


@given(matchings(itself=True), st.booleans())
def test_records_of_which_the_same_is_disclosed_may_be_looked_up_once(case, leaning):
    """Sharing rows, and withholding one attribute in passing, give what each record gives by itself."""
    _, held, rule, itself = case
    if leaning:
        itself = replace(itself, weights=np.arange(1.0, len(held) + 1))
    one_by_one = itself.match(rule)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching_module, "_MANY", 0)
        patch.setattr(sorted_join, "_SORT", 0)
        for found, wanted in zip(itself.match(rule), one_by_one, strict=True):
            assert found.tolist() == wanted.tolist()
        without = itself.outcomes_without(rule)[0]
    for j in range(itself.attributes):
        rest = rule.copy()
        rest[:, j] = False
        shown = (rule & itself.everything)[:, j]
        assert without[:, j] == pytest.approx(np.where(shown, itself.probabilities(rest), 0))


def test_why_there_is_no_joint_matching():
    two = np.array([[1], [1]])
    one_for_two = joint_sizes(Matching.of_codes(two, np.array([[1]])), np.ones((2, 1), bool))
    assert one_for_two.sizes is None
    assert "no assignment" in one_for_two.why
    both_of_one = joint_sizes(Matching.of_codes(two, two, own=np.array([0, 0])), np.ones((2, 1), bool))
    assert "several records are of one individual" in both_of_one.why
    unlike = np.array([[1, 5], [1, 6]])
    many = joint_sizes(Matching.of_codes(unlike, unlike), np.array([[True, False], [False, False]]), limit=3)
    assert many.least is None
    assert "4 pairs of distinct records and distinct individuals" in many.why


def people(**columns):
    return sf.Table(pa.table(columns), sf.Schema())


def test_enough_individuals_for_every_record_is_not_k_anonymity():
    """Erratum 8: each record fits two individuals, and yet the third is identified for certain.

    The first two records must be Ann and Bob in some order, so of Bob and Cyd, whom the third fits, it is Cyd's.
    """
    table = people(town=["Rome", "Rome", "Bari"], age=[30, 41, 41])
    rule = np.array([[True, False], [True, False], [False, True]])
    found = k_anonymity_levels(table, ["town", "age"], rule)
    assert found.sizes.tolist() == [2, 2, 2]
    assert (found.consistent, found.joint, found.release) == (2, 1, 1)
    itself = Dictionary.of(table)
    result = risk(table, None, itself, sensitivity=ConstantSensitivity(), rule=rule)
    assert result.risk == 0.5, "the risk takes each record by itself, and does not see it either"


def test_a_k_anonymous_rule_need_not_have_the_least_risk():
    """Erratum 7: 0.5 for a 2-anonymous rule, 0.19 for one that gives a record away and withholds the rest.

    Ten people in five pairs of a town; nobody shares an age.
    """
    table = people(town=[f"t{i // 2}" for i in range(10)], age=list(range(10)))
    itself = Dictionary.of(table)
    towns = np.tile([True, False], (10, 1))
    one = np.zeros((10, 2), bool)
    one[0] = True

    def of(rule):
        levels = k_anonymity_levels(table, ["town", "age"], rule)
        return levels.release, risk(table, None, itself, sensitivity=ConstantSensitivity(), rule=rule, limit="0.19")

    k, anonymous = of(towns)
    assert (k, anonymous.risk, anonymous.holds) == (2, 0.5, False)
    k, violating = of(one)
    assert (k, violating.risk, violating.holds) == (1, pytest.approx(0.19), True)


def test_record_by_record_the_loss_is_the_constraint():
    """Theorem 3: a record that fits at least k individuals loses at most c/k, and one that does not loses more."""
    table = people(town=["Rome", "Rome", "Rome", "Bari", "Bari", "Pisa"])
    found = k_anonymity_levels(table, ["town"])
    losses = found.losses("1.5")
    assert losses == [Fraction(1, 2)] * 3 + [Fraction(3, 4)] * 2 + [Fraction(3, 2)]
    for k in range(1, 6):
        assert [loss <= Fraction(3, 2) / k for loss in losses] == [size >= k for size in found.sizes]
    assert found.consistent == found.joint == found.release == 1


def test_a_withheld_cell_is_a_value_of_its_own():
    """What is withheld is not what is missing, and neither is a value."""
    table = people(town=["Rome", "Rome", None, "Rome"])
    found = k_anonymity_levels(table, ["town"], np.array([[True], [False], [True], [True]]))
    assert found.release == 1
    assert found.sizes.tolist() == [4, 4, 4, 4]
