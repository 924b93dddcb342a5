"""Decide whether weighted sums of powers of coordinate differences are at most a threshold.

A point is a row of coordinates, in whole numbers (exact) or in floats. All kernels share these arguments:

    weights   for each coordinate the factor of its term
    power     the exponent of the differences; 0 means the largest term instead of the sum
    names     for each coordinate whether it is a name, which is equal or not equal
    full      for each coordinate the term of the largest possible difference; also that of two different names, and that
              of two coordinates of which one is missing (two missing ones are equal)
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

NONE_ABSENT, SOME_ABSENT, ALL_ABSENT = 0, 1, 2
"""How many points of a tree node lack a coordinate."""


@subroutine
def _term(difference: Any, weight: Any, power: int) -> Any:
    """Return the term of one coordinate. Cost: `power` multiplications."""
    term = weight * difference
    for _ in range(power - 1):
        term *= difference
    return term


@subroutine
def _sum(points: Any, absent: Any, i: int, j: int, weights: Any, full: Any, names: Any, power: int) -> Any:
    """Return the sum of terms between two points. Cost: the number of coordinates."""
    total = weights[0] * 0  # a zero of the type of the weights
    for c in range(points.shape[1]):
        if names[c]:
            term = full[c] * (points[i, c] != points[j, c])
        elif absent[i, c] or absent[j, c]:
            term = full[c] * (absent[i, c] != absent[j, c])
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
    total, term = np.empty(count, others.dtype), np.empty(count, others.dtype)
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
            # a loop for each case, so that the compiler can turn it into vector instructions
            if names[c]:
                for b in range(count):
                    term[b] = most * (others[c, b] != x)
            elif holes[c] or gone:
                for b in range(count):
                    if gone or lacking[c, b]:
                        # two missing coordinates are equal; one missing is as far as can be
                        term[b] = most * (gone != lacking[c, b])
                    else:
                        term[b] = _term(abs(x - others[c, b]), weights[c], power)
            elif power <= 1:
                for b in range(count):
                    term[b] = weights[c] * abs(x - others[c, b])
            else:
                for b in range(count):
                    term[b] = _term(abs(x - others[c, b]), weights[c], power)
            if power == 0:
                for b in range(count):
                    total[b] = max(total[b], term[b])
            else:
                for b in range(count):
                    total[b] += term[b]
        for b in range(count):
            within[a, b] = NEAR if total[b] <= sure else (FAR if total[b] > never else UNDECIDED)


@kernel
def _build(
    points: Any, absent: Any, order: Any, start: int, stop: int, full: Any, span: Any, names: Any, nodes: Any, low: Any,
    high: Any, lacking: Any,
) -> int:  # fmt: skip
    """Build a tree over the points `order[start:stop]`, permuting them, and return its number of nodes.

    `nodes[b]` holds the first point of node b, the point after its last, and its left child; the right child is the next
    node after the left one, and a leaf has -1. `low[b]` and `high[b]` are the corners of the box of those that have the
    coordinate, and `lacking[b]` states how many lack it. A node is split at the median of the coordinate that can
    contribute most to a sum; those that lack it come last. Cost: n log² n.
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
            gone = 0
            smallest = largest = points[order[first], c]
            for i in range(first, last):
                value = points[order[i], c]
                if absent[order[i], c]:
                    gone += 1
                elif gone == i - first:  # the first that has the coordinate
                    smallest = largest = value
                else:
                    smallest, largest = min(smallest, value), max(largest, value)
            low[node, c], high[node, c] = smallest, largest
            lacking[node, c] = NONE_ABSENT if gone == 0 else (ALL_ABSENT if gone == last - first else SOME_ABSENT)
            spread = 0.0
            if lacking[node, c] == SOME_ABSENT:
                spread = full[c] * 1.0
            elif lacking[node, c] == NONE_ABSENT and largest > smallest:
                spread = full[c] * (1.0 if names[c] else (largest - smallest) / span[c])
            if spread > widest:
                best, widest = c, spread
        nodes[node, 2] = -1
        if best >= 0 and last - first > LEAF:
            # sort the points of the node along that coordinate; each half becomes a child
            part = order[first:last].copy()
            keys = np.empty(last - first, points.dtype)
            for i in range(last - first):
                keys[i] = high[node, best] + 1 if absent[part[i], best] else points[part[i], best]
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
def _box_bounds(
    points: Any, absent: Any, i: int, low: Any, high: Any, lacking: Any, node: int, weights: Any, full: Any, names: Any,
    power: int,
) -> Any:  # fmt: skip
    """Return the least and the largest sum between a point and any point in the box of a node."""
    nearest = weights[0] * 0
    farthest = weights[0] * 0
    for c in range(points.shape[1]):
        x, a, b, holes = points[i, c], low[node, c], high[node, c], lacking[node, c]
        if names[c]:
            near = full[c] * 0 if a <= x <= b else full[c]
            far = full[c] * 0 if a == x and b == x else full[c]
        elif absent[i, c] or holes == ALL_ABSENT:
            # equal only where both lack the coordinate
            near = full[c] * (holes == NONE_ABSENT or not absent[i, c])
            far = full[c] * (holes != ALL_ABSENT or not absent[i, c])
        else:
            near = _term(max(a - x, x - b, x - x), weights[c], power)  # x - x is a zero of the type of x
            far = _term(max(x - a, b - x), weights[c], power)
            if holes == SOME_ABSENT:
                near, far = min(near, full[c]), max(far, full[c])
        nearest = max(nearest, near) if power == 0 else nearest + near
        farthest = max(farthest, far) if power == 0 else farthest + far
    return nearest, farthest


