"""Decide whether weighted sums of powers of coordinate differences are at most a threshold.

All kernels here know points as rows of coordinates, in whole numbers (exact) or floats. A sum at most `sure` is within;
a sum above `never` is not; in between, which happens for floats only, it is not known and left to exact arithmetic.
`power` 0 means the largest term instead of the sum. Where `names[j]` a coordinate is a name: it differs or not. `full[j]`
is the term of a coordinate that differs as much as it can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel

LEAF = 16
"""A tree node with at most so many points is not split."""


@kernel
def _term(difference: Any, weight: Any, power: int) -> Any:
    """One coordinate's term. Cost: `power` multiplications."""
    term = weight * difference
    for _ in range(power - 1):
        term *= difference
    return term


@kernel
def _sum(points: Any, i: int, j: int, weights: Any, full: Any, names: Any, power: int) -> Any:
    """The sum of terms between two points. Cost: the number of coordinates."""
    total = weights[0] * 0
    for c in range(points.shape[1]):
        if names[c]:
            term = full[c] * (points[i, c] != points[j, c])
        else:
            term = _term(abs(points[i, c] - points[j, c]), weights[c], power)
        total = max(total, term) if power == 0 else total + term
    return total


@kernel
def lp_block(
    points: Any, absent: Any, rows: Any, others: Any, lacking: Any, weights: Any, full: Any, names: Any, power: int,
    sure: Any, never: Any, within: Any,
) -> None:  # fmt: skip
    """Fill `within[a, b]` with 1 (near), 0 (not near) or 2 (unknown) for point rows[a] and the b-th of some others.

    The others come coordinate by coordinate (`others[c, b]`, `lacking[c, b]`), so that the inner loops run along memory.
    Cost: pairs times coordinates.
    """
    count = others.shape[1]
    total = np.empty(count, others.dtype)
    holes = np.empty(others.shape[0], np.bool_)
    for c in range(others.shape[0]):
        holes[c] = lacking[c].any()
    for a in range(len(rows)):
        i = rows[a]
        total[:] = 0
        for c in range(others.shape[0]):
            x, gone, most = points[i, c], absent[i, c], full[c]
            some_gone = holes[c] or gone
            for b in range(count):
                if names[c]:
                    term = most * (others[c, b] != x)
                elif some_gone and (gone or lacking[c, b]):
                    term = most * (gone != lacking[c, b])
                else:
                    term = _term(abs(x - others[c, b]), weights[c], power)
                total[b] = max(total[b], term) if power == 0 else total[b] + term
        for b in range(count):
            within[a, b] = 1 if total[b] <= sure else (0 if total[b] > never else 2)


@kernel
def _build(
    points: Any, order: Any, start: int, stop: int, full: Any, span: Any, names: Any, nodes: Any, low: Any, high: Any
) -> int:
    """Build a tree over points order[start:stop]; nodes hold first, last, left child (right is next after it).

    Splits at the median of the coordinate that can contribute most. Cost: n log² n.
    """
    dimensions = points.shape[1]
    count = 1
    nodes[0, 0], nodes[0, 1] = start, stop
    node = 0
    while node < count:
        first, last = nodes[node, 0], nodes[node, 1]
        best, widest = -1, 0.0
        for c in range(dimensions):
            smallest = largest = points[order[first], c]
            for i in range(first + 1, last):
                value = points[order[i], c]
                smallest, largest = min(smallest, value), max(largest, value)
            low[node, c], high[node, c] = smallest, largest
            spread = 0.0
            if largest > smallest:
                spread = full[c] * (1.0 if names[c] else (largest - smallest) / span[c])
            if spread > widest:
                best, widest = c, spread
        nodes[node, 2] = -1
        if best >= 0 and last - first > LEAF:
            part = order[first:last].copy()
            keys = np.empty(last - first, points.dtype)
            for i in range(last - first):
                keys[i] = points[part[i], best]
            ranked = np.argsort(keys, kind="mergesort")
            for i in range(last - first):
                order[first + i] = part[ranked[i]]
            middle = (first + last) // 2
            nodes[node, 2] = count
            nodes[count, 0], nodes[count, 1] = first, middle
            nodes[count + 1, 0], nodes[count + 1, 1] = middle, last
            count += 2
        node += 1
    return count


@kernel
def ball_counts(
    points: Any, offsets: Any, values: Any, counts: Any, weights: Any, full: Any, span: Any, names: Any, power: int,
    sure: Any, never: Any, out: Any, unknown: Any,
) -> int:  # fmt: skip
    """Count for every entry the tuples of its group within its ball, itself included.

    Pairs of entries that floats cannot decide are not counted; they are listed in `unknown`, as far as it has room, and
    their number is returned. A tree over each group's points counts boxes that lie in the ball whole. Cost: per entry the
    leaves that the ball's surface cuts, at most the group's entries.
    """
    dimensions = points.shape[1]
    doubtful = 0
    longest = 0
    for g in range(len(offsets) - 1):
        longest = max(longest, offsets[g + 1] - offsets[g])
    room = max(4 * (longest // LEAF + 1), 4)
    nodes = np.empty((room, 3), np.int64)
    low = np.empty((room, dimensions), points.dtype)
    high = np.empty((room, dimensions), points.dtype)
    inside = np.empty(room, np.int64)
    stack = np.empty(room, np.int64)
    entry_points = points[values]
    order = np.arange(len(values))
    for g in range(len(offsets) - 1):
        start, stop = offsets[g], offsets[g + 1]
        size = _build(entry_points, order, start, stop, full, span, names, nodes, low, high)
        for node in range(size):
            inside[node] = 0
            for i in range(nodes[node, 0], nodes[node, 1]):
                inside[node] += counts[order[i]]
        for i in range(start, stop):
            total, depth = 0, 1
            stack[0] = 0
            while depth > 0:
                depth -= 1
                node = stack[depth]
                nearest = weights[0] * 0
                farthest = weights[0] * 0
                for c in range(dimensions):
                    x, a, b = entry_points[i, c], low[node, c], high[node, c]
                    if names[c]:
                        near = full[c] * 0 if a <= x <= b else full[c]
                        far = full[c] * 0 if a == x and b == x else full[c]
                    else:
                        near = _term(max(a - x, x - b, x - x), weights[c], power)
                        far = _term(max(x - a, b - x), weights[c], power)
                    nearest = max(nearest, near) if power == 0 else nearest + near
                    farthest = max(farthest, far) if power == 0 else farthest + far
                if nearest > never:
                    continue
                if farthest <= sure:
                    total += inside[node]
                elif nodes[node, 2] >= 0:
                    stack[depth] = nodes[node, 2]
                    stack[depth + 1] = nodes[node, 2] + 1
                    depth += 2
                else:
                    for k in range(nodes[node, 0], nodes[node, 1]):
                        j = order[k]
                        distance = _sum(entry_points, i, j, weights, full, names, power)
                        if distance <= sure:
                            total += counts[j]
                        elif distance <= never:
                            if doubtful < len(unknown):
                                unknown[doubtful, 0], unknown[doubtful, 1] = i, j
                            doubtful += 1
            out[i] = total
    return doubtful
