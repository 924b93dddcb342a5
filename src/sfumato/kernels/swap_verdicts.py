"""Whether two groups would still satisfy what is required of them after a swap, for each pair of secrets.

What is required depends on the secrets of a group alone, not on who has which. So the verdict on a swap is a table: one
entry for each pair of a secret of the one group and a secret of the other.
"""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compile import borrowing_kernel, subroutine
from sfumato.kernels.group_excess import allowed_neighbours, entries_excess, within_reach


@subroutine
def _fails_limit(
    limits: Any, c: Any, first: Any, stop: Any, row: Any, count: Any, degree: Any, size: Any, out: Any, into: Any
) -> Any:
    """Return whether a row has too many neighbours after a row of the entry `out` is swapped for one like row `into`."""
    t = allowed_neighbours(limits, c, size)
    come, gone = limits.value[c, into], limits.value[c, row[out]]
    own = 0  # the neighbours of the row that joins
    for e in range(first, stop):
        left = count[e] - (e == out)
        if left > 0:
            v = limits.value[c, row[e]]
            now = degree[c, e] + within_reach(limits, c, v, come)
            if within_reach(limits, c, v, gone):
                now -= 1
            if now > t:
                return True
            if within_reach(limits, c, come, v):
                own += left
    return own > t


@subroutine
def _fails_condition(
    conditions: Any, h: Any, first: Any, stop: Any, row: Any, count: Any, size: Any, out: Any, into: Any, scratch: Any
) -> Any:
    """Return whether the histogram misses condition h after the same swap."""
    for e in range(first, stop):
        scratch[0, conditions.value[h, row[e]]] += count[e] - (e == out)
    scratch[0, conditions.value[h, into]] += 1
    # several secrets may be one value of the condition: each is listed where it first occurs, and its count is reset
    different = 0
    for e in range(first, stop + 1):
        v = conditions.value[h, into if e == stop else row[e]]
        if scratch[0, v] > 0:
            scratch[1, different] = v
            scratch[2, different] = scratch[0, v]
            scratch[0, v] = 0
            different += 1
    return entries_excess(conditions, h, size, different, scratch) > 0


@subroutine
def _fails(
    limits: Any, conditions: Any, first: Any, stop: Any, row: Any, count: Any, degree: Any, size: Any, out: Any, into: Any,
    scratch: Any,
) -> Any:  # fmt: skip
    """Return whether a group misses a limit or a condition after a row of the entry `out` is swapped for one like `into`."""
    for c in range(len(limits.windowed)):
        if _fails_limit(limits, c, first, stop, row, count, degree, size, out, into):
            return True
    for h in range(len(conditions.kind)):
        if _fails_condition(conditions, h, first, stop, row, count, size, out, into, scratch):
            return True
    return False


@borrowing_kernel
def entry_degrees(limits: Any, first: Any, row: Any, count: Any, degree: Any) -> None:
    """Fill `degree[c, e]` with the neighbours, under limit c, of a row of entry e within its group.

    Entries `first[g]` to `first[g + 1]` are the secrets of group g: `row[e]` is any row that has the secret, and `count[e]`
    the number of rows of the group that have it. Cost: the square of the secrets of each group, times the limits.
    """
    for c in range(degree.shape[0]):
        for g in range(len(first) - 1):
            for e in range(first[g], first[g + 1]):
                v, near = limits.value[c, row[e]], 0
                for f in range(first[g], first[g + 1]):
                    if within_reach(limits, c, v, limits.value[c, row[f]]):
                        near += count[f]
                degree[c, e] = near - within_reach(limits, c, v, v)  # a row is not its own neighbour


@borrowing_kernel
def swap_verdicts(
    limits: Any, conditions: Any, first: Any, row: Any, count: Any, degree: Any, size: Any, here: Any, there: Any,
    table: Any, scratch: Any, breaks: Any,
) -> None:  # fmt: skip
    """Fill a table for each pair of groups `here[p]` and `there[p]`, from `breaks[table[p]]` on, row by row.

    The entry of secret u of the one and v of the other group says whether a swap of two rows with these secrets would break
    what is required of either group. For the entries of groups see `entry_degrees`; `size` is that of each group, and
    `scratch` that of `histogram_excess`. Cost: the pairs of secrets times the secrets of both groups.
    """
    for p in range(len(here)):
        a, b, k = here[p], there[p], table[p]
        for u in range(first[a], first[a + 1]):
            for v in range(first[b], first[b + 1]):
                broken = False
                if row[u] != row[v]:  # rows with the same secret change nothing
                    broken = _fails(
                        limits, conditions, first[a], first[a + 1], row, count, degree, size[a], u, row[v], scratch
                    ) or _fails(limits, conditions, first[b], first[b + 1], row, count, degree, size[b], v, row[u], scratch)
                breaks[k] = broken
                k += 1
