"""Choices of many records, one after another: those of record g are the columns `starts[g]` to `starts[g + 1]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.agreement import size_of
from sfumato.kernels.compile import kernel


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
def priced(table: Any, shares: Any, prices: Any, forced: int, high: float, out: Any) -> None:
    """Fill `out` with each choice's loss, in the given shares, less the prices of its candidates.

    Infinite losses count as `high`; a choice that lacks a forced candidate is infinite. Cost: 2^candidates times the
    dictionaries and candidates.
    """
    for choice in range(table.shape[1]):
        if choice & forced != forced:
            out[choice] = np.inf
            continue
        value = 0.0
        for d in range(len(shares)):
            value += shares[d] * min(table[d, choice], high)
        for b in range(len(prices)):
            if (choice >> b) & 1:
                value -= prices[b]
        out[choice] = value
