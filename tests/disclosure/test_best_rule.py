"""The best rules: equal to trying every rule, in every set, under a prior and in the worst case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_rules as naive
from sfumato.disclosure.rules import attribute_rules, best_by_cells, best_rule, choice_losses, selections
from small_disclosure import Small

SEEDS = st.integers(0, 10**9)


def same(one, other):
    return float(one) == pytest.approx(float(other), rel=1e-9, abs=1e-12)


def agree(small, cells, per, prior, large=False, searched=False, exact=True):
    """The rule is of the set, its risk is what it says, and no rule has less; the bound is below the risk."""
    table = small.table()
    with pytest.MonkeyPatch.context() as patch:
        if large:  # as if there were too many records to keep all in mind
            patch.setattr(selections, "MOST_LOOKS", -1)
        if searched:  # as if records had too many values for a table of all choices
            patch.setattr(choice_losses, "TABLE", 1)
        best = best_rule(small.matchings, small.phi, cells, per, None if prior is None else [float(p) for p in prior])
    shown = small.sets(best.disclosed)
    assert shown in set(naive.rules(small.records, cells, per))
    assert same(best.risk, naive.combined(naive.risks(table, shown, small.books), prior))
    least = float(naive.least(table, small.records, small.books, cells, per, prior))
    if exact:
        assert same(best.risk, least)
        assert best.exact
    assert best.bound <= best.risk
    assert best.bound <= least * (1 + 1e-9) + 1e-12
    assert best.short == shortage(small, cells, per)


def shortage(small, cells, per):
    present = small.values >= 0
    if per == "table":
        return max(0, cells - int(present.sum()))
    return int((present.sum(axis=1 if per == "record" else 0) < cells).sum())


@given(SEEDS, st.booleans())
def test_each_record_under_a_prior(seed, searched):
    small = Small(seed)
    agree(small, int(small.random.integers(0, small.shape[1] + 1)), "record", small.prior, searched=searched)


@given(SEEDS, st.booleans())
def test_whole_table_under_a_prior(seed, searched):
    small = Small(seed, records=3)
    agree(small, int(small.random.integers(0, small.values.size + 1)), "table", small.prior, searched=searched)


@given(SEEDS, st.booleans(), st.booleans())
def test_all_numbers_of_cells_at_once(seed, worst, searched):
    small = Small(seed)
    prior = None if worst else small.prior
    floats = None if worst else [float(share) for share in small.prior]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice_losses, "TABLE", 1 if searched else 20)
        every = best_by_cells(small.matchings, small.phi, floats)
    table = small.table()
    for cells, risk in enumerate(every):
        assert same(risk, naive.least(table, small.records, small.books, cells, "record", prior))


@given(SEEDS, st.booleans(), st.booleans())
def test_each_record_in_the_worst_case(seed, large, searched):
    small = Small(seed)
    agree(small, int(small.random.integers(0, small.shape[1] + 1)), "record", None, large, searched)


@given(SEEDS, st.booleans(), st.booleans())
def test_whole_table_in_the_worst_case(seed, large, searched):
    small = Small(seed, records=3)
    agree(small, int(small.random.integers(0, small.values.size + 1)), "table", None, large, searched)


@given(SEEDS, st.booleans(), st.booleans(), st.booleans())
def test_each_attribute(seed, worst, large, searched):
    """Where records are searched, or only few choices of each are looked at, the bound may be below the least."""
    small = Small(seed)
    cells = int(small.random.integers(0, small.shape[0] + 1))
    agree(small, cells, "attribute", None if worst else small.prior, large, searched, exact=not searched)


@given(SEEDS, st.booleans())
def test_each_attribute_out_of_few_choices(seed, worst):
    small = Small(seed)
    cells = int(small.random.integers(0, small.shape[0] + 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attribute_rules, "FEW", 2)
        patch.setattr(attribute_rules, "OFFERS", 0)
        patch.setattr(attribute_rules, "ROOM", 8)
        agree(small, cells, "attribute", None if worst else small.prior, exact=False)
