"""Factors of charges: never above the ratio of cost to charges of a group with the row."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization.loss_bounds.charges import _Search, distinct_rows
from sfumato.anonymization.loss_bounds.crowds import Crowds
from sfumato.anonymization.recoding import domains_of


def least_ratio(ages, charges, row, k):
    """The least cost over charges of all groups of at least k rows with a row, by trying all of them."""
    width, others = max(ages) - min(ages), [i for i in range(len(ages)) if i != row]
    ratios = []
    for size in range(k - 1, len(ages)):
        for more in combinations(others, size):
            group = [row, *more]
            span = max(ages[i] for i in group) - min(ages[i] for i in group)
            ratios.append(len(group) * span / width / sum(charges[i] for i in group))
    return min(ratios)


@given(st.lists(st.integers(0, 30), min_size=3, max_size=8, unique=True), st.integers(1, 3), st.integers(0, 2**31))
def test_no_factor_is_above_the_ratio_of_a_group(ages, k, seed):
    """Raised charges are sound: each factor is at most the ratio of cost to charges of every group with the row."""
    charges = np.random.default_rng(seed).uniform(0.1, 1, len(ages))
    table = sf.Table(pa.table({"age": ages}), sf.Schema(["age"]))
    rows = distinct_rows(domains_of(table), Crowds.unlimited(len(ages)), k)
    charge = np.empty(len(ages))
    charge[rows.of_row] = charges
    factor = _Search(rows).factors(charge, np.full(len(ages), 1e9))[rows.of_row]
    for row in range(len(ages)):
        least = least_ratio(ages, charges, row, k)
        assert factor[row] <= least * (1 + 1e-12)
        if k == 1:
            assert least == 0 == factor[row]


def test_too_few_steps_have_no_factors():
    table = sf.Table(pa.table({"age": [1, 5, 9], "sex": ["f", "m", "f"]}), sf.Schema(["age", "sex"]))
    search = _Search(distinct_rows(domains_of(table), Crowds.unlimited(3), 2))
    search.steps = 1
    assert search.factors(np.ones(3), np.full(3, 9.0)) is None
    search.steps = 1000
    assert search.factors(np.ones(3), np.full(3, 9.0)) == pytest.approx([1.0, 1.5, 1.0])
