"""Find sets of rows of which a fractional choice of groups takes more than whole groups can."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import inlined, kernel
from sfumato.kernels.neighbour_bitset import popcount

_TURNS = 30
"""How often a set is improved at most."""


@inlined
def _shared(group: Any, rows: Any) -> Any:
    """Return how many rows a group has of a set."""
    return np.int64(popcount(np.uint64(group & rows)))


@kernel
def search_cuts(
    together: Any, groups: Any, weight: Any, part: int, times: int, score: Any, inside: Any, found: Any, excess: Any
) -> None:
    """Fill `found[i]` with a set S of part · times + part - 1 rows that begins with row i, and `excess[i]`.

    In a partition, the sum of ⌊|G ∩ S| / part⌋ over its groups G is at most ⌊|S| / part⌋ = `times`. The excess is by how
    much the same sum over `groups`, each counted `weight` times, exceeds that. S grows by the row that is most often
    `together` with its rows; then one row is exchanged for another as long as that raises the excess most. `score` and
    `inside` are scratch, with an entry for each row and group.
    """
    rows, size = together.shape[0], part * times + part - 1
    for start in range(rows):
        chosen = 1 << start
        for i in range(rows):
            score[i] = together[start, i]
        for _ in range(size - 1):
            best = -1
            for i in range(rows):
                if not chosen >> i & 1 and (best < 0 or score[i] > score[best]):
                    best = i
            chosen |= 1 << best
            for i in range(rows):
                score[i] += together[best, i]
        for g in range(len(groups)):
            inside[g] = _shared(groups[g], chosen)
        for _ in range(_TURNS):
            gain, leaves, joins = 1e-9, -1, -1
            for i in range(rows):
                if not chosen >> i & 1:
                    continue
                for j in range(rows):
                    if chosen >> j & 1:
                        continue
                    change = 0.0
                    for g in range(len(groups)):
                        step = (groups[g] >> j & 1) - (groups[g] >> i & 1)
                        if step != 0:
                            change += weight[g] * ((inside[g] + step) // part - inside[g] // part)
                    if change > gain:
                        gain, leaves, joins = change, i, j
            if leaves < 0:
                break
            chosen ^= (1 << leaves) | (1 << joins)
            for g in range(len(groups)):
                inside[g] += (groups[g] >> joins & 1) - (groups[g] >> leaves & 1)
        found[start], excess[start] = chosen, -float(times)
        for g in range(len(groups)):
            excess[start] += weight[g] * (inside[g] // part)
