"""Choices of many records, one after another: those of record g are the columns `starts[g]` to `starts[g + 1]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel
from sfumato.kernels.disclosure_choices import size_of


@kernel
def fronts(table: Any, low: int, high: int, out: Any) -> int:
    """Keep the choices of `low` to `high` cells that no other of as many cells beats in every dictionary; return how many.

    `table` has a row per dictionary and a column per choice. Among equal ones the first is kept. Returns -1 if `out` is too
    short. Cost: 2^candidates times those kept.
    """
    count = 0
    for choice in range(table.shape[1]):
        size = size_of(choice)
        if size < low or size > high:
            continue
        beaten, kept = False, 0
        for at in range(count):
            other = out[at]
            worse, better = False, False
            if size_of(other) == size:
                for d in range(table.shape[0]):
                    worse |= table[d, choice] > table[d, other]
                    better |= table[d, choice] < table[d, other]
                beaten |= not better
            else:
                worse = True
            if worse or not better:
                out[kept] = other
                kept += 1
        count = kept
        if not beaten:
            if count == len(out):
                return -1
            out[count] = choice
            count += 1
    return count


@kernel
def cheapest(starts: Any, choices: Any, losses: Any, shares: Any, prices: Any, which: Any) -> None:
    """Find each record's column with the least loss, in the given shares, less the prices of the cells it discloses.

    `prices` are by attribute; they are added up once for every byte of a mask. Cost: the columns times the dictionaries.
    """
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
def priced(table: Any, shares: Any, prices: Any, out: Any) -> None:
    """Fill `out` with each choice's loss, in the given shares, less the prices of its candidates.

    Cost: 2^candidates times the dictionaries.
    """
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
    """Find each record's cheapest choice, out of a table of all, at prices by attribute; among equals, the first.

    Record g has the columns `starts[g]` to `starts[g + 1]` of the tables, and the candidates `of_candidate[g]` to
    `of_candidate[g + 1]`. Cost: the columns times the dictionaries.
    """
    for g in range(len(starts) - 1):
        mine = prices[candidates[of_candidate[g] : of_candidate[g + 1]]]
        size = starts[g + 1] - starts[g]
        priced(tables[:, starts[g] : starts[g + 1]], shares, mine, work[:size])
        out[g] = 0
        for choice in range(1, size):
            if work[choice] < work[out[g]]:
                out[g] = choice


@kernel
def spread_each(masks: Any, of_candidate: Any, candidates: Any) -> None:
    """Turn each record's mask over its candidates into one over all attributes. Cost: the candidates."""
    for g in range(len(masks)):
        bits = 0
        for at in range(of_candidate[g], of_candidate[g + 1]):
            bits |= ((masks[g] >> (at - of_candidate[g])) & 1) << candidates[at]
        masks[g] = bits


@kernel
def with_and_without(cost: Any, count: int, out: Any) -> None:
    """Find for each candidate the cheapest choice with it, `out[b, 1]`, and without it; -1 if there is none.

    Cost: 2^candidates, and times the candidates where a choice is cheap.
    """
    out[:] = -1
    dearest = np.inf
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
