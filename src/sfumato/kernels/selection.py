"""The value at a rank, and values in ascending order, without new arrays."""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compile import inlined

_FEW = 24
"""Up to this many values are sorted by insertion."""


@inlined
def select(values: Any, count: Any, wanted: Any) -> Any:
    """Return the value with rank `wanted`, from 0, of `values[:count]`; how many are below it; and how many at most it.

    Quickselect: the values are permuted. Cost: linear, on average.
    """
    start, stop = 0, count
    below, through = 0, 0
    pivot = values[0]
    while not below <= wanted < through:
        # the value is in values[start:stop]: divide them into those below, equal to and above the middle of three
        one, other, third = values[start], values[(start + stop) // 2], values[stop - 1]
        pivot = max(min(one, other), min(max(one, other), third))
        below, through, i = start, stop, start
        while i < through:
            value = values[i]
            if value < pivot:
                values[i] = values[below]
                values[below] = value
                below += 1
                i += 1
            elif value > pivot:
                through -= 1
                values[i] = values[through]
                values[through] = value
            else:
                i += 1
        if wanted < below:
            stop = below
        else:
            start = through
    return pivot, below, through


@inlined
def sort(values: Any, count: Any) -> None:
    """Sort `values[:count]`: few by insertion, more as a heap. Cost: the count times its logarithm."""
    if count <= _FEW:
        for i in range(1, count):
            value, q = values[i], i
            while q > 0 and values[q - 1] > value:
                values[q] = values[q - 1]
                q -= 1
            values[q] = value
        return
    # first build a heap, then move its largest value behind the others again and again
    for step in range(count // 2 + count - 1):
        root, stop = count // 2 - 1 - step, count
        if root < 0:
            root, stop = 0, count // 2 + count - 1 - step
            values[0], values[stop] = values[stop], values[0]
        # sift the root down
        value, child = values[root], 2 * root + 1
        while child < stop:
            if child + 1 < stop and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[root] = values[child]
            root, child = child, 2 * child + 1
        values[root] = value
