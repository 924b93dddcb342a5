"""How many cells each record discloses, so that the total is a given number: a knapsack with one choice per record.

`least[g, c]` is the least loss of record g with c disclosed cells, infinite if it has fewer values. Losses are in units of
the sensitivity; positions of a row are numbers of cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel


@kernel
def hull_steps(least: Any, groups: Any, slopes: Any, widths: Any, ends: Any) -> int:
    """Find the steps of the lower convex hull of each row's finite losses, and return their number.

    Step s belongs to record `groups[s]`, raises its number of cells by `widths[s]` to `ends[s]`, and costs `slopes[s]` per
    cell. The steps of a record are consecutive, and their slopes do not decrease. The four arrays need room for as many
    entries as `least` has. Cost: linear.
    """
    count = 0
    corners = np.empty(least.shape[1], np.int64)  # the numbers of cells at which the hull of the row has a corner
    for g in range(len(least)):
        # Phase 1: monotone chain. A corner is dropped if it lies above the line from its predecessor to the new point.
        length = 0
        for c in range(least.shape[1]):
            if least[g, c] == np.inf:
                continue
            while length > 1:
                low, middle = corners[length - 2], corners[length - 1]
                if (least[g, c] - least[g, low]) * (middle - low) < (least[g, middle] - least[g, low]) * (c - low):
                    length -= 1
                else:
                    break
            corners[length] = c
            length += 1
        # Phase 2: consecutive corners are the steps.
        for at in range(length - 1):
            width = corners[at + 1] - corners[at]
            slope = (least[g, corners[at + 1]] - least[g, corners[at]]) / width
            groups[count], widths[count], ends[count] = g, width, corners[at + 1]
            slopes[count] = max(slope, slopes[count - 1]) if at else slope  # rounding must not change the order
            count += 1
    return count


@kernel
def deviate(costs: Any, lowest: int, wanted: int, width: int, taken: Any) -> float:
    """Choose at most one deviation per record so that they sum to `wanted`, at the least total cost; return that cost.

    Record r may change its number of cells by `lowest + d` at the cost `costs[r, d]`, or not at all at no cost. Partial
    sums stay within -width … width, and the sum s has position width + s. `taken[r, position]` is 1 + d for the deviation
    of record r on the cheapest way to the sum, 0 for none: the caller reads the choice backwards from it. It must be zero
    before. Cost: records · deviations · sums.
    """
    sums = 2 * width + 1
    now = np.full(sums, np.inf)  # the least cost of each sum over the records so far
    before = np.empty(sums)
    now[width] = 0.0
    for r in range(len(costs)):
        before[:] = now
        for d in range(costs.shape[1]):
            step, cost = lowest + d, costs[r, d]
            if cost == np.inf:
                continue
            for at in range(max(0, step), min(sums, sums + step)):  # at - step stays a position
                if before[at - step] + cost < now[at]:
                    now[at] = before[at - step] + cost
                    taken[r, at] = 1 + d
    return float(now[width + wanted])
