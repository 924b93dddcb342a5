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
from sfumato.kernels.order_cuts import coarse_ends, cut_order


def all_cuts(start, ends, least, most):
    """Yield every way of cutting the positions from start on into runs of these sizes that end where they may."""
    rows = len(ends) - 1
    if start == rows:
        yield []
    for size in range(least, min(most, rows - start) + 1):
        if ends[start + size]:
            for rest in all_cuts(start + size, ends, least, most):
                yield [(start, start + size), *rest]


@given(st.integers(0, 2**31), st.integers(1, 9), st.integers(1, 3), st.sampled_from([0.0, 0.3, 2.0]), st.booleans())
def test_no_cut_costs_less(seed, rows, least, price, everywhere):
    draw = np.random.default_rng(seed)
    domains = [random_domain(draw) for _ in range(2)]
    place, order = random_places(draw, domains, rows), draw.permutation(rows)
    value = draw.integers(0, 5, rows)
    one = random_limit(draw, 5, rows)
    distinct = int(draw.integers(0, 3))
    most = 2 * least + 1
    cuts = np.zeros(rows + 1, np.int64)
    ends = np.ones(rows + 1, bool) if everywhere else draw.random(rows + 1) < 0.6
    ends[rows] = True
    cost = cut_order(
        share_arrays(domains, draw), place, limit_arrays([one], [value]),
        condition_arrays([{"kind": DISTINCT, "first": distinct}], [value]), order, ends, least, most, price, cuts,
    )  # fmt: skip

    def cost_of(runs):
        total = 0.0
        for start, stop in runs:
            group = order[start:stop]
            missing = distinct - len(set(value[group].tolist()))
            excess = limit_excess(one[0], value[group].tolist()) + (missing + 0.5 if missing > 0 else 0)
            total += len(group) * cell_cost(domains, place[group]) + price * excess
        return total

    possible = [cost_of(runs) for runs in all_cuts(0, ends, least, most)]
    if not possible:
        assert cost >= 1e299
        return
    assert cost == pytest.approx(min(possible))
    runs, end = [], rows
    while end > 0:
        runs.append((int(cuts[end]), end))
        end = int(cuts[end])
    assert all(least <= stop - start <= most and ends[stop] for start, stop in runs)
    assert cost_of(runs) == pytest.approx(cost)


@given(st.integers(0, 2**31), st.integers(1, 200), st.integers(1, 30), st.integers(1, 60))
def test_runs_end_at_the_coarsest_cut_of_each_stretch_and_at_multiples_of_the_least_run(seed, rows, step, least):
    coarse = np.random.default_rng(seed).integers(0, 5, rows + 1)
    ends = np.zeros(rows + 1, bool)
    coarse_ends(coarse, step, least, ends)
    multiples = {*range(0, rows + 1, least), *range(rows, -1, -least)}
    assert multiples <= set(np.flatnonzero(ends).tolist())
    for start in range(0, rows, step):
        stretch = coarse[start : min(start + step, rows)]
        found = set(np.flatnonzero(ends[start : start + len(stretch)]).tolist())
        (coarsest,) = found - {i - start for i in multiples} or {int(np.argmax(stretch))}
        assert coarse[start + coarsest] == stretch.max()


@given(st.integers(0, 2**31), st.integers(4, 60), st.integers(2, 400))
def test_large_groups_can_be_cut_at_coarse_ends(seed, least, rows):
    """One end in each quarter of a group suffices, if runs may be longer by what the ends may be apart."""
    draw = np.random.default_rng(seed)
    rows, step = rows + least, least // 4
    ends, cuts = np.zeros(rows + 1, bool), np.zeros(rows + 1, np.int64)
    coarse_ends(draw.integers(0, 9, rows + 1), step, least, ends)
    domains, value = [random_domain(draw)], draw.integers(0, 5, rows)
    limits = limit_arrays([random_limit(draw, 5, rows)], [value])
    cost = cut_order(
        share_arrays(domains, draw), random_places(draw, domains, rows), limits, condition_arrays([], []),
        np.arange(rows), ends, least, 2 * least + 1 + 2 * (step - 1), 0.3, cuts,
    )  # fmt: skip
    assert cost < 1e299
