"""Cut an order of the rows into groups at the least cost: a dynamic program."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import kernel
from sfumato.kernels.group_excess import allowed_of, near, shape_excess


@kernel
def cut_order(
    shares: Any, place: Any, crowds: Any, shapes: Any, order: Any, least: Any, most: Any, price: Any, cut: Any
) -> Any:
    """Cut into runs of `least` to `most` rows so that loss + price · excess is least; `cut[i]` starts the run before i.

    Cost: rows times `most` times (attributes + `most`).
    """
    n, d = place.shape
    cost = np.full(n + 1, 1e300)
    cost[0] = 0.0
    limits, conditions = len(crowds.windowed), len(shapes.kind)
    low, high = np.empty(d, np.int64), np.empty(d, np.int64)
    distinct = np.zeros(d, np.int64)
    widest = 0
    for j in range(d):
        widest = max(widest, shares.size[j])
    seen = np.full((d, widest + 1), -1, np.int64)
    degree = np.zeros((limits, most + 1), np.int64)
    values = np.zeros((conditions, most + 1), np.int64)
    counts = np.zeros(1 + shapes.number.shape[1] + shapes.share.shape[2], np.int64)
    for i in range(n):
        if cost[i] >= 1e299:
            continue
        for j in range(d):
            low[j], high[j], distinct[j] = 1 << 60, -1, 0
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
                for c in range(limits):
                    v = crowds.value[c, row]
                    own = 0
                    for q in range(s):
                        w = crowds.value[c, order[i + q]]
                        degree[c, q] += near(crowds, c, w, v)
                        own += near(crowds, c, v, w)
                    degree[c, s] = own
                for h in range(conditions):
                    values[h, s] = shapes.value[h, row]
            if size < least or (n - i - size != 0 and n - i - size < least):
                continue
            total = 0.0
            for j in range(d):
                total += share(shares, j, low[j], high[j], distinct[j])
            total *= size
            if price > 0 and cost[i] + total < cost[i + size]:
                excess = 0.0
                for c in range(limits):
                    t = allowed_of(crowds, c, size)
                    for q in range(size):
                        if degree[c, q] > t:
                            excess += (degree[c, q] - t) * crowds.weight[c]
                for h in range(conditions):
                    excess += shape_excess(shapes, h, values[h], size, counts)
                total += price * excess
            if cost[i] + total < cost[i + size]:
                cost[i + size] = cost[i] + total
                cut[i + size] = i
    return cost[n]
