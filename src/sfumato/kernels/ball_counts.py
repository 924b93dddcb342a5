"""Decide whether weighted sums of powers of coordinate differences are at most a threshold.

A point is a row of coordinates, in whole numbers (exact) or in floats. All kernels share these arguments:

    weights   for each coordinate the factor of its term
    power     the exponent of the differences; 0 means the largest term instead of the sum
    names     for each coordinate whether it is a name, which is equal or not equal
    full      for each coordinate the term of the largest possible difference; also that of two different names
    sure      a sum at most this is within the threshold
    never     a sum above this is not

For whole numbers `sure` and `never` are equal. For floats a sum between them is undecided, and the caller decides the
pair in exact arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import inlined, kernel, subroutine

LEAF = 16
"""A tree node with at most this many points is a leaf."""

FAR, NEAR, UNDECIDED = 0, 1, 2
"""The verdicts of `lp_block`."""


@subroutine
def _term(difference: Any, weight: Any, power: int) -> Any:
    """Return the term of one coordinate. Cost: `power` multiplications."""
    term = weight * difference
    for _ in range(power - 1):
        term *= difference
    return term


@subroutine
def _sum(points: Any, i: int, j: int, weights: Any, full: Any, names: Any, power: int) -> Any:
    """Return the sum of terms between two points. Cost: the number of coordinates."""
    total = weights[0] * 0  # a zero of the type of the weights
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
    """Fill `within[a, b]` with NEAR, FAR or UNDECIDED for point `rows[a]` and the b-th of the other points.

    `absent[i, c]` marks a missing coordinate of a point, `lacking[c, b]` one of the others. The others are stored
    coordinate by coordinate (`others[c, b]`), so that the inner loops run along memory. Cost: pairs times coordinates.
    """
    count = others.shape[1]
    total = np.empty(count, others.dtype)
    # coordinates that no other point lacks need no test in the inner loop
    holes = np.empty(others.shape[0], np.bool_)
    for c in range(others.shape[0]):
        holes[c] = False
        for b in range(count):
            holes[c] |= lacking[c, b]
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
                    # two missing coordinates are equal; one missing is as far as can be
                    term = most * (gone != lacking[c, b])
                else:
                    term = _term(abs(x - others[c, b]), weights[c], power)
                total[b] = max(total[b], term) if power == 0 else total[b] + term
        for b in range(count):
            within[a, b] = NEAR if total[b] <= sure else (FAR if total[b] > never else UNDECIDED)


@kernel
def _build(
    points: Any, order: Any, start: int, stop: int, full: Any, span: Any, names: Any, nodes: Any, low: Any, high: Any
) -> int:
    """Build a tree over the points `order[start:stop]`, permuting them, and return its number of nodes.

    `nodes[b]` holds the first point of node b, the point after its last, and its left child; the right child is the next
    node after the left one, and a leaf has -1. `low[b]` and `high[b]` are the corners of its box. A node is split at the
    median of the coordinate that can contribute most to a sum. Cost: n log² n.
    """
    dimensions = points.shape[1]
    count = 1
    nodes[0, 0], nodes[0, 1] = start, stop
    node = 0
    while node < count:
        first, last = nodes[node, 0], nodes[node, 1]
        # the box of the node, and its widest coordinate in units of terms
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
            # sort the points of the node along that coordinate; each half becomes a child
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


@inlined
def _box_bounds(points: Any, i: int, low: Any, high: Any, node: int, weights: Any, full: Any, names: Any, power: int) -> Any:
    """Return the least and the largest sum between a point and any point in the box of a node."""
    nearest = weights[0] * 0
    farthest = weights[0] * 0
    for c in range(points.shape[1]):
        x, a, b = points[i, c], low[node, c], high[node, c]
        if names[c]:
            near = full[c] * 0 if a <= x <= b else full[c]
            far = full[c] * 0 if a == x and b == x else full[c]
        else:
            near = _term(max(a - x, x - b, x - x), weights[c], power)  # x - x is a zero of the type of x
            far = _term(max(x - a, b - x), weights[c], power)
        nearest = max(nearest, near) if power == 0 else nearest + near
        farthest = max(farthest, far) if power == 0 else farthest + far
    return nearest, farthest


@kernel
def ball_counts(
    points: Any, offsets: Any, values: Any, counts: Any, weights: Any, full: Any, span: Any, names: Any, power: int,
    sure: Any, never: Any, out: Any, unknown: Any,
) -> int:  # fmt: skip
    """Count for every entry the tuples of its group within its ball, itself included.

    Entry i of a group is the value `values[i]`, which occurs `counts[i]` times. Pairs of entries that floats cannot decide
    are not counted: the kernel lists them in `unknown` while there is room, and returns their number. A tree over each
    group's points counts boxes that lie inside the ball as a whole. Cost: per entry the leaves that the ball's surface
    cuts, at most the group's entries.
    """
    dimensions = points.shape[1]
    doubtful = 0
    # one tree is reused for all groups: room for the largest
    longest = 0
    for g in range(len(offsets) - 1):
        longest = max(longest, offsets[g + 1] - offsets[g])
    room = max(4 * (longest // LEAF + 1), 4)
    nodes = np.empty((room, 3), np.int64)
    low = np.empty((room, dimensions), points.dtype)
    high = np.empty((room, dimensions), points.dtype)
    inside = np.empty(room, np.int64)  # the tuples under each node
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
            # walk the tree from the root; a box outside is skipped, a box inside is counted, any other is opened
            total, depth = 0, 1
            stack[0] = 0
            while depth > 0:
                depth -= 1
                node = stack[depth]
                nearest, farthest = _box_bounds(entry_points, i, low, high, node, weights, full, names, power)
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
