"""The neighbours of rows within a group, and what the limits on them are exceeded by.

A group is `member[start:stop]`, and `degrees[c, row]` is the number of neighbours of a row in its group under limit c.
"""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compile import subroutine
from sfumato.kernels.group_excess import allowed_neighbours, within_reach

PAIRWISE = 128
"""The relief of rows is found pair by pair in groups of up to this many rows."""

_FEW_VALUES = 8
"""A limit has few values if there are at most this many times as many as the group has rows."""


@subroutine
def neighbour_excess(
    limits: Any, member: Any, degrees: Any, start: Any, before: Any, size: Any, out: Any, into: Any, bound: Any
) -> Any:
    """Return the excess of the group `member[start:start + before]` if row `out` left and row `into` joined.

    A negative row is none; `size` is the size after that. Stops soon after the excess is above the bound; the result is then
    any number above it. Cost: the size times the limits.
    """
    total = 0.0
    for c in range(len(limits.windowed)):
        t, weight = allowed_neighbours(limits, c, size), limits.weight[c]
        own = 0  # the neighbours of the row that joins
        gone = limits.value[c, out] if out >= 0 else 0
        come = limits.value[c, into] if into >= 0 else 0
        windowed = limits.windowed[c]
        # as `within_reach`, with what does not depend on the member read once; no window includes position -1
        gone_at, come_at, come_low, come_high = -1, -1, 0, 0
        if windowed and out >= 0:
            gone_at = limits.rank[c, gone]
        if windowed and into >= 0:
            come_at = limits.rank[c, come]
            come_low, come_high = limits.low[c, come_at], limits.high[c, come_at]
        over = 0  # the neighbours beyond the limit, of all rows
        for i in range(start, start + before):
            row = member[i]
            if row == out:
                continue
            v = limits.value[c, row]
            degree = degrees[c, row]
            if windowed:
                at = limits.rank[c, v]
                low, high = limits.low[c, at], limits.high[c, at]
                # no branches: about half of the rows of a crowded group have too many neighbours, at random
                degree += (low <= come_at) & (come_at < high)
                degree -= (low <= gone_at) & (gone_at < high)
                own += (come_low <= at) & (at < come_high)
            else:
                if out >= 0 and within_reach(limits, c, v, gone):
                    degree -= 1
                if into >= 0:
                    degree += within_reach(limits, c, v, come)
                    own += within_reach(limits, c, come, v)
            over += max(0, degree - t)
            if (i - start) & 15 == 15 and total + weight * over > bound:
                break
        total += weight * over
        if total > bound:
            return total
        if into >= 0 and own > t:
            total += weight * (own - t)
    return total


@subroutine
def count_neighbours(limits: Any, member: Any, degrees: Any, start: Any, stop: Any, c: Any, along: Any) -> None:
    """Compute the degrees of the group `member[start:stop]` under limit c.

    Cost: the square of the size; if the neighbours are windows over few values, the size.
    """
    if limits.windowed[c] and len(along) <= _FEW_VALUES * (stop - start):
        # along[r] becomes the number of members before position r
        along[:] = 0
        for i in range(start, stop):
            along[limits.rank[c, limits.value[c, member[i]]] + 1] += 1
        for r in range(1, len(along)):
            along[r] += along[r - 1]
        for i in range(start, stop):
            r = limits.rank[c, limits.value[c, member[i]]]
            inside = limits.low[c, r] <= r < limits.high[c, r]  # a row is not its own neighbour
            degrees[c, member[i]] = along[limits.high[c, r]] - along[limits.low[c, r]] - inside
    else:
        for i in range(start, stop):
            row, degree = member[i], 0
            for q in range(start, stop):
                if q != i and within_reach(limits, c, limits.value[c, row], limits.value[c, member[q]]):
                    degree += 1
            degrees[c, row] = degree


@subroutine
def update_degrees(limits: Any, member: Any, degrees: Any, start: Any, size: Any, row: Any, change: Any) -> None:
    """Update the degrees of `member[start:start + size]` because a row joined (+1) or leaves (-1); recount the row's own."""
    for c in range(len(limits.windowed)):
        v, own = limits.value[c, row], 0
        for i in range(start, start + size):
            other = member[i]
            if other == row:
                continue
            w = limits.value[c, other]
            if within_reach(limits, c, w, v):
                degrees[c, other] += change
            own += within_reach(limits, c, v, w)
        degrees[c, row] = own


@subroutine
def meet_crowded(
    limits: Any, member: Any, degrees: Any, start: Any, stop: Any, c: Any, t: Any, along: Any, relief: Any
) -> Any:  # fmt: skip
    """Add to the relief of each row the number of other crowded rows whose neighbour it is; return the rows looked at.

    The group is `member[start:stop]`; a row is crowded if it has more than t neighbours. In a large group whose neighbours
    are no windows, a row counts as a neighbour of all.
    """
    size, weight = stop - start, limits.weight[c]
    if limits.windowed[c] and len(along) <= _FEW_VALUES * size:
        # along[r] becomes the number of crowded rows whose window includes position r: +1 where one begins, -1 after it
        along[:] = 0
        for i in range(start, stop):
            if degrees[c, member[i]] > t:
                r = limits.rank[c, limits.value[c, member[i]]]
                along[limits.low[c, r]] += 1
                along[limits.high[c, r]] -= 1
        for r in range(1, len(along)):
            along[r] += along[r - 1]
        for i in range(start, stop):
            r = limits.rank[c, limits.value[c, member[i]]]
            itself = degrees[c, member[i]] > t and limits.low[c, r] <= r < limits.high[c, r]
            relief[member[i]] += weight * (along[r] - itself)
        return 2 * size
    if size > PAIRWISE:
        crowded = 0
        for i in range(start, stop):
            crowded += degrees[c, member[i]] > t
        for i in range(start, stop):
            relief[member[i]] += weight * (crowded - (degrees[c, member[i]] > t))
        return 2 * size
    for i in range(start, stop):
        v = limits.value[c, member[i]]
        for q in range(start, stop):
            other = member[q]
            if q != i and degrees[c, other] > t and within_reach(limits, c, limits.value[c, other], v):
                relief[member[i]] += weight
    return size * size
