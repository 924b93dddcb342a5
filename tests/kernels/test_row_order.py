"""The order of the rows: a permutation, split where most is saved; and random numbers that every machine shares."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import Domain, compiled, random_domain, random_places, share_arrays
from sfumato.kernels import row_order
from sfumato.kernels.cell_shares import LINE, SET
from sfumato.kernels.row_order import tree_order

next_bits, uniform = compiled(row_order.draw), compiled(row_order.uniform)


def naive_order(domains, place, rows, before=None):
    """Split where the saving, weighted by the square of the attribute's share, is largest; recursively."""
    best, split = -1.0, None
    for j, domain in enumerate(domains):
        places = sorted({int(place[row, j]) for row in rows})
        if len(places) == 1:
            continue
        full = domain.share(places) or 1e-12
        for i in range(len(places) - 1):
            left = sum(place[row, j] <= places[i] for row in rows)
            below, above = domain.share(places[: i + 1]), domain.share(places[i + 1 :])
            saved = (left * (full - below) + (len(rows) - left) * (full - above)) * full * full
            if saved > best:
                best, split = saved, (j, places[i])
    if split is None or len(rows) == 1:
        return rows
    j, cut = split
    first = [row for row in rows if place[row, j] <= cut]
    second = [row for row in rows if place[row, j] > cut]
    if before is not None and place[before, j] > cut:
        first, second = second, first
    first = naive_order(domains, place, first, before)
    return first + naive_order(domains, place, second, first[-1])


@given(st.integers(0, 2**31), st.integers(1, 14), st.integers(1, 3))
def test_the_best_order(seed, rows, attributes):
    draw = np.random.default_rng(seed)
    domains = [random_domain(draw) for _ in range(attributes)]
    place = random_places(draw, domains, rows)
    order, coarse = np.arange(rows), np.zeros(rows + 1, np.int64)
    tree_order(share_arrays(domains, draw), place, order, coarse, 1, False, np.array([1], np.uint64))
    assert order.tolist() == naive_order(domains, place, list(range(rows)))
    different = (np.diff(place[order], axis=0) != 0).any(axis=1)
    assert (coarse[1:rows][different] > 0).all(), "different rows are cut apart"
    assert coarse.max(initial=0) <= rows


@given(st.integers(0, 2**31), st.integers(1, 40), st.integers(1, 8))
def test_a_random_order_is_a_permutation_with_equal_rows_together(seed, rows, leaf):
    draw = np.random.default_rng(seed)
    domains = [random_domain(draw) for _ in range(2)]
    place = random_places(draw, domains, rows)
    order, coarse, state = draw.permutation(rows), np.zeros(rows + 1, np.int64), np.array([seed + 1], np.uint64)
    again, same_state = order.copy(), state.copy()
    tree_order(share_arrays(domains), place, order, coarse, leaf, True, state)
    tree_order(share_arrays(domains), place, again, coarse, leaf, True, same_state)
    assert sorted(order.tolist()) == list(range(rows))
    assert (order == again).all()
    if leaf == 1:
        seen = [tuple(place[row].tolist()) for row in order]
        assert sum(a != b for a, b in itertools.pairwise(seen)) == len(set(seen)) - 1


@given(st.integers(0, 2**31), st.integers(2, 40), st.sampled_from([LINE, SET]), st.booleans())
def test_places_that_do_not_occur_do_not_matter(seed, rows, kind, random):
    """The same rows in a domain of 5,000 places and in that of the places that occur: sorted there, counted here."""
    draw = np.random.default_rng(seed)
    sparse = np.column_stack([np.sort(draw.integers(0, 5_000, rows)), draw.integers(0, 5_000, rows)]).astype(np.int32)
    small, found = share_arrays([random_domain(draw, kind) for _ in range(2)]), []
    for dense in (False, True):
        columns, at = [], []
        for column in sparse.T:
            present, codes = np.unique(column, return_inverse=True)
            columns.append(codes if dense else column)
            at.append(np.resize(present if dense else np.arange(5_000), 5_000) / 5_000)
        # a set's share is that of the values that it contains: of equally many in both domains
        sizes = np.array([len(np.unique(column)) for column in columns]) if dense else np.full(2, 5_000)
        shares = small._replace(size=sizes, at=np.array(at), least=np.zeros(2), total=np.full(2, 5_000))
        order, coarse, state = np.arange(rows), np.zeros(rows + 1, np.int64), np.array([seed + 1], np.uint64)
        tree_order(shares, np.ascontiguousarray(np.column_stack(columns).astype(np.int32)), order, coarse, 1, random, state)
        found.append((order.tolist(), coarse.tolist(), int(state[0])))
    assert found[0] == found[1]


@given(st.integers(0, 2**31))
def test_a_random_order_splits_an_attribute_first_that_costs_ten_times_as_much(seed):
    line = Domain(LINE, 3, [0.0, 0.02, 0.2], 0.0, [(place, 0, 0) for place in range(3)])
    draw = np.random.default_rng(seed)
    place = draw.permutation(np.array([[0, 0], [0, 1], [2, 0], [2, 1]] * 3, np.int32))
    order, coarse = np.arange(12), np.zeros(13, np.int64)
    tree_order(share_arrays([line, line]), place, order, coarse, 1, True, np.array([seed + 1], np.uint64))
    assert place[order, 0].tolist() in ([0] * 6 + [2] * 6, [2] * 6 + [0] * 6)


def test_random_numbers_are_xorshift():
    state, x = np.array([88172645463325252], np.uint64), 88172645463325252
    for _ in range(100):
        x ^= (x << 13) % 2**64
        x ^= x >> 7
        x ^= (x << 17) % 2**64
        assert int(next_bits(state)) == x
    assert uniform(state.copy()) == (int(next_bits(state)) >> 11) / 2**53
