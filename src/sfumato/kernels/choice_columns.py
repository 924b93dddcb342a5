"""Choices of many records side by side: the choices of record g are the columns `starts[g]` to `starts[g + 1]`.

A choice is a bit mask of disclosed cells, over the record's candidates or over all attributes. `losses[d, column]` and
`table[d, choice]` are losses in dictionary d. `shares` are the weights of the dictionaries in a sum of losses; `prices` are
what a disclosed cell of each attribute (or candidate) takes off the loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel


@kernel
def fronts(table: Any, sizes: Any, low: int, high: int, out: Any) -> int:
    """Fill `out` with the Pareto-optimal choices of `low` to `high` cells, and return their number.

    `sizes[choice]` is the number of cells that a choice counts for. A choice is dropped if another with as many cells loses
    no more in every dictionary; of equal choices the first stays. Returns -1 if `out` is too short. Cost: the choices times
    those that stay.
    """
    count = 0
    for choice in range(table.shape[1]):
        size = sizes[choice]
        if size < low or size > high:
            continue
        # compare with all choices in out; those that the new one dominates are removed on the way
        dominated, kept = False, 0
        for at in range(count):
            other = out[at]
            worse, better = False, False
            if sizes[other] == size:
                for d in range(table.shape[0]):
                    worse |= table[d, choice] > table[d, other]
                    better |= table[d, choice] < table[d, other]
                dominated |= not better
            else:
                worse = True  # different sizes are not compared
            if worse or not better:
                out[kept] = other
                kept += 1
        count = kept
        if not dominated:
            if count == len(out):
                return -1
            out[count] = choice
            count += 1
    return count


@kernel
def cheapest(starts: Any, choices: Any, losses: Any, shares: Any, prices: Any, which: Any) -> None:
    """Fill `which` with each record's column of least loss, in the given shares, minus the prices of its disclosed cells.

    Of equal columns the first is taken. Cost: the columns times the dictionaries.
    """
    # sums[place, byte]: the prices of the attributes in one byte of a mask, so that a mask takes one addition per byte
    bytes_of = (len(prices) + 7) // 8
    sums = np.zeros((bytes_of, 256))
    for place in range(bytes_of):
        for byte in range(1, 256):
            for b in range(8):
                if (byte >> b) & 1 and 8 * place + b < len(prices):
                    sums[place, byte] += prices[8 * place + b]
    for g in range(len(starts) - 1):
        least = np.inf
        for at in range(starts[g], starts[g + 1]):
            value = 0.0
            for d in range(len(shares)):
                value += shares[d] * losses[d, at]
            for place in range(bytes_of):
                value -= sums[place, (choices[at] >> (8 * place)) & 255]
            if value < least:
                least = value
                which[g] = at


@kernel
def reduced_losses(table: Any, shares: Any, prices: Any, out: Any) -> None:
    """Fill `out` with each choice's loss, in the given shares, minus the prices of its candidates.

    Cost: 2^candidates times the dictionaries.
    """
    # minus the prices: the choices with highest candidate b are those below 2^b with one more bit
    out[0] = 0.0
    for b in range(len(prices)):
        for choice in range(1 << b):
            out[choice + (1 << b)] = out[choice] - prices[b]
    for d in range(len(shares)):
        for choice in range(table.shape[1]):
            out[choice] += shares[d] * table[d, choice]


@kernel
def cheapest_of_tables(
    starts: Any, tables: Any, of_candidate: Any, candidates: Any, shares: Any, prices: Any, work: Any, out: Any
) -> None:
    """Fill `out` with each record's cheapest choice out of a table of all, at prices by attribute; of equals the first.

    Record g has the columns `starts[g]` to `starts[g + 1]` of the tables and the candidates `of_candidate[g]` to
    `of_candidate[g + 1]`, which are attributes. `work` has room for the largest table. Cost: the columns times the
    dictionaries.
    """
    for g in range(len(starts) - 1):
        mine = prices[candidates[of_candidate[g] : of_candidate[g + 1]]]
        size = starts[g + 1] - starts[g]
        reduced_losses(tables[:, starts[g] : starts[g + 1]], shares, mine, work[:size])
        out[g] = 0
        for choice in range(1, size):
            if work[choice] < work[out[g]]:
                out[g] = choice


@kernel
def widen_masks(masks: Any, of_candidate: Any, candidates: Any) -> None:
    """Turn each record's mask over its candidates into a mask over all attributes, in place. Cost: the candidates."""
    for g in range(len(masks)):
        bits = 0
        for at in range(of_candidate[g], of_candidate[g + 1]):
            bits |= ((masks[g] >> (at - of_candidate[g])) & 1) << candidates[at]
        masks[g] = bits


@kernel
def cheapest_with_and_without(cost: Any, count: int, out: Any) -> None:
    """Fill, for each candidate b, the cheapest choice with it, `out[b, 1]`, and without it, `out[b, 0]`; -1 for none.

    Cost: 2^candidates, and the candidates for every choice that is cheaper than the dearest entry of `out`.
    """
    out[:] = -1
    dearest = np.inf  # the largest cost in out: a choice that is not below it changes nothing
    for choice in range(len(cost)):
        if not cost[choice] < dearest:
            continue
        dearest = 0.0 - np.inf
        for b in range(count):
            side = (choice >> b) & 1
            if out[b, side] < 0 or cost[choice] < cost[out[b, side]]:
                out[b, side] = choice
            for s in range(2):
                dearest = max(dearest, np.inf if out[b, s] < 0 else cost[out[b, s]])
