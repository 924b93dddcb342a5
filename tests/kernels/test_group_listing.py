"""The search lists the same sets of rows as looking at every set."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import cell_cost, random_domain, random_places, share_arrays, unset
from sfumato.kernels.group_listing import GROUPS, STEPS, GroupPath, GroupPrices, ListedRows, list_groups

ROOM = 300


def scratch(rows, attributes):
    deep, whole = rows + 2, [unset((rows + 2, columns), np.int64) for columns in (*[attributes] * 3, *[rows] * 4, 7, 2)]
    return GroupPath(
        *whole[:3], unset((deep, rows)), *whole[3:7], whole[7], unset((deep, 5)), whole[8], unset(deep), unset(deep)
    )


class Case:
    """Rows with charges, limits on their neighbours, crowds, cuts, and ranges of losses."""

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
        self.crowd, self.crowds = draw.integers(0, 4, (2, rows)), draw.integers(1, 4, 2)
        self.largest = rows if draw.integers(2) else max(least, min(rows, 2 * least - 1))
        self.cuts = draw.random((int(draw.integers(0, 4)), rows)) < 0.6
        self.part, self.penalty = draw.integers(1, 4, len(self.cuts)), draw.integers(0, 5, len(self.cuts)) / 8
        ranged = draw.integers(2)
        self.floor = ranged * draw.choice([0.0, 0.0, 0.5], rows)
        self.roof = np.where(ranged, draw.choice([np.inf, np.inf, 1.0], rows), np.inf)

    def run(self, best=0, room=ROOM, steps=10**6):
        rows, attributes = self.places.shape
        found, state = unset(room, np.int64), np.zeros(2, np.int64)
        ranks = [np.unique(column, return_inverse=True)[1].ravel() for column in self.places.T]
        powers = 1 << np.arange(rows)
        listed = ListedRows(
            self.places, np.ascontiguousarray(1 << np.column_stack(ranks).astype(np.int64)),
            (self.near @ powers).reshape(-1, rows).astype(np.int64), self.allowed.reshape(-1, rows + 2).astype(np.int64),
            self.crowd, self.crowds, self.least, self.largest,
        )  # fmt: skip
        order = np.argsort(-self.charge, kind="stable")
        prices = GroupPrices(
            self.charge, order, self.roof, self.floor, (self.cuts @ powers).astype(np.int64), self.part, self.penalty
        )
        complete = list_groups(
            self.shares, listed, prices, scratch(rows, attributes), self.most + 1e-9, best > 0, best, found, state, steps
        )
        return complete, found[: state[GROUPS]].tolist(), int(state[STEPS])

    def excess(self, some):
        rows = list(some)
        penalties = sum(
            count // part * penalty
            for count, part, penalty in zip(self.cuts[:, rows].sum(axis=1), self.part, self.penalty, strict=True)
        )
        return len(rows) * cell_cost(self.domains, self.places[rows]) - self.charge[rows].sum() + penalties

    def possible(self, some):
        rows = list(some)
        loss = cell_cost(self.domains, self.places[rows])
        return (
            all(len(set(crowd[rows].tolist())) >= least for crowd, least in zip(self.crowd, self.crowds, strict=True))
            and all(self.floor[rows] <= loss + 1e-12)
            and all(self.roof[rows] >= loss - 1e-12)
            and all(
                near[row][rows].sum() <= allowed[len(rows)]
                for near, allowed in zip(self.near, self.allowed, strict=True)
                for row in rows
            )
        )

    def expected(self):
        return {
            sum(1 << row for row in some): self.excess(some)
            for size in range(self.least, self.largest + 1)
            for some in combinations(range(self.rows), size)
            if self.excess(some) <= self.most + 1e-9 and self.possible(some)
        }


@given(st.integers(0, 2**31), st.integers(1, 7), st.integers(1, 4), st.sampled_from([-0.5, 0, 0.25, 1, 4]))
def test_every_set_is_listed_once(seed, rows, least, most):
    case = Case(seed, rows, min(least, rows), most)
    complete, found, _ = case.run()
    assert complete
    assert sorted(found) == sorted(case.expected())


@given(st.integers(0, 2**31), st.integers(1, 7), st.integers(1, 4), st.sampled_from([-0.5, 0, 0.25, 1, 4]))
def test_the_best_sets_are_among_fewer(seed, rows, least, most):
    """Of all sets that begin with the same row, the one with the least excess is listed."""
    case = Case(seed, rows, min(least, rows), most)
    complete, found, _ = case.run(best=ROOM)
    everything = case.expected()
    assert complete
    assert set(found) <= set(everything)
    for excess in [min(everything.values(), default=None)]:
        assert excess is None or min(everything[mask] for mask in found) <= excess + 1e-8
    complete, some, _ = case.run(best=1)
    assert bool(some) == bool(everything)
    assert complete or some


@given(st.integers(0, 2**31), st.integers(0, 30), st.integers(0, 60))
def test_a_list_that_is_cut_short_says_so(seed, room, steps):
    case = Case(seed, 7, 2, 1)
    complete, found, taken = case.run(room=room, steps=steps)
    everything = case.expected()
    assert len(set(found)) == len(found) <= room
    assert set(found) <= set(everything)
    if complete:
        assert len(found) == len(everything) and taken <= steps
