"""List all sets of rows that cost little more than their rows are charged."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import inlined, kernel
from sfumato.kernels.neighbour_bitset import popcount

GROUPS, STEPS = 0, 1
"""What `state` counts: the listed groups, and the steps; one step looks at one row that may be added to a set."""


@inlined
def _ones(bits: Any) -> Any:
    """Return the number of bits that are set."""
    return np.int64(popcount(np.uint64(bits)))


@inlined
def _extended_cost(shares: Any, places: Any, bit: Any, low: Any, high: Any, seen: Any, row: Any) -> Any:
    """Return the loss of the cells of a set with the extent `low`, `high` and `seen` if a row joins it."""
    cost = 0.0
    for j in range(len(low)):
        place = int(places[row, j])
        distinct = _ones(seen[j] | bit[row, j]) if shares.kind[j] == SET else 0
        cost += share(shares, j, min(low[j], place), max(high[j], place), distinct)
    return cost


@inlined
def _within_limits(near: Any, allowed: Any, members: Any, size: Any) -> Any:
    """Return whether no row of a set has more neighbours in it than each limit allows."""
    for limit in range(near.shape[0]):
        if allowed[limit, size] < 0:
            return False
        left = members
        while left:
            row = _ones((left & -left) - 1)
            left &= left - 1
            if _ones(near[limit, row] & members) > allowed[limit, size]:
                return False
    return True


@inlined
def _promising(value: Any, start: Any, stop: Any, missing: Any, room: Any, cheapest: Any) -> Any:
    """Return whether rows of `start` to `stop`, at least `missing` of them, have values that sum up to at most `room`."""
    total, kept = 0.0, 0
    for i in range(start, stop):
        if value[i] <= 0.0:
            total += value[i]
            missing -= 1
    for i in range(start, stop):
        if missing <= 0:
            break
        if value[i] > 0.0 and (kept < missing or value[i] < cheapest[kept - 1]):
            # the smallest positive values, ascending
            q = min(kept, missing - 1)
            kept = q + 1
            while q > 0 and cheapest[q - 1] > value[i]:
                cheapest[q] = cheapest[q - 1]
                q -= 1
            cheapest[q] = value[i]
    if kept < missing:
        return False
    for q in range(missing):
        total += cheapest[q]
    return total <= room


@kernel
def list_groups(
    shares: Any, places: Any, bit: Any, charge: Any, most: float, least: int, near: Any, allowed: Any, low: Any, high: Any,
    seen: Any, cost: Any, value: Any, chosen: Any, cheapest: Any, found: Any, state: Any, steps: int,
) -> bool:  # fmt: skip
    """List in `found` the sets of at least `least` rows whose cost is at most `most` above their charges.

    The cost of a set is its number of rows times the loss of its cells. `near[l, i]` has the bits of the rows near row i
    under limit l, without its own; `allowed[l, s]` is how many of them a set of s rows may contain, `allowed[l, rows + 1]`
    the largest of these numbers. `bit[i, j]` is a bit for the value of row i in attribute j. Sets are built up in the order
    of the rows; `low`, `high`, `seen`, `cost`, `value` and `chosen` are scratch, with one line for each depth, and
    `cheapest` with one entry for each row.

    A set F that contains S costs Σ (c(F) − charge) over its rows more than their charges, and c(F) is at least the loss
    c(S ∪ i) for each of its rows i. So rows are added only as long as the least of these sums is at most `most`.
    Returns whether all were listed, with room for them and within the steps.
    """
    # One function because a single loop owns the stack of sets: its parts would pass all of the scratch to one another.
    rows, attributes, depth, over = places.shape[0], places.shape[1], 0, 0.0
    chosen[0, 0], chosen[0, 1] = -1, 0  # the row added last, and the rows as bits
    cost[0] = 0.0
    for i in range(rows):
        value[0, i] = -charge[i]
    for j in range(attributes):
        low[0, j], high[0, j], seen[0, j] = 1 << 40, -1, 0
    chosen[0, 2] = -1  # the row tried last
    while depth >= 0:
        row = chosen[depth, 2] + 1
        chosen[depth, 2] = row
        if row >= rows:
            depth -= 1
            continue
        members, size = chosen[depth, 1], depth
        if members >> row & 1 or row <= chosen[depth, 0]:
            continue
        # what the set costs above its charges if this row, and of those after it what lowers the sum, are added
        over = 0.0
        for i in range(rows):
            if members >> i & 1:
                over += cost[depth] - charge[i]
            elif i > row:
                over += min(0.0, value[depth, i])
        if over + value[depth, row] > most:
            continue
        deeper = depth + 1
        chosen[deeper, 0], chosen[deeper, 1], chosen[deeper, 2] = row, members | (1 << row), row
        for j in range(attributes):
            place = int(places[row, j])
            low[deeper, j], high[deeper, j] = min(low[depth, j], place), max(high[depth, j], place)
            seen[deeper, j] = seen[depth, j] | bit[row, j]
        cost[deeper] = _extended_cost(shares, places, bit, low[deeper], high[deeper], seen[deeper], row)
        over = 0.0
        for i in range(row + 1):
            if chosen[deeper, 1] >> i & 1:
                over += cost[deeper] - charge[i]
        if size + 1 >= least and over <= most and _within_limits(near, allowed, chosen[deeper, 1], size + 1):
            if state[GROUPS] == len(found):
                return False
            found[state[GROUPS]] = chosen[deeper, 1]
            state[GROUPS] += 1
        for i in range(row + 1, rows):
            state[STEPS] += 1
            loss = _extended_cost(shares, places, bit, low[deeper], high[deeper], seen[deeper], i)
            value[deeper, i] = loss - charge[i]
        if state[STEPS] > steps:
            return False
        if (
            row + 1 < rows
            and _promising(value[deeper], row + 1, rows, least - size - 1, most - over, cheapest)
            and (_within_limits(near, allowed, chosen[deeper, 1], rows + 1))
        ):
            depth = deeper
    return True
