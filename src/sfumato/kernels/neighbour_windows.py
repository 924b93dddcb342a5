"""Neighbours along an order: the values near v are those from `low[v]` up to, not including, `high[v]`."""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compile import kernel


@kernel
def window_counts(offsets: Any, ranks: Any, counts: Any, low: Any, high: Any, out: Any) -> None:
    """Count for every entry the tuples of its group within its window, itself included.

    Within a group the ranks ascend, and `low` and `high` do not descend along the ranks; so two pointers suffice (the
    linear scan of paper 003, Fig. 3). Cost: linear in the entries.
    """
    for g in range(len(offsets) - 1):
        start, stop = offsets[g], offsets[g + 1]
        left, right, total = start, start, 0
        for i in range(start, stop):
            while right < stop and ranks[right] < high[ranks[i]]:
                total += counts[right]
                right += 1
            while ranks[left] < low[ranks[i]]:
                total -= counts[left]
                left += 1
            out[i] = total
