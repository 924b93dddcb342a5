"""Choices of many records side by side, against loops over all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.choice_columns import (
    cheapest,
    cheapest_of_tables,
    cheapest_with_and_without,
    fronts,
    reduced_losses,
    widen_masks,
)

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_fronts(seed):
    """A choice stays unless another with as many cells is at most as high everywhere, and lower or earlier."""
    random = np.random.default_rng(seed)
    m, dictionaries = int(random.integers(0, 5)), int(random.integers(1, 4))
    table = random.integers(0, 4, (dictionaries, 1 << m)).astype(float)
    low, high = sorted(random.integers(0, m + 1, 2).tolist())
    out = unset(1 << m, np.int64)
    sizes = np.array([choice.bit_count() for choice in range(1 << m)], np.int32)
    count = fronts(table, sizes, low, high, out)
    mine = [choice for choice in range(1 << m) if low <= choice.bit_count() <= high]

    def dominated(choice):
        others = [other for other in mine if other != choice and other.bit_count() == choice.bit_count()]
        return any(
            (table[:, other] <= table[:, choice]).all() and ((table[:, other] < table[:, choice]).any() or other < choice)
            for other in others
        )

    assert sorted(out[:count].tolist()) == [choice for choice in mine if not dominated(choice)]
    if count:
        assert fronts(table, sizes, low, high, out[: count - 1]) == -1


@given(SEEDS)
def test_cheapest(seed):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 4, 3)
    starts = np.cumsum([0, *sizes])
    choices = random.integers(0, 1 << 12, starts[-1])  # more than one byte
    losses, shares = random.integers(0, 9, (2, starts[-1])).astype(float), np.array([0.25, 0.75])
    prices, which = random.integers(-3, 4, 12).astype(float), unset(3, np.int64)
    cheapest(starts, choices, losses, shares, prices, which)
    for g in range(3):
        cost = [
            shares @ losses[:, at] - sum(prices[j] for j in range(12) if (choices[at] >> j) & 1)
            for at in range(starts[g], starts[g + 1])
        ]
        assert which[g] == starts[g] + int(np.argmin(cost))


@given(SEEDS)
def test_tables(seed):
    """Reduced losses, the cheapest choice of each table, and the cheapest with and without each candidate."""
    random = np.random.default_rng(seed)
    free = [np.sort(random.choice(5, random.integers(0, 4), replace=False)) for _ in range(3)]
    starts = np.cumsum([0, *(1 << len(some) for some in free)])
    of_candidate, candidates = np.cumsum([0, *map(len, free)]), np.concatenate(free).astype(np.int64)
    tables, shares = random.integers(0, 9, (2, starts[-1])).astype(float), np.array([0.5, 0.5])
    prices, out = random.integers(-2, 3, 5).astype(float), unset(3, np.int64)
    cheapest_of_tables(starts, tables, of_candidate, candidates, shares, prices, unset(8), out)
    for g, some in enumerate(free):
        table, cost = tables[:, starts[g] : starts[g + 1]], unset(1 << len(some))
        reduced_losses(table, shares, prices[some], cost)
        for choice in range(len(cost)):
            paid = sum(prices[j] for b, j in enumerate(some) if (choice >> b) & 1)
            assert cost[choice] == pytest.approx(shares @ table[:, choice] - paid)
        assert out[g] == int(np.argmin(cost))
        either = unset((len(some), 2), np.int64)
        cheapest_with_and_without(cost, len(some), either)
        for b in range(len(some)):
            for side in (0, 1):
                mine = [choice for choice in range(len(cost)) if (choice >> b) & 1 == side]
                assert cost[either[b, side]] == min(cost[mine]) and (either[b, side] >> b) & 1 == side
    narrow = out.copy()
    widen_masks(out, of_candidate, candidates)
    for g, some in enumerate(free):
        assert out[g] == sum(1 << int(j) for b, j in enumerate(some) if (narrow[g] >> b) & 1)
