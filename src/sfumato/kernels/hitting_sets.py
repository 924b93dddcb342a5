"""The fewest values that hit every set of a family, up to a number that is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel


@kernel
def hitting_numbers(groups: Any, starts: Any, value: Any, values: int, wanted: int, budget: int, out: Any) -> None:
    """Set `out[g]` to the number of values in the smallest set that hits every set of group g; to `wanted` if it is less.

    The sets of group g are `groups[g]` to `groups[g + 1]` - 1, and set s has the values `value[starts[s]:starts[s + 1]]`. If
    `budget` choices do not settle whether `wanted` values are needed, `out[g]` is less.
    """
    chosen = np.zeros(values, np.int64)  # how many of the choices so far are each value
    left = np.zeros(1, np.int64)  # how many more choices may be tried
    for g in range(len(groups) - 1):
        first, last = groups[g], groups[g + 1]
        forced = 0  # the number of values that sets of one value need
        for s in range(first, last):
            if starts[s + 1] - starts[s] == 1 and chosen[value[starts[s]]] == 0:
                chosen[value[starts[s]]] = 1
                forced += 1
        out[g], left[0] = wanted, budget
        for more in range(wanted - forced):  # ascending, so that the first number that suffices is the least
            if hits_all(first, last, starts, value, chosen, more, left):
                out[g] = forced + more
                break
        for e in range(starts[first], starts[last]):
            chosen[value[e]] = 0


@kernel
def hits_all(first: int, last: int, starts: Any, value: Any, chosen: Any, more: int, left: Any) -> bool:
    """Return whether the chosen values and `more` others hit the sets from `first` to `last` - 1; true if `left` runs out.

    One of the values of the first set that is not hit must be chosen, so at most the size of a set to the power of `more`
    choices are tried.
    """
    for s in range(first, last):
        hit = False
        for e in range(starts[s], starts[s + 1]):
            if chosen[value[e]] > 0:
                hit = True
                break
        if hit:
            continue
        if more == 0:
            return False
        for e in range(starts[s], starts[s + 1]):
            left[0] -= 1
            if left[0] < 0:
                return True
            chosen[value[e]] += 1
            found = hits_all(s + 1, last, starts, value, chosen, more - 1, left)
            chosen[value[e]] -= 1
            if found:
                return True
        return False
    return True
