"""Match blocks of rows in pairs whose rows together cost little."""

from __future__ import annotations

from typing import Any

from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import kernel, subroutine


@subroutine
def _cost(shares: Any, place: Any, one: Any, other: Any, block: Any, seen: Any, clock: Any) -> Any:
    """Return the cost of the cells of two blocks as one group; `seen` and `clock` count distinct places."""
    total = 0.0
    for j in range(place.shape[1]):
        low, high, distinct = 1 << 60, -1, 0
        clock[0] += 1
        for i in range(2 * block):
            p = int(place[one * block + i if i < block else other * block + i - block, j])
            low, high = min(low, p), max(high, p)
            if shares.kind[j] == SET and seen[p] != clock[0]:
                seen[p] = clock[0]
                distinct += 1
        total += share(shares, j, low, high, distinct)
    return total


@kernel
def pair_costs(shares: Any, place: Any, block: Any, ones: Any, others: Any, seen: Any, clock: Any, out: Any) -> None:
    """Fill `out[i]` with the cost of the cells of the blocks `ones[i]` and `others[i]` as one group.

    Block b has the rows from b · `block` on. `seen` has an entry for each place, `clock` one. Cost: linear in the rows of
    all pairs.
    """
    for i in range(len(ones)):
        out[i] = _cost(shares, place, ones[i], others[i], block, seen, clock)


@kernel
def match_greedily(ones: Any, others: Any, mate: Any) -> None:
    """Match blocks along a list of pairs: a pair is taken if neither block has a mate; `mate` is -1 for those without."""
    for i in range(len(ones)):
        if mate[ones[i]] < 0 and mate[others[i]] < 0:
            mate[ones[i]], mate[others[i]] = others[i], ones[i]


@kernel
def improve_pairs(
    shares: Any, place: Any, block: Any, pairs: Any, order: Any, reach: Any, seen: Any, clock: Any, costs: Any
) -> Any:
    """Exchange blocks between pairs that are near along an order, where the cost falls; return the number of exchanges.

    `pairs[p]` holds the two blocks of a pair, `costs[p]` the cost of their cells, `order` the pairs. Cost: pairs times
    `reach` times the rows of four pairs.
    """
    changes = 0
    for position in range(len(order)):
        p = order[position]
        for step in range(1, min(reach, len(order) - 1 - position) + 1):
            q = order[position + step]
            best = costs[p] + costs[q] - 1e-9
            found = -1
            for way in range(2):  # the first block of p with either block of q
                one = _cost(shares, place, pairs[p, 0], pairs[q, way], block, seen, clock)
                if one < best:
                    other = _cost(shares, place, pairs[p, 1], pairs[q, 1 - way], block, seen, clock)
                    if one + other < best:
                        best, found, first, second = one + other, way, one, other
            if found >= 0:
                a, b, c = pairs[p, 1], pairs[q, found], pairs[q, 1 - found]
                pairs[p, 1], pairs[q, 0], pairs[q, 1] = b, a, c
                costs[p], costs[q] = first, second
                changes += 1
    return changes
