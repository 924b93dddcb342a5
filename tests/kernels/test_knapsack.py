"""The knapsack over numbers of cells, against all corners and all combinations of deviations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.knapsack import deviate, hull_steps

LOSSES = st.lists(st.integers(0, 20), min_size=1, max_size=6)


@given(st.lists(LOSSES, min_size=1, max_size=3))
def test_hull_steps(rows):
    """The steps lead from corner to corner of the convex hull, in ascending slopes, and stay below every loss."""
    width = max(map(len, rows))
    least = np.array([[*row, *[np.inf] * (width - len(row))] for row in rows], float)
    groups, widths, ends = unset((3, least.size), np.int64)
    slopes = unset(least.size)
    count = hull_steps(least, groups, slopes, widths, ends)
    for g, row in enumerate(rows):
        mine = [s for s in range(count) if groups[s] == g]
        hull, at = [float(row[0])], 0
        for s in mine:
            assert ends[s] == at + widths[s]
            hull += [hull[-1] + slopes[s] * (n + 1) for n in range(widths[s])]
            at = int(ends[s])
            assert hull[-1] == pytest.approx(row[at]), "a corner is a loss"
        assert at == len(row) - 1
        assert all(low <= loss + 1e-9 for low, loss in zip(hull, row, strict=True))
        assert np.all(np.diff(slopes[mine]) >= 0)


@given(st.lists(st.lists(st.integers(0, 9) | st.none(), min_size=5, max_size=5), min_size=1, max_size=4), st.integers(-2, 2))
def test_deviate(rows, wanted):
    """Steps from -2 to 2, one per record at most; the sum is as wanted at the least cost."""
    costs = np.array([[np.inf if cost is None else cost for cost in row] for row in rows], float)
    width = 2 * len(rows) + 2
    taken = np.zeros((len(rows), 2 * width + 1), np.uint8)
    found = deviate(costs, -2, wanted, width, taken)
    options = [[(0, 0.0), *((d - 2, cost) for d, cost in enumerate(row) if cost < np.inf)] for row in costs.tolist()]
    sums = [sum(cost for _, cost in choice) for choice in product(*options) if sum(s for s, _ in choice) == wanted]
    assert found == min(sums, default=np.inf)
    if found < np.inf:
        at, cost = width + wanted, 0.0
        for r in reversed(range(len(rows))):
            if taken[r, at]:
                cost, at = cost + costs[r, taken[r, at] - 1], at - (int(taken[r, at]) - 3)
        assert (at, cost) == (width, found), "the choice is read backwards"
