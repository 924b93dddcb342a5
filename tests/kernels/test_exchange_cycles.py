"""The search for cycles finds one exactly where trying every cycle of rows in different classes finds one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import packed
from naive_exchanges import lowering_cycles, potential, turned
from sfumato.kernels.exchange_cycles import find_cycle
from sfumato.kernels.neighbour_lookup import BITS


def searched(seed, rows, classes, budget):
    """Return a random relation and classes, the ring that the search finds, and the tests that it spent."""
    draw = np.random.default_rng(seed)
    near = draw.random((rows, rows)) < 0.35
    near |= near.T | np.eye(rows, dtype=bool)
    of_row = np.unique(np.sort(draw.integers(0, classes, rows)), return_inverse=True)[1]
    own = (near & (of_row[:, None] == of_row)).sum(axis=1) - 1
    offsets = np.concatenate([[0], np.cumsum(np.bincount(of_row))])
    allowed = np.full(len(offsets) - 1, int(draw.integers(0, 2)))
    nothing, ring = np.zeros(0, np.int64), np.full(len(offsets) - 1, -1)
    length, spent = find_cycle(
        (BITS, nothing, nothing, nothing, packed(near)), np.arange(rows), (offsets, np.arange(rows), of_row, own, allowed),
        budget, ring,
    )  # fmt: skip
    return near, of_row, ring[:length].tolist(), spent


@given(st.integers(0, 2**31), st.integers(2, 9), st.integers(1, 4))
def test_a_cycle_is_found_if_and_only_if_there_is_one(seed, rows, classes):
    near, of_row, ring, _ = searched(seed, rows, classes, 10**6)
    assert bool(ring) == any(True for _ in lowering_cycles(near, of_row))
    if ring:
        assert len({of_row[row] for row in ring}) == len(ring) >= 2
        assert potential(near, turned(of_row, ring)) < potential(near, of_row)


@given(st.integers(0, 2**31), st.integers(0, 60))
def test_a_search_that_gives_up_says_so(seed, budget):
    near, of_row, ring, spent = searched(seed, 9, 4, budget)
    if ring:
        assert potential(near, turned(of_row, ring)) < potential(near, of_row)
    elif spent <= budget:
        assert not any(True for _ in lowering_cycles(near, of_row))


@given(st.integers(0, 2**31), st.integers(2, 9), st.integers(1, 4))
def test_a_search_needs_a_budget_of_the_tests_that_it_states(seed, rows, classes):
    _, _, ring, spent = searched(seed, rows, classes, 10**6)
    assert searched(seed, rows, classes, spent)[2:] == (ring, spent)
    if spent:
        _, _, ring, less = searched(seed, rows, classes, spent - 1)
        assert ring == [] and less >= spent
