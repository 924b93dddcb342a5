"""How many cells each record discloses, so that they are a given number in all."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel


@kernel
def hull_steps(least: Any, groups: Any, slopes: Any, widths: Any, ends: Any) -> int:
    """Find the steps of the lower convex hull of each row's finite losses over the numbers of cells; return how many.

    Filled is whose each is, how steep, how wide, and to how many cells. Within a row slopes do not descend. Cost: linear.
    """
    count = 0
    points = np.empty(least.shape[1], np.int64)
    for g in range(len(least)):
        held = 0
        for c in range(least.shape[1]):
            if least[g, c] == np.inf:
                continue
            while held > 1:
                low, middle = points[held - 2], points[held - 1]
                if (least[g, c] - least[g, low]) * (middle - low) < (least[g, middle] - least[g, low]) * (c - low):
                    held -= 1
                else:
                    break
            points[held] = c
            held += 1
        for at in range(held - 1):
            width = points[at + 1] - points[at]
            slope = (least[g, points[at + 1]] - least[g, points[at]]) / width
            groups[count], widths[count], ends[count] = g, width, points[at + 1]
            slopes[count] = max(slope, slopes[count - 1]) if at else slope  # rounding must not change their order
            count += 1
    return count


@kernel
def deviate(costs: Any, lowest: int, wanted: int, width: int, taken: Any) -> float:
    """Choose at most one deviation of each record so that they add up to what is wanted, at the least cost; return it.

    Record r may deviate by `lowest + d` at the cost `costs[r, d]`, or stay as it is for nothing. Sums on the way stay from
    -width to width. `taken` has a row per record and a column per sum, and is filled with 1 + d of what was done, 0 if it
    stayed. Cost: records · deviations · sums.
    """
    sums = 2 * width + 1
    now = np.full(sums, np.inf)
    before = np.empty(sums)
    now[width] = 0.0
    for r in range(len(costs)):
        before[:] = now
        for d in range(costs.shape[1]):
            step, cost = lowest + d, costs[r, d]
            if cost == np.inf:
                continue
            for at in range(max(0, step), min(sums, sums + step)):
                if before[at - step] + cost < now[at]:
                    now[at] = before[at - step] + cost
                    taken[r, at] = 1 + d
    return float(now[width + wanted])
