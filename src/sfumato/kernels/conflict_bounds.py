"""Bounds on the cost of a choice of levels that resolves conflicts.

A choice is a level per attribute; level l of attribute j costs `costs[j, l]`, which does not fall with l. A conflict c is
resolved by a level above `conflicts[c, j]` in at least one attribute j. A box contains the choices from `low` to `high`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel

NONE_OPEN, EMPTY = -1, -2
"""Instead of the number of a conflict: the lowest choice resolves all of them, or no choice does."""


@kernel
def conflict_bound(costs: Any, conflicts: Any, low: Any, high: Any) -> Any:
    """Return how much more than `low` every choice of a box costs at least, and an unresolved conflict to branch on.

    In and out: `low` is raised where a conflict leaves a single way to resolve it. The conflict returned is one with the
    fewest ways to resolve it, or `NONE_OPEN`, or `EMPTY`. Cost: attributes times conflicts, for each raised level.
    """
    count, width = conflicts.shape
    ways = np.zeros(count, np.int64)  # 0 for a resolved conflict
    # Phase 1: raise levels until every unresolved conflict has at least two ways.
    changed = True
    while changed:
        changed = False
        for c in range(count):
            ways[c] = 0
            way = 0
            for j in range(width):
                if low[j] > conflicts[c, j]:
                    ways[c] = 0
                    way = -1
                    break
                if high[j] > conflicts[c, j]:
                    ways[c] += 1
                    way = j
            if way < 0:
                continue
            if ways[c] == 0:
                return 0.0, EMPTY
            if ways[c] == 1:
                low[way] = conflicts[c, way] + 1
                changed = True
    # Phase 2: dual ascent. Each unresolved conflict gets a price, those with the fewest ways first. The prices that a level
    # pays for, because it resolves these conflicts, never exceed its cost; `slack[j, l]` is what is left of that cost. So
    # whoever resolves all conflicts pays at least the sum of the prices.
    slack = np.empty_like(costs)
    for j in range(width):
        for level in range(low[j], high[j] + 1):
            slack[j, level] = costs[j, level] - costs[j, low[j]]
    order = np.argsort(ways, kind="mergesort")
    total, chosen = 0.0, NONE_OPEN
    for at in range(count):
        c = order[at]
        if ways[c] == 0:
            continue
        if chosen == NONE_OPEN:
            chosen = c
        price = np.inf
        for j in range(width):
            for level in range(conflicts[c, j] + 1, high[j] + 1):
                price = min(price, slack[j, level])
        for j in range(width):
            for level in range(conflicts[c, j] + 1, high[j] + 1):
                slack[j, level] -= price
        total += price
    return total, chosen
