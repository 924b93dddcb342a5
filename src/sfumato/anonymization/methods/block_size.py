"""How many rows a block has: chosen from the secrets of the table as a whole, not from who has which."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.anonymization.methods.block_deals import BlockDeals
from sfumato.anonymization.methods.search_constraints import SearchConstraints

_OFTEN_ENOUGH = 0.9
"""The share of random blocks that must be dealt."""

_SAMPLES = 100
"""The number of random blocks, and of random pairs, of each size."""

_MULTIPLES = (1, 2, 4)
"""How many groups of the smallest sizes a block may consist of."""


def choose_block_rows(constraints: SearchConstraints, rows: int) -> int:
    """Return the smallest size of blocks at which most random blocks, and pairs of them, can be dealt to groups.

    Random blocks are drawn from the sorted secrets, by a fixed seed: the size depends on how often each secret occurs only.
    If no size is good enough, the best one is chosen. A block has at most a quarter of the rows, unless that is too few.
    """
    values = [value for part in constraints.values_of(np.arange(rows)) for value in part]
    by_value = np.lexsort(values) if values else np.arange(rows)
    best, best_share = constraints.least, -1.0
    for size in _sizes(constraints.least, rows):
        share = min(_dealt_share(constraints, by_value, size, blocks) for blocks in (1, 2, 4))
        if share >= _OFTEN_ENOUGH:
            return size
        if share > best_share:
            best, best_share = size, share
    return best


def _sizes(least: int, rows: int) -> Iterator[int]:
    for multiple in _MULTIPLES:
        for group in range(least, least + max(2, least // 4) + 1):
            if multiple * group <= max(least, rows // 4):
                yield multiple * group


def _dealt_share(constraints: SearchConstraints, by_value: np.ndarray, size: int, blocks: int) -> float:
    """Return the share of random units of some blocks that can be dealt."""
    drawn = np.random.default_rng(0).permutation(by_value)
    units = min(_SAMPLES, len(drawn) // (size * blocks))
    if not units:
        return 0.0
    deals = BlockDeals(drawn[: units * blocks * size].reshape(-1, size), constraints)
    return float(deals.deal(np.arange(units * blocks).reshape(units, blocks)).mean())
