"""The price of conflicts, against every choice of levels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.conflict_bounds import EMPTY, NONE_OPEN, conflict_bound


@st.composite
def boxes(draw):
    """Costs that do not fall, conflicts, and a box."""
    width, height = draw(st.integers(1, 4)), 3
    steps = st.lists(st.integers(0, 5), min_size=height, max_size=height)
    costs = [np.cumsum([0, *draw(steps)]) for _ in range(width)]
    levels = st.lists(st.integers(0, height), min_size=width, max_size=width)
    conflicts = draw(st.lists(levels, max_size=4))
    ends = [sorted(pair) for pair in zip(draw(levels), draw(levels), strict=True)]
    return costs, conflicts, [low for low, _ in ends], [high for _, high in ends]


@given(boxes())
def test_the_price_of_conflicts_is_not_above_the_cheapest_way_to_resolve_them(case):
    costs, conflicts, low, high = case
    everywhere = np.stack(np.meshgrid(*(np.arange(a, b + 1) for a, b in zip(low, high, strict=True)), indexing="ij"), -1)
    resolving = [
        choice
        for choice in everywhere.reshape(-1, len(low)).tolist()
        if all(any(level > limit for level, limit in zip(choice, conflict, strict=True)) for conflict in conflicts)
    ]
    raised = np.array(low)
    matrix = np.array(costs, float)
    increase, chosen = conflict_bound(matrix, np.array(conflicts, np.int64).reshape(-1, len(low)), raised, np.array(high))
    if chosen == EMPTY:
        assert not resolving
        return
    # no way to resolve the conflicts is below the raised levels
    assert all((np.array(choice) >= raised).all() for choice in resolving)
    before = sum(matrix[j, level] for j, level in enumerate(raised))
    cheapest = min((sum(matrix[j, level] for j, level in enumerate(choice)) for choice in resolving), default=np.inf)
    assert before + increase <= cheapest + 1e-9
    assert (chosen == NONE_OPEN) == (raised.tolist() in resolving)
    if chosen == NONE_OPEN:
        assert increase == 0
    else:  # at least what resolving that conflict alone costs
        ways = [(j, conflicts[chosen][j] + 1) for j in range(len(low)) if conflicts[chosen][j] < high[j]]
        assert increase >= min(matrix[j, level] - matrix[j, raised[j]] for j, level in ways) - 1e-9
