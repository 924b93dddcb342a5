"""The best choices of a record that has too many candidates for a table of all of them: branch and bound.

`agreements` is a tuple: agreed, sizes, starts, own, own_weight. `agreed[starts[d]:starts[d + 1]]` are the distinct masks of
candidates on which individuals of dictionary d agree with the record, and `sizes` what each mask weighs. `own[d]` is the
mask of the record's own individual, -1 if the attacker picks anyone alike, and `own_weight[d]` its weight, or 1. A loss has
one number for each row of `mix`: Φ times the chances of identification in the dictionaries, added in its proportions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel
from sfumato.kernels.disclosure_choices import CONSTANT, PRODUCT


@kernel
def _times(phi: float, chance: float) -> float:
    return phi * chance if phi > 0 and chance > 0 else 0.0


@kernel
def _phi(form: int, total: float, scale: float) -> float:
    if form == CONSTANT:
        return scale
    return float(np.exp(total)) if form == PRODUCT else total


@kernel
def _sort(values: Any, count: int) -> None:
    """Put the first values in order; they are few."""
    for at in range(1, count):
        value, to = values[at], at
        while to > 0 and values[to - 1] > value:
            values[to] = values[to - 1]
            to -= 1
        values[to] = value


@kernel
def _sum_of(values: Any, count: int, wanted: int) -> float:
    """The sum of the smallest few of the first values, which are put in order."""
    _sort(values, count)
    total = 0.0
    for at in range(wanted):
        total += values[at]
    return float(total)


@kernel
def _beside(j: int, chosen: int, cells: Any, pairs: Any, scale: float) -> float:
    """What candidate j weighs beside those that are chosen."""
    total = cells[j]
    if scale > 0:  # 0·∞ is 0
        for h in range(len(cells)):
            if (chosen >> h) & 1 and pairs[min(j, h), max(j, h)] > 0:
                total += pairs[min(j, h), max(j, h)] * scale
    return float(total)


@kernel
def losses_of(agreements: Any, mix: Any, form: int, cells: Any, pairs: Any, scale: float, choices: Any, out: Any) -> None:
    """Fill `out`, by row of `mix` and choice, with what the given choices lose. Cost: agreements · choices."""
    agreed, sizes, starts, own, own_weight = agreements
    for at in range(len(choices)):
        choice, total = choices[at], 0.0
        for j in range(len(cells)):
            if (choice >> j) & 1:
                total += _beside(j, choice & ((1 << j) - 1), cells, pairs, scale)
        phi = _phi(form, total, scale)
        for o in range(len(mix)):
            out[o, at] = 0.0
        for d in range(len(starts) - 1):
            if choice & own[d] != choice:  # -1 has every bit
                continue
            weight = 0.0
            for a in range(starts[d], starts[d + 1]):
                if agreed[a] & choice == choice:
                    weight += sizes[a]
            if weight > 0:
                for o in range(len(mix)):
                    out[o, at] += mix[o, d] * (own_weight[d] / weight)
        for o in range(len(mix)):
            out[o, at] = _times(phi, out[o, at])


@kernel
def branch(
    agreements: Any,
    mix: Any,
    form: int,
    cells: Any,
    pairs: Any,
    scale: float,
    prices: Any,
    order: Any,
    forced: int,
    size: int,
    budget: int,
    found: Any,
    values: Any,
    bound: Any,
) -> int:
    """Find the choices that no other beats in every row of `mix`; return how many, -1 if `found` is too short.

    Candidates are decided in the given order, forced ones first. `size` is how many cells a choice has, -1 if that is free.
    From each loss the prices of the chosen candidates are taken off. `found` and `values` are filled; `bound` with what no
    choice is below, row by row, which is less than the values only if the budget, in looks at agreements, ran out.

    Below a node ρ only shrinks and Φ only grows. With r more cells of those that remain, ρ is no larger than the r-th
    largest that one of them leaves, and Φ grows by at least the r smallest. Only where ρ may become empty is nothing lost:
    it cannot while somebody agrees on all that remains, or the r cells which exclude most exclude too few together.
    Cost: nodes · agreements · candidates, up to the budget.
    """
    agreed, sizes, starts, own, own_weight = agreements
    c, dictionaries, rows = len(order), len(starts) - 1, len(mix)
    alive = np.empty((c + 1, len(agreed)), np.int64)
    alive_starts = np.zeros((c + 1, dictionaries + 1), np.int64)
    for a in range(len(agreed)):
        alive[0, a] = a
    for d in range(dictionaries + 1):
        alive_starts[0, d] = starts[d]
    level = np.zeros(c + 2, np.int64)
    chosen = np.zeros(c + 2, np.int64)
    count_of = np.zeros(c + 2, np.int64)
    total = np.zeros(c + 2)
    paid = np.zeros(c + 2)
    tried = np.zeros(c + 2, np.int64)
    under = np.zeros((c + 2, rows))
    left_weight, left_cost, chance, here = np.empty(c), np.empty(c), np.empty(dictionaries), np.empty(rows)
    bound[:] = np.inf
    count, looks, t = 0, 0, 0
    entering = True
    while t >= 0:
        if entering:
            entering = False
            r = size - count_of[t]
            remaining = c - t
            leaf = r == 0 or remaining == 0 if size >= 0 else remaining == 0
            if size >= 0 and (r < 0 or remaining < r):
                t -= 1
                continue
            on = level[t]
            rest = 0
            for at in range(t, c):
                rest |= 1 << order[at]
            more = 0 if leaf or size < 0 else r
            for d in range(dictionaries):
                chance[d] = 0.0
                if chosen[t] & own[d] != chosen[t] or own_weight[d] <= 0:
                    continue
                weight, certain = 0.0, False
                for at in range(alive_starts[on, d], alive_starts[on, d + 1]):
                    a = alive[on, at]
                    weight += sizes[a]
                    certain |= agreed[a] & rest == rest
                looks += alive_starts[on, d + 1] - alive_starts[on, d]
                if weight <= 0:
                    continue
                if leaf:
                    chance[d] = own_weight[d] / weight
                    continue
                for at in range(t, c):
                    left_weight[at - t] = 0.0
                for at in range(alive_starts[on, d], alive_starts[on, d + 1]):
                    a = alive[on, at]
                    for b in range(t, c):
                        if (agreed[a] >> order[b]) & 1:
                            left_weight[b - t] += sizes[a]
                looks += remaining * (alive_starts[on, d + 1] - alive_starts[on, d])
                excluded = remaining if size < 0 else r
                if own[d] >= 0:
                    certain = own[d] & rest == rest
                    _sort(left_weight, remaining)
                elif not certain:
                    certain = excluded * weight - _sum_of(left_weight, remaining, excluded) < weight
                else:
                    _sort(left_weight, remaining)
                if certain:
                    chance[d] = own_weight[d] / (left_weight[remaining - more] if more else weight)
            extra = 0.0
            if more and form != CONSTANT:
                for at in range(t, c):
                    left_cost[at - t] = _beside(order[at], chosen[t], cells, pairs, scale)
                extra = _sum_of(left_cost, remaining, more)
            gained = paid[t]
            if size < 0:
                for at in range(t, c):
                    gained += max(0.0, prices[order[at]])
            elif more:
                for at in range(t, c):
                    left_cost[at - t] = -prices[order[at]]
                gained -= _sum_of(left_cost, remaining, more)
            phi = _phi(form, total[t] + extra, scale)
            for o in range(rows):
                here[o] = 0.0
                for d in range(dictionaries):
                    here[o] += mix[o, d] * chance[d]
                here[o] = _times(phi, here[o]) - gained
                under[t, o] = here[o]
            beaten = False
            for at in range(count):
                no_better = True
                for o in range(rows):
                    if here[o] < values[o, at]:
                        no_better = False
                beaten |= no_better
            if beaten:
                t -= 1
                continue
            if leaf:
                kept = 0
                for at in range(count):
                    better = False
                    for o in range(rows):
                        better |= values[o, at] < here[o]
                    if better:
                        found[kept] = found[at]
                        for o in range(rows):
                            values[o, kept] = values[o, at]
                        kept += 1
                count = kept
                if count == len(found):
                    return -1
                found[count] = chosen[t]
                for o in range(rows):
                    values[o, count] = here[o]
                count += 1
                t -= 1
                continue
            tried[t] = 0
        if looks > budget and count > 0:
            if tried[t] < 2:
                for o in range(rows):
                    bound[o] = min(bound[o], under[t, o])
            t -= 1
            continue
        j = order[t]
        if tried[t] == 0:  # with candidate j
            tried[t] = 1
            bit = 1 << j
            into, place = level[t] + 1, 0
            for d in range(dictionaries):
                alive_starts[into, d] = place
                for at in range(alive_starts[level[t], d], alive_starts[level[t], d + 1]):
                    a = alive[level[t], at]
                    if agreed[a] & bit:
                        alive[into, place] = a
                        place += 1
            alive_starts[into, dictionaries] = place
            looks += alive_starts[level[t], dictionaries]
            level[t + 1], chosen[t + 1], count_of[t + 1] = into, chosen[t] | bit, count_of[t] + 1
            total[t + 1], paid[t + 1] = total[t] + _beside(j, chosen[t], cells, pairs, scale), paid[t] + prices[j]
            t += 1
            entering = True
        elif tried[t] == 1:  # without it
            tried[t] = 2
            if (forced >> j) & 1:
                t -= 1
                continue
            level[t + 1], chosen[t + 1], count_of[t + 1] = level[t], chosen[t], count_of[t]
            total[t + 1], paid[t + 1] = total[t], paid[t]
            t += 1
            entering = True
        else:
            t -= 1
    for at in range(count):
        for o in range(rows):
            bound[o] = min(bound[o], values[o, at])
    return count
