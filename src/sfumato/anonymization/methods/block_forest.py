"""Blocks of equally many similar rows, in pairs and pools: made from quasi-identifiers alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.search_constraints import SearchConstraints
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.anonymization.methods.search_state import SearchState
from sfumato.kernels.block_matching import improve_pairs, match_greedily, pair_costs
from sfumato.kernels.row_order import tree_order

Integers = NDArray[np.int64]

_POOLS = {4: 0.0, 2: 0.02, 1: 0.05}
"""How many pairs a pool may have, and the share of the rows that may be left over rather than have such small pools."""

_ROUNDS = 12
"""The number of rounds that lower the loss of the blocks, at most."""

_SLOW = 1e-3
"""A round that lowers the loss by less than this share is the last."""

_WINDOWS = (40, 10, 20)
"""How far rows look for partners, pass by pass."""

_ORDERS, _REACH = 6, 8
"""A block is compared with this many blocks that follow it, along each of some random orders."""

_EXCHANGES = 12
"""The number of random orders along which pairs exchange blocks."""


@dataclass(frozen=True, eq=False)
class Forest:
    """Blocks of equal size in pairs, pairs in pools of equal size, and a rest of rows that fit into none.

    >>> Forest(np.arange(8).reshape(1, 2, 2, 2), np.arange(8, 11)).block_rows
    2
    """

    pools: Integers
    """`pools[t, p, b, i]` is row i of block b (0 or 1) of pair p of pool t."""
    rest: Integers
    """The other rows."""

    @property
    def block_rows(self) -> int:
        """The number of rows of a block."""
        return int(self.pools.shape[3])

    def shuffled(self, draw: np.random.Generator) -> Forest:
        """Return the same forest in a random order: of pools, of the pairs of each, of the blocks and of their rows.

        All orders are equally likely. Whoever sees nothing but the secrets in this order cannot tell people apart.
        """
        pools = draw.permutation(self.pools, axis=0)
        for axis in (1, 2, 3):
            keys = draw.random(pools.shape[: axis + 1])
            order = np.argsort(keys, axis=axis).reshape(keys.shape + (1,) * (pools.ndim - keys.ndim))
            pools = np.take_along_axis(pools, order, axis=axis)
        return Forest(pools, draw.permutation(self.rest))


def forest_shape(rows: int, block: int) -> tuple[int, int]:
    """Return the number of pools and of pairs in each, for a table and a block size; no pools if it is too small.

    The rows that are left over are none, or enough for a block.

    >>> forest_shape(30_000, 5), forest_shape(12, 2), forest_shape(8, 2), forest_shape(7, 4)
    ((750, 4), (3, 1), (1, 2), (0, 1))
    """
    best, lowest = (0, 1), float("inf")
    for pairs, price in _POOLS.items():
        whole = rows // (2 * block * pairs)
        for pools in (whole, whole - 1):
            rest = rows - 2 * block * pairs * pools
            if pools > 0 and (rest == 0 or rest >= block) and rest / rows + price < lowest:
                best, lowest = (pools, pairs), rest / rows + price
    return best


def make_forest(problem: SearchProblem, block: int, seed: int) -> Forest:
    """Return a forest with a low loss; `problem`: what the quasi-identifiers cost. Its constraints are not used.

    Blocks are runs along an order of similar rows, improved by swaps. Then blocks are matched in pairs that cost little
    together, and pairs are matched again up to the size of a pool. Cost: about linear in the rows.
    """
    problem = replace(problem, constraints=SearchConstraints(block, (), ()))
    pools, pairs = forest_shape(problem.rows, block)
    inside = pools * pairs * 2 * block
    drawn = np.random.default_rng([seed, block]).permutation(problem.rows)
    # rows from all over the table can be dealt if any can; those of one corner of it often cannot
    rows, rest = np.sort(drawn[:inside]), np.sort(drawn[inside:])
    if not inside:
        return Forest(np.zeros((0, 1, 2, block), np.int64), rest)
    random = np.array([seed % 2**64 or 1], np.uint64)
    made = rows[_equal_blocks(problem.restricted(rows), block, seed)]
    while len(made) > pools:
        made = made[_matched(problem, np.ascontiguousarray(problem.places[made.ravel()]), made.shape[1], random)]
        made = made.reshape(len(made), -1)
    return Forest(made.reshape(pools, pairs, 2, block), rest)


def _equal_blocks(problem: SearchProblem, block: int, seed: int) -> Integers:
    """Return the rows of each block. A swap leaves the sizes as they are, and no row can move: all blocks are smallest."""
    state = SearchState(replace(problem, constraints=SearchConstraints(block, (), ())), seed)
    state.order_rows()
    labels = np.empty(problem.rows, np.int64)
    labels[state.order] = np.arange(problem.rows) // block
    state.regroup(labels)
    price = state.prohibitive
    for _ in state.passes(_ROUNDS):
        before = state.loss
        state.cut_pairs(price)
        state.rotate(16, 40, price)
        state.gather(4, 20, price)
        for window in _WINDOWS:
            state.new_order()
            state.exchange_pass(8, window, 0.0, price)
        if before - state.loss <= _SLOW * before:
            break
    return np.argsort(state.labels, kind="stable").reshape(-1, block)


def _matched(problem: SearchProblem, places: NDArray[np.int32], block: int, random: NDArray[np.uint64]) -> Integers:
    """Return the two blocks of each pair; row i of block b is at b · block + i of the places."""
    count = len(places) // block
    seen, clock = np.zeros(int(problem.shares.size.max(initial=0)) + 2, np.int64), np.zeros(1, np.int64)

    def order(items: Integers) -> Integers:
        """Return a random order of blocks in which similar ones are adjacent; each stands where its first row does."""
        return _similar_order(problem, places[items * block], True, random)

    orders = [order(np.arange(count)) for _ in range(_ORDERS)]
    ones = np.concatenate([one[:-step] for one in orders for step in range(1, min(_REACH, count - 1) + 1)])
    others = np.concatenate([one[step:] for one in orders for step in range(1, min(_REACH, count - 1) + 1)])
    costs = np.empty(len(ones))
    pair_costs(problem.shares, places, block, ones, others, seen, clock, costs)
    cheapest = np.argsort(costs, kind="stable")
    mate = np.full(count, -1)
    match_greedily(ones[cheapest], others[cheapest], mate)
    single = orders[0][mate[orders[0]] < 0]  # an even number, because all blocks are
    mate[single[::2]], mate[single[1::2]] = single[1::2], single[::2]
    first = np.flatnonzero(np.arange(count) < mate)
    pairs = np.column_stack([first, mate[first]])
    costs = np.empty(len(pairs))
    pair_costs(problem.shares, places, block, pairs[:, 0].copy(), pairs[:, 1].copy(), seen, clock, costs)
    for _ in range(_EXCHANGES):
        improve_pairs(problem.shares, places, block, pairs, order(pairs[:, 0]), _REACH, seen, clock, costs)
    return pairs


def _similar_order(
    problem: SearchProblem, places: NDArray[np.int32], shuffled: bool, random: NDArray[np.uint64]
) -> Integers:
    """Return an order of some places in which similar ones are adjacent."""
    order, coarse = np.arange(len(places)), np.zeros(len(places) + 1, np.int64)
    tree_order(problem.shares, np.ascontiguousarray(places), order, coarse, 1, shuffled, random)
    return order
