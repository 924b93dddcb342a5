"""A random table in groups as the local search keeps it, and what its arrays must say."""

from __future__ import annotations

import numpy as np
import pytest

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
from sfumato.anonymization.methods.group_arrays import group_arrays
from sfumato.kernels.group_excess import DISTINCT


class SearchCase:
    """A random table in groups, with at most one limit on neighbours and one condition on histograms."""

    def __init__(self, seed, rows, with_condition, values=6, groups=None, with_limit=True):
        draw = np.random.default_rng(seed)
        self.domains = [random_domain(draw) for _ in range(2)]
        self.place = random_places(draw, self.domains, rows)
        self.value = draw.integers(0, values, rows)
        one = random_limit(draw, values, rows)
        self.limit = one[0] if with_limit else None
        self.distinct = int(draw.integers(1, 4)) if with_condition else 0
        self.shares = share_arrays(self.domains, draw)
        self.limits = limit_arrays([one], [self.value])
        if not with_limit:
            self.limits = type(self.limits)(*(each[:0] for each in self.limits))
        conditions = [{"kind": DISTINCT, "first": self.distinct}] if with_condition else []
        self.conditions = condition_arrays(conditions, [self.value] if with_condition else [])
        labels = np.unique(draw.integers(0, groups or max(1, rows // 3), rows), return_inverse=True)[1]
        self.arrays = group_arrays(self.place, labels, self.shares, self.limits, self.conditions)
        self.order = draw.permutation(rows)
        # small tables would never fill groups that have as much room as they have outside of tests
        spare = draw.integers(0, 10, len(self.arrays.size))
        self.arrays.room[:] = np.minimum(self.arrays.room, self.arrays.size + spare)

    def excess(self, rows):
        missing = self.distinct - len(set(self.value[rows].tolist()))
        over = limit_excess(self.limit, self.value[rows].tolist()) if self.limit else 0
        return over + (missing + 0.5 if missing > 0 else 0)

    def check(self):
        """Compare every array with what the groups say."""
        st_, group = self.arrays, self.arrays.group
        assert (st_.size <= st_.room).all()
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
            if self.limit:
                assert st_.degree[0, rows].tolist() == neighbours(self.limit, self.value[rows].tolist())
            if len(rows) > 1:
                gains = [cost - cell_cost(self.domains, self.place[np.delete(rows, i)]) for i in range(len(rows))]
                assert st_.gain[rows] == pytest.approx([max(0.0, gain) for gain in gains], abs=1e-9)
                assert st_.best_gain[g] == pytest.approx(max(0.0, *gains) * len(rows))
                # a bound: what leaves with a row, at the limit of the present size
                for i, row in enumerate(rows if self.limit else []):
                    rest = self.value[np.delete(rows, i)].tolist()
                    allowed = self.limit.allowed[len(rows)]
                    left = sum(max(0, degree - allowed) for degree in neighbours(self.limit, rest))
                    assert st_.relief[row] >= excess - left - (self.distinct + 0.5 if self.distinct else 0) - 1e-9
            assert st_.best_relief[g] == st_.relief[rows].max()
            self.check_counts(g, rows)
        assert not st_.scratch[0].any()
        assert not st_.tally.any()

    def check_counts(self, g, rows):
        """Compare the counts of places and values, where a group has them, with its rows."""
        st_ = self.arrays
        for j, domain in enumerate(self.domains):
            at = st_.place_first[g, j]
            if at >= 0:
                expected = np.bincount(self.place[rows, j], minlength=domain.size + 1)
                assert st_.place_counts[at : at + domain.size + 1].tolist() == expected.tolist()
                assert st_.distinct[g, j] == (expected > 0).sum()
        for h in range(len(self.conditions.kind)):
            at, width = st_.value_first[h, g], self.conditions.width[h]
            if at >= 0:
                expected = np.bincount(self.value[rows], minlength=width)
                assert st_.value_counts[at : at + width].tolist() == expected.tolist()
                assert st_.different[h, g] == (expected > 0).sum()

    def rows_of(self, g):
        return np.flatnonzero(self.arrays.group == g)

    def cost_of(self, rows, price):
        """Return loss + price · excess of some rows as a group, counted from scratch."""
        return len(rows) * cell_cost(self.domains, self.place[rows]) + price * self.excess(rows) if len(rows) else 0.0

    def cost(self, price):
        return self.arrays.loss.sum() + price * self.arrays.excess.sum()
