"""Cuts of an order at the least cost, against all ways of cutting it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import (
    cell_cost,
    condition_arrays,
    limit_arrays,
    limit_excess,
    random_domain,
    random_limit,
    random_places,
    share_arrays,
)
from sfumato.kernels.group_excess import DISTINCT
from sfumato.kernels.order_cuts import cut_order


def all_cuts(start, rows, least, most):
    """Yield every way of cutting positions start to rows into runs of these sizes."""
    if start == rows:
        yield []
    for size in range(least, min(most, rows - start) + 1):
        for rest in all_cuts(start + size, rows, least, most):
            yield [(start, start + size), *rest]


@given(st.integers(0, 2**31), st.integers(1, 9), st.integers(1, 3), st.sampled_from([0.0, 0.3, 2.0]))
def test_no_cut_costs_less(seed, rows, least, price):
    draw = np.random.default_rng(seed)
    domains = [random_domain(draw) for _ in range(2)]
    place, order = random_places(draw, domains, rows), draw.permutation(rows)
    value = draw.integers(0, 5, rows)
    one = random_limit(draw, 5, rows)
    distinct = int(draw.integers(0, 3))
    most = 2 * least + 1
    cuts = np.zeros(rows + 1, np.int64)
    cost = cut_order(
        share_arrays(domains, draw), place, limit_arrays([one], [value]),
        condition_arrays([{"kind": DISTINCT, "first": distinct}], [value]), order, least, most, price, cuts,
    )  # fmt: skip

    def cost_of(runs):
        total = 0.0
        for start, stop in runs:
            group = order[start:stop]
            missing = distinct - len(set(value[group].tolist()))
            excess = limit_excess(one[0], value[group].tolist()) + (missing + 0.5 if missing > 0 else 0)
            total += len(group) * cell_cost(domains, place[group]) + price * excess
        return total

    possible = [cost_of(runs) for runs in all_cuts(0, rows, least, most)]
    if not possible:
        assert cost >= 1e299
        return
    assert cost == pytest.approx(min(possible))
    runs, end = [], rows
    while end > 0:
        runs.append((int(cuts[end]), end))
        end = int(cuts[end])
    assert all(least <= stop - start <= most for start, stop in runs)
    assert cost_of(runs) == pytest.approx(cost)
