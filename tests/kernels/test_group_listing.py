"""The search lists the same sets of rows as looking at every set."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import cell_cost, random_domain, random_places, share_arrays, unset
from sfumato.kernels.group_listing import GROUPS, STEPS, list_groups

ROOM = 300


class Case:
    """Rows with charges, and limits on their neighbours."""

    def __init__(self, seed, rows, least, most):
        draw = np.random.default_rng(seed)
        self.domains = [random_domain(draw) for _ in range(int(draw.integers(1, 4)))]
        self.shares, self.places = share_arrays(self.domains, draw), random_places(draw, self.domains, rows)
        self.rows, self.least, self.most = rows, least, most
        self.charge = draw.integers(0, 9, rows) / 8
        related = draw.random((int(draw.integers(0, 3)), rows, rows)) < 0.3
        self.near = (related | related.transpose(0, 2, 1)) & ~np.eye(rows, dtype=bool)
        share = draw.choice([0.0, 0.5])
        # that of the size rows + 1 is the largest of all
        self.allowed = np.array([[int(share * min(size, rows)) for size in range(rows + 2)] for _ in self.near])

    def listed(self, room=ROOM, steps=10**6):
        rows, attributes = self.places.shape
        found, state = unset(room, np.int64), np.zeros(2, np.int64)
        ranks = [np.unique(column, return_inverse=True)[1].ravel() for column in self.places.T]
        low, high, seen = (np.zeros((rows + 2, attributes), np.int64) for _ in range(3))
        complete = list_groups(
            self.shares, self.places, np.ascontiguousarray(1 << np.column_stack(ranks).astype(np.int64)), self.charge,
            self.most + 1e-9, self.least, (self.near @ (1 << np.arange(rows))).reshape(-1, rows).astype(np.int64),
            self.allowed.reshape(-1, rows + 2).astype(np.int64), low, high, seen, np.zeros(rows + 2),
            np.zeros((rows + 2, rows)), np.zeros((rows + 2, 3), np.int64), np.zeros(rows), found, state, steps,
        )  # fmt: skip
        return complete, found[: state[GROUPS]].tolist(), int(state[STEPS])

    def expected(self):
        return [
            sum(1 << row for row in some)
            for size in range(self.least, self.rows + 1)
            for some in combinations(range(self.rows), size)
            if size * cell_cost(self.domains, self.places[list(some)]) - self.charge[list(some)].sum() <= self.most + 1e-9
            and all(
                near[row][list(some)].sum() <= allowed[size]
                for near, allowed in zip(self.near, self.allowed, strict=True)
                for row in some
            )
        ]


@given(st.integers(0, 2**31), st.integers(1, 7), st.integers(1, 4), st.sampled_from([-0.5, 0, 0.25, 1, 4]))
def test_every_set_is_listed_once(seed, rows, least, most):
    case = Case(seed, rows, least, most)
    complete, found, _ = case.listed()
    assert complete
    assert sorted(found) == sorted(case.expected())


@given(st.integers(0, 2**31), st.integers(0, 30), st.integers(0, 60))
def test_a_list_that_is_cut_short_says_so(seed, room, steps):
    case = Case(seed, 7, 2, 1)
    complete, found, taken = case.listed(room, steps)
    everything = case.expected()
    assert len(set(found)) == len(found) <= room
    assert set(found) <= set(everything)
    if complete:
        assert len(found) == len(everything) and taken <= steps