@subroutine
def _sum_counts(nodes: Any, size: int, order: Any, counts: Any, inside: Any) -> None:
    """Fill `inside[b]` with the tuples under each of the first `size` nodes. Cost: points times the depth of the tree."""
    for node in range(size):
        inside[node] = 0
        for i in range(nodes[node, 0], nodes[node, 1]):
            inside[node] += counts[order[i]]


@inlined
def _scan_leaf(
    points: Any, absent: Any, leaf: Any, i: int, counts: Any, weights: Any, full: Any, names: Any, power: int, sure: Any,
    never: Any, unknown: Any,
) -> Any:  # fmt: skip
    """Return the tuples of a leaf in the ball of point i, and how many pairs are undecided; list those that fit."""
    total, doubtful = 0, 0
    for k in range(len(leaf)):
        j = leaf[k]
        distance = _sum(points, absent, i, j, weights, full, names, power)
        if distance <= sure:
            total += counts[j]
        elif distance <= never:
            if doubtful < len(unknown):
                unknown[doubtful, 0], unknown[doubtful, 1] = i, j
            doubtful += 1
    return total, doubtful


@kernel
def ball_counts(
    points: Any, absent: Any, offsets: Any, values: Any, counts: Any, weights: Any, full: Any, span: Any, names: Any,
    power: int, sure: Any, never: Any, begin: int, out: Any, unknown: Any,
) -> Any:  # fmt: skip
    """Count for every entry from `begin` on the tuples of its group within its ball, itself included.

    Entry i of a group is the value `values[i]`, which occurs `counts[i]` times. Pairs of entries that floats cannot decide
    are not counted: the kernel lists them in `unknown`. It stops at the first entry whose pairs find no room there.
    Returned: how many pairs are listed, and the entry at which to go on, which is the number of entries at the end. A tree
    over each group's points counts boxes that lie inside the ball as a whole. Cost: per entry the leaves that the ball's
    surface cuts, at most the group's entries.
    """
    dimensions = points.shape[1]
    listed = 0
    # one tree is reused for all groups: room for the largest
    room = max(4 * ((offsets[1:] - offsets[:-1]).max() // LEAF + 1), 4)
    nodes = np.empty((room, 3), np.int64)
    low = np.empty((room, dimensions), points.dtype)
    high = np.empty((room, dimensions), points.dtype)
    lacking = np.empty((room, dimensions), np.int8)
    inside = np.empty(room, np.int64)  # the tuples under each node
    stack = np.empty(room, np.int64)
    entry_points, entry_absent = points[values], absent[values]
    order = np.arange(len(values))
    for g in range(len(offsets) - 1):
        start, stop = offsets[g], offsets[g + 1]
        if stop <= begin:
            continue
        size = _build(entry_points, entry_absent, order, start, stop, full, span, names, nodes, low, high, lacking)
        _sum_counts(nodes, size, order, counts, inside)
        for i in range(max(start, begin), stop):
            # walk the tree from the root; a box outside is skipped, a box inside is counted, any other is opened
            total, depth, doubtful = 0, 1, 0
            stack[0] = 0
            while depth > 0:
                depth -= 1
                node = stack[depth]
                nearest, farthest = _box_bounds(
                    entry_points, entry_absent, i, low, high, lacking, node, weights, full, names, power
                )  # fmt: skip
                if nearest > never:
                    continue
                if farthest <= sure:
                    total += inside[node]
                elif nodes[node, 2] >= 0:
                    stack[depth] = nodes[node, 2]
                    stack[depth + 1] = nodes[node, 2] + 1
                    depth += 2
                else:
                    near, undecided = _scan_leaf(
                        entry_points, entry_absent, order[nodes[node, 0] : nodes[node, 1]], i, counts, weights, full, names,
                        power, sure, never, unknown[min(listed + doubtful, len(unknown)) :],
                    )  # fmt: skip
                    total += near
                    doubtful += undecided
            if listed + doubtful > len(unknown):
                return listed, i
            listed += doubtful
            out[i] = total
    return listed, len(values)
