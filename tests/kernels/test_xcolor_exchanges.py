"""Exchanges between classes: every count is kept right, the potential falls, and stuck means that no exchange helps."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from kernel_inputs import cell_cost, packed, random_domain, random_places, share_arrays, unset
from naive_exchanges import lowering_cycles, potential, turned
from sfumato.kernels.neighbour_lookup import BITS
from sfumato.kernels.xcolor_exchanges import AFTER, BEFORE, CYCLES, SWAPS, count_own, exchanges

UNLIMITED = np.iinfo(np.int64).max


class Case:
    """Rows with distinct values under a random symmetric relation, in classes."""

    def __init__(self, seed, rows, classes):
        draw = np.random.default_rng(seed)
        self.near = draw.random((rows, rows)) < 0.25
        self.near |= self.near.T | np.eye(rows, dtype=bool)
        nothing = np.zeros(0, np.int64)
        self.by = (BITS, nothing, nothing, nothing, packed(self.near))
        self.domains = [random_domain(draw) for _ in range(2)]
        self.shares, self.places = share_arrays(self.domains, draw), random_places(draw, self.domains, rows)
        self.of_row = np.sort(draw.integers(0, classes, rows))
        self.of_row = np.unique(self.of_row, return_inverse=True)[1]
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(self.of_row))])
        self.allowed = np.full(len(self.offsets) - 1, int(draw.integers(0, 2)))
        self.members, self.own = np.arange(rows), unset(rows, np.int64)
        self.values = np.arange(rows)
        self.profile = np.unique(self.places, axis=0, return_inverse=True)[1].ravel()

    def potential(self, of_row):
        return sum(self.near[u, v] for u, v in itertools.combinations(range(len(of_row)), 2) if of_row[u] == of_row[v])

    def neighbours(self):
        return [(self.near[v] & (self.of_row == self.of_row[v])).sum() - 1 for v in range(len(self.of_row))]

    def loss(self, of_row):
        """Return the loss of all rows in some classes."""
        classes = [np.flatnonzero(of_row == c) for c in range(len(self.allowed))]
        return sum(len(rows) * self.row_loss(rows) for rows in classes)

    def row_loss(self, rows):
        return cell_cost(self.domains, self.places[rows]) if len(rows) else 0.0

    def exchanges_of(self, v):
        """Return the exchanges of a row that lower the potential.

        For each other row: whether this row is a violation then, and the loss.
        """
        found = {}
        for u in np.flatnonzero(self.of_row != self.of_row[v]):
            after = np.array(turned(self.of_row.tolist(), [v, u]))
            if potential(self.near, after) < self.potential(self.of_row):
                meets = sum(self.near[v] & (after == after[v])) - 1
                found[int(u)] = meets > self.allowed[self.of_row[u]], self.loss(after)
        return found

    def saved(self, v):
        """Return what each row of the class of a row gains if the row leaves it."""
        rows = np.flatnonzero(self.of_row == self.of_row[v])
        return self.row_loss(rows) - self.row_loss(rows[rows != v])

    def run(self, limit=UNLIMITED, budget=10**6):
        figures = np.zeros(7, np.int64)
        exchanges(
            self.by, self.shares, (self.values, self.places, self.profile),
            (self.offsets, self.members, self.of_row, self.own, self.allowed), len(self.values),
            int(self.profile.max()) + 1, limit, UNLIMITED, budget, figures,
        )  # fmt: skip
        return figures


@given(st.integers(0, 2**31), st.integers(2, 12), st.integers(1, 4))
def test_own_neighbours_are_counted(seed, rows, classes):
    case = Case(seed, rows, classes)
    total = count_own(case.by, case.values, case.members, case.offsets, case.own)
    assert case.own.tolist() == case.neighbours()
    assert total == 2 * case.potential(case.of_row)


@given(st.integers(0, 2**31), st.integers(4, 12), st.integers(2, 4))
def test_exchanges_lower_the_potential_until_nothing_helps(seed, rows, classes):
    case = Case(seed, rows, classes)
    before, sizes = case.potential(case.of_row), np.bincount(case.of_row)
    figures = case.run()
    assert figures[BEFORE] == before
    assert figures[AFTER] == case.potential(case.of_row)
    assert figures[SWAPS] + figures[CYCLES] <= before - figures[AFTER]
    assert (np.bincount(case.of_row) == sizes).all()
    assert case.own.tolist() == case.neighbours()
    for c in range(len(sizes)):
        assert sorted(case.members[case.offsets[c] : case.offsets[c + 1]]) == np.flatnonzero(case.of_row == c).tolist()
    if (case.own > case.allowed[case.of_row]).any():
        assert not list(lowering_cycles(case.near, case.of_row))


@given(st.integers(0, 2**31), st.integers(4, 12), st.integers(2, 4))
def test_a_limit_is_kept(seed, rows, classes):
    case = Case(seed, rows, classes)
    figures = case.run(limit=1)
    assert figures[SWAPS] + figures[CYCLES] <= 1


@given(st.integers(0, 2**31), st.integers(6, 16), st.integers(2, 4))
def test_the_first_exchange_is_the_best_one_of_the_row_whose_departure_saves_most(seed, rows, classes):
    case = Case(seed, rows, classes)
    assume(np.bincount(case.of_row).min() > 1)
    before, violations = case.of_row.copy(), np.flatnonzero(np.array(case.neighbours()) > case.allowed[case.of_row])
    possible = {int(v): found for v in violations if (found := case.exchanges_of(v))}
    saved = {v: case.saved(v) for v in possible}
    first = [v for v in possible if saved[v] >= max(saved.values()) - 1e-9]
    figures = case.run(limit=1)
    assert figures[SWAPS] == bool(possible)
    if possible:
        one, other = np.flatnonzero(case.of_row != before).tolist()
        assert any(u in best(possible[v]) for v, u in ((one, other), (other, one)) if v in first)


def best(exchanges):
    """Return the exchanges of least loss among those after which a row is no violation, or among all if there are none."""
    allowed = [u for u, (violation, _) in exchanges.items() if not violation] or list(exchanges)
    return [u for u in allowed if exchanges[u][1] <= min(exchanges[w][1] for w in allowed) + 1e-9]
