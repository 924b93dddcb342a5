"""The fewest values that hit every set, against all subsets of the values."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.hitting_sets import hits_all, hitting_numbers

VALUES = 6
families = st.lists(st.sets(st.integers(0, VALUES - 1), min_size=1, max_size=4), min_size=1, max_size=6)


def laid_out(groups):
    """Return groups of sets as the kernel reads them: the first set of each group, the start of each set, the values."""
    sets = [sorted(one) for group in groups for one in group]
    first = np.cumsum([0, *map(len, groups)])
    starts = np.cumsum([0, *map(len, sets)])
    return first, starts, np.array([value for one in sets for value in one], np.int64)


def naive(group):
    """Return the size of the smallest set of values that has a value in common with every set."""
    return next(
        size
        for size in range(1, VALUES + 1)
        for chosen in combinations(range(VALUES), size)
        if all(set(chosen) & one for one in group)
    )


def measured(groups, wanted, budget=10_000):
    first, starts, value = laid_out(groups)
    out = np.zeros(len(groups), np.int64)
    hitting_numbers(first, starts, value, VALUES, wanted, budget, out)
    return out.tolist()


@given(st.lists(families, min_size=1, max_size=4), st.integers(1, VALUES))
def test_the_least_number_up_to_the_wanted_one(groups, wanted):
    assert measured(groups, wanted) == [min(naive(group), wanted) for group in groups]


@given(st.lists(families, min_size=1, max_size=3), st.integers(1, VALUES), st.integers(0, 5))
def test_a_small_budget_never_claims_more(groups, wanted, budget):
    """A verdict that is not settled within the budget is a refusal, never a false claim."""
    assert all(got <= min(naive(group), wanted) for got, group in zip(measured(groups, wanted, budget), groups, strict=True))


@given(families, st.integers(0, 3))
def test_whether_some_more_values_hit_all(group, more):
    first, starts, value = laid_out([group])
    found = hits_all(0, first[1], starts, value, np.zeros(VALUES, np.int64), more, np.array([10_000]))
    assert found == (naive(group) <= more)
