"""Cut the rows of two groups anew, along one attribute, where that lowers loss + price · excess.

A swap changes one row of each group. Two groups that overlap widely must often exchange many rows before the loss of either
falls; a new cut does it in one step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import borrowing_kernel, inlined, kernel, subroutine
from sfumato.kernels.group_excess import allowed_neighbours, histogram_excess, within_reach
from sfumato.kernels.row_order import draw
from sfumato.kernels.search_arrays import replace_members


@kernel
def sample_members(first: Any, size: Any, member: Any, random: Any) -> Any:
    """Return one random row of each group, given by these arrays of `SearchArrays`; `random` is the state of the numbers."""
    rows = np.empty(len(size), np.int64)
    for g in range(len(size)):
        rows[g] = member[first[g] + np.int64(draw(random) >> np.uint64(33)) % size[g]]
    return rows


@inlined
def _sort_pool(place: Any, pool: Any, count: Any, j: Any) -> None:
    """Sort the rows `pool[:count]` by their place in attribute j: by insertion, because they are few."""
    for i in range(1, count):
        row = pool[i]
        p = place[row, j]
        q = i
        while q > 0 and place[pool[q - 1], j] > p:
            pool[q] = pool[q - 1]
            q -= 1
        pool[q] = row


@subroutine
def _cut_losses(shares: Any, place: Any, pool: Any, count: Any, least: Any, seen: Any, clock: Any, losses: Any) -> None:
    """Fill `losses[m]` with the loss of two groups: the first m rows of the pool, and the others.

    For m from `least` to count - `least`. `seen` and `clock` count distinct places, as in `SearchArrays`. Cost: the rows
    times the attributes.
    """
    for m in range(least, count - least + 1):
        losses[m] = 0.0
    for j in range(place.shape[1]):
        for backward in range(2):
            low, high, distinct = 1 << 60, -1, 0
            clock[0] += 1
            for i in range(count - least):
                p = int(place[pool[count - 1 - i if backward else i], j])
                low, high = min(low, p), max(high, p)
                if shares.kind[j] == SET and seen[p] != clock[0]:
                    seen[p] = clock[0]
                    distinct += 1
                if i + 1 >= least and low != high:
                    losses[count - 1 - i if backward else i + 1] += share(shares, j, low, high, distinct) * (i + 1)


@subroutine
def _part_excess(limits: Any, conditions: Any, pool: Any, start: Any, stop: Any, values: Any, scratch: Any) -> Any:
    """Return the excess of the rows `pool[start:stop]` as a group. Cost: the square of their number."""
    size = stop - start
    total = 0.0
    for c in range(len(limits.windowed)):
        t = allowed_neighbours(limits, c, size)
        for i in range(start, stop):
            v, degree = limits.value[c, pool[i]], -1  # each row is counted as its own neighbour
            for q in range(start, stop):
                degree += within_reach(limits, c, v, limits.value[c, pool[q]])
            total += limits.weight[c] * max(0, degree - t)
    for h in range(len(conditions.kind)):
        for i in range(size):
            values[i] = conditions.value[h, pool[start + i]]
        total += histogram_excess(conditions, h, values, size, scratch)
    return total


@borrowing_kernel
def cut_pairs(
    shares: Any, limits: Any, conditions: Any, st: Any, order: Any, reach: Any, price: Any, least: Any, pools: Any,
    losses: Any,
) -> Any:  # fmt: skip
    """Cut pairs of groups anew wherever that lowers loss + price · excess; return the number of changes.

    `order` has one row of each group; a group is paired with the next `reach` groups along it. Pairs of more rows than the
    scratch `pools[i]` has room for are left as they are; `losses` has one entry more. Cost: groups
    times reach times the rows of a pair times the square of the attributes.
    """
    d = st.place.shape[1]
    pool, best_pool, values = pools[0], pools[1], pools[2]
    changes = 0
    for position in range(len(order)):
        one = st.group[order[position]]
        for step in range(1, min(reach, len(order) - 1 - position) + 1):
            other = st.group[order[position + step]]
            count = st.size[one] + st.size[other]
            best = st.loss[one] + st.loss[other] + price * (st.excess[one] + st.excess[other]) - 1e-9
            if one == other or count > len(pool) or best <= 0:
                continue
            for i in range(st.size[one]):
                pool[i] = st.member[st.first[one] + i]
            for i in range(st.size[other]):
                pool[st.size[one] + i] = st.member[st.first[other] + i]
            cut = 0  # the rows of the first part of the best cut
            for j in range(d):
                if min(st.low[one, j], st.low[other, j]) == max(st.high[one, j], st.high[other, j]):
                    continue
                _sort_pool(st.place, pool, count, j)
                _cut_losses(shares, st.place, pool, count, least, st.seen, st.clock, losses)
                improved = False
                for m in range(max(least, count - st.room[other]), min(count - least, st.room[one]) + 1):
                    # the excess is costly to find, and only adds
                    total = losses[m]
                    if total < best:
                        total += price * _part_excess(limits, conditions, pool, 0, m, values, st.scratch)
                    if total < best:
                        total += price * _part_excess(limits, conditions, pool, m, count, values, st.scratch)
                    if total < best:
                        best, cut, improved = total, m, True
                if improved:
                    for i in range(count):
                        best_pool[i] = pool[i]
            if cut > 0:
                replace_members(shares, limits, conditions, st, one, other, best_pool, cut, count)
                changes += 1
    return changes
