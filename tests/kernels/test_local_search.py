"""The local search: after every pass its arrays describe the groups, and the cost that it lowers has fallen."""

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
    neighbours,
    random_domain,
    random_limit,
    random_places,
    share_arrays,
)
from sfumato.kernels.group_excess import DISTINCT
from sfumato.kernels.local_search import SearchArrays, exchange_rows, refresh_all


def search_arrays(place, labels, limits, widest):
    rows, attributes = place.shape
    size = np.bincount(labels)
    room = size + 3
    first = np.concatenate([[0], np.cumsum(room)[:-1]])
    member = np.full(room.sum(), -1, np.int64)
    for g in range(len(size)):
        member[first[g] : first[g] + size[g]] = np.flatnonzero(labels == g)
    ends = (np.zeros((len(size), attributes), np.int32) for _ in range(4))
    return SearchArrays(
        place, labels.copy(), first, room, size, member, *ends, np.zeros(len(size)), np.zeros(len(size)),
        np.zeros((limits, rows), np.int64), np.zeros(rows), np.zeros(len(size)), np.zeros(rows), np.zeros(len(size)),
        np.zeros(60, np.int64), np.zeros(rows + 1, np.int64), np.zeros(widest + 2, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip


class Case:
    """A random table in groups, with one limit on neighbours and one condition on histograms."""

    def __init__(self, seed, rows, with_condition):
        draw = np.random.default_rng(seed)
        self.domains = [random_domain(draw) for _ in range(2)]
        self.place = random_places(draw, self.domains, rows)
        self.value = draw.integers(0, 6, rows)
        one = random_limit(draw, 6, rows)
        self.limit = one[0]
        self.distinct = int(draw.integers(1, 4)) if with_condition else 0
        self.shares = share_arrays(self.domains, draw)
        self.limits = limit_arrays([one], [self.value])
        conditions = [{"kind": DISTINCT, "first": self.distinct}] if with_condition else []
        self.conditions = condition_arrays(conditions, [self.value] if with_condition else [])
        labels = np.unique(draw.integers(0, max(1, rows // 3), rows), return_inverse=True)[1]
        self.arrays = search_arrays(self.place, labels, 1, 8)
        self.order = draw.permutation(rows)
        refresh_all(self.shares, self.limits, self.conditions, self.arrays)

    def excess(self, rows):
        missing = self.distinct - len(set(self.value[rows].tolist()))
        return limit_excess(self.limit, self.value[rows].tolist()) + (missing + 0.5 if missing > 0 else 0)

    def check(self):
        """Compare every array with what the groups say."""
        st_, group = self.arrays, self.arrays.group
        for g in range(len(st_.size)):
            rows = st_.member[st_.first[g] : st_.first[g] + st_.size[g]]
            assert sorted(rows.tolist()) == np.flatnonzero(group == g).tolist()
            if not len(rows):
                continue
            cost, excess = cell_cost(self.domains, self.place[rows]), self.excess(rows)
            assert st_.loss[g] == pytest.approx(cost * len(rows))
            assert st_.excess[g] == pytest.approx(excess)
            assert (st_.low[g] == self.place[rows].min(axis=0)).all()
            assert (st_.high[g] == self.place[rows].max(axis=0)).all()
            assert st_.degree[0, rows].tolist() == neighbours(self.limit, self.value[rows].tolist())
            if len(rows) > 1:
                gains = [cost - cell_cost(self.domains, self.place[np.delete(rows, i)]) for i in range(len(rows))]
                assert st_.gain[rows] == pytest.approx([max(0.0, gain) for gain in gains], abs=1e-9)
                assert st_.best_gain[g] == pytest.approx(max(0.0, *gains) * len(rows))
                # a bound: what leaves with a row, at the limit of the present size
                for i, row in enumerate(rows):
                    rest = self.value[np.delete(rows, i)].tolist()
                    allowed = self.limit.allowed[len(rows)]
                    left = sum(max(0, degree - allowed) for degree in neighbours(self.limit, rest))
                    assert st_.relief[row] >= excess - left - (self.distinct + 0.5 if self.distinct else 0) - 1e-9
            assert st_.best_relief[g] == st_.relief[rows].max()
        assert not st_.counts.any()

    def cost(self, price):
        return self.arrays.loss.sum() + price * self.arrays.excess.sum()


@given(st.integers(0, 2**31), st.integers(2, 20), st.booleans())
def test_arrays_describe_the_groups(seed, rows, with_condition):
    Case(seed, rows, with_condition).check()


@pytest.mark.parametrize("heat", [0.0, 0.5])
@given(st.integers(0, 2**31), st.integers(4, 20), st.booleans(), st.booleans())
def test_passes_keep_the_arrays_up_to_date_and_lower_the_cost(heat, seed, rows, with_condition, focus):
    case, price, random = Case(seed, rows, with_condition), 2.0, np.array([seed + 1], np.uint64)
    for _ in range(3):
        before, smallest = case.cost(price), case.arrays.size.min()
        changes = exchange_rows(
            case.shares, case.limits, case.conditions, case.arrays, case.order, 4, rows, heat, price, 2, focus, random
        )
        case.check()
        assert (case.arrays.size <= case.arrays.room).all()
        assert case.arrays.size.min() >= min(2, smallest)
        if heat == 0:
            assert case.cost(price) < before or not changes
            assert case.cost(price) <= before + 1e-9
