"""Cut an order of the rows into groups at the least cost: a dynamic program."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import kernel, subroutine
from sfumato.kernels.group_excess import (
    DISTINCT,
    allowed_neighbours,
    counts_excess,
    entries_excess,
    histogram_excess,
    within_reach,
)


@subroutine
def _add_row(
    limits: Any, conditions: Any, order: Any, i: Any, s: Any, degree: Any, values: Any, counts: Any, different: Any
) -> None:
    """Extend the run that begins at position i by its row number s: update neighbours, values and histograms."""
    row = order[i + s]
    for c in range(len(limits.windowed)):
        v = limits.value[c, row]
        own = 0
        for q in range(s):
            w = limits.value[c, order[i + q]]
            degree[c, q] += within_reach(limits, c, w, v)
            own += within_reach(limits, c, v, w)
        degree[c, s] = own
    for h in range(len(conditions.kind)):
        v = conditions.value[h, row]
        values[h, s] = v
        counts[h, v] += 1
        different[h] += counts[h, v] == 1


@subroutine
def _run_excess(
    limits: Any, conditions: Any, size: Any, degree: Any, values: Any, counts: Any, different: Any, scratch: Any
) -> Any:
    """Return the excess of the current run of `size` rows.

    Cost: the size times the limits, and for each condition the smaller of the size and the number of values.
    """
    excess = 0.0
    for c in range(len(limits.windowed)):
        t = allowed_neighbours(limits, c, size)
        for q in range(size):
            if degree[c, q] > t:
                excess += (degree[c, q] - t) * limits.weight[c]
    for h in range(len(conditions.kind)):
        if conditions.kind[h] == DISTINCT:
            excess += entries_excess(conditions, h, size, different[h], scratch)
        elif size < conditions.width[h]:
            excess += histogram_excess(conditions, h, values[h], size, scratch)
        else:
            excess += counts_excess(conditions, h, counts[h], 0, size, -1, -1, scratch)
    return excess


@kernel
def coarse_ends(coarse: Any, step: Any, least: Any, ends: Any) -> None:
    """Mark in `ends` where runs may end: of each `step` positions the one at which the order is cut most coarsely.

    Multiples of `least`, from both ends of the order, are marked too, so that it can be cut into as many runs of that length
    as it has room for. `coarse` is that of `tree_order`. Cost: linear.
    """
    n = len(coarse) - 1
    for start in range(0, n, step):
        best = start
        for i in range(start, min(start + step, n)):
            ends[i] = False
            if coarse[i] > coarse[best]:
                best = i
        ends[best] = True
    for i in range(0, n + 1, least):
        ends[i] = ends[n - i] = True


@kernel
def cut_order(
    shares: Any, place: Any, limits: Any, conditions: Any, order: Any, ends: Any, least: Any, most: Any, price: Any, cut: Any
) -> Any:
    """Cut an order into runs of `least` to `most` rows so that the sum of loss + price · excess is least; return the sum.

    A run ends only before a position i with `ends[i]`. `cut[i]` becomes the start of the run that ends before position i, so
    the runs are read backwards from the end. Cost: ends times `most` times (attributes + `most`, if there are limits).
    """
    n, d = place.shape
    # cost[i] is the least cost of cutting the first i rows; infinite if they cannot be cut into runs of these sizes
    cost = np.full(n + 1, 1e300)
    cost[0] = 0.0
    low, high = np.empty(d, np.int64), np.empty(d, np.int64)  # the extent of the current run
    distinct = np.zeros(d, np.int64)
    widest = 0
    for j in range(d):
        widest = max(widest, shares.size[j])
    seen = np.full((d, widest + 1), -1, np.int64)  # the last run in which a place occurred, by the run's start
    degree = np.zeros((len(limits.windowed), most + 1), np.int64)  # the neighbours of each row of the current run
    values = np.zeros((len(conditions.kind), most + 1), np.int64)
    counts = np.zeros((len(conditions.kind), conditions.number.shape[1]), np.int64)  # the histograms of the current run
    different = np.zeros(len(conditions.kind), np.int64)  # how many values each of them has
    scratch = np.zeros((3, 1 + conditions.number.shape[1] + conditions.share.shape[2]), np.int64)
    for i in range(n):
        if cost[i] >= 1e299:
            continue
        for j in range(d):
            low[j], high[j], distinct[j] = 1 << 60, -1, 0
        different[:] = 0
        # all runs that begin at i, each one row longer than the last
        for s in range(min(most, n - i)):
            row = order[i + s]
            size = s + 1
            for j in range(d):
                p = np.int64(place[row, j])
                low[j], high[j] = min(low[j], p), max(high[j], p)
                if shares.kind[j] == SET and seen[j, p] != i:
                    seen[j, p] = i
                    distinct[j] += 1
            if price > 0:
                _add_row(limits, conditions, order, i, s, degree, values, counts, different)
            # too short, or what is left after it would be too short for a run
            if size < least or not ends[i + size] or (n - i - size != 0 and n - i - size < least):
                continue
            total = 0.0
            for j in range(d):
                total += share(shares, j, low[j], high[j], distinct[j])
            total *= size
            # the excess is costly to find, and only adds to the cost: not needed if the loss alone is too much
            if price > 0 and cost[i] + total < cost[i + size]:
                total += price * _run_excess(limits, conditions, size, degree, values, counts, different, scratch)
            if cost[i] + total < cost[i + size]:
                cost[i + size] = cost[i] + total
                cut[i + size] = i
        if price > 0:
            for h in range(len(conditions.kind)):
                for s in range(min(most, n - i)):
                    counts[h, values[h, s]] = 0
    return cost[n]
