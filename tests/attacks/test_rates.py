"""Rates with their intervals: against the definition, and how often they cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from sfumato.attacks import Rate

Z = 1.959963984540054


@given(st.integers(1, 500).flatmap(lambda tried: st.tuples(st.integers(0, tried), st.just(tried))))
def test_the_ends_are_where_the_normal_test_is_just_passed(counts):
    """Wilson's interval holds the chances p with |share − p| ≤ z · sqrt(p (1 − p) / n)."""
    right, tried = counts
    rate, share = Rate.of(right, tried), right / tried

    def beyond(p):
        return abs(share - p) - Z * np.sqrt(p * (1 - p) / tried)

    low = 0.0 if right == 0 else brentq(beyond, 1e-12, share - 1e-12)
    high = 1.0 if right == tried else brentq(beyond, share + 1e-12, 1 - 1e-12)
    assert (rate.low, rate.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))
    assert 0 <= rate.low <= rate.share <= rate.high <= 1


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=60))
def test_chances_of_zero_and_one_are_guesses(chances):
    assert Rate.mean(np.array(chances)) == Rate.of(int(sum(chances)), len(chances))


@pytest.mark.parametrize("chance", [0.02, 0.2, 0.5, 0.93])
def test_intervals_cover_in_simulation(chance):
    random = np.random.default_rng(1)
    rates = [Rate.of(int(right), 300) for right in random.binomial(300, chance, 2000)]
    assert np.mean([rate.low <= chance <= rate.high for rate in rates]) > 0.93


def test_without_guesses_nothing_is_known():
    assert (Rate.of(0, 0).low, Rate.of(0, 0).high, Rate.mean(np.zeros(0)).tried) == (0, 1, 0)
