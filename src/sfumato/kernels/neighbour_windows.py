"""Neighbours along an order: the neighbours of value v are the values from `low[v]` up to, not including, `high[v]`."""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compile import kernel


@kernel
def window_counts(offsets: Any, ranks: Any, counts: Any, low: Any, high: Any, out: Any) -> None:
    """Count for every entry the tuples of its group within its window, itself included.

    Entry i has rank `ranks[i]` and occurs `counts[i]` times. Within a group the ranks ascend, and `low` and `high` do not
    descend along the ranks. So both ends of the window only move right, and two pointers suffice, as in the linear check
    of Zare-Mirakabad (2012), Fig. 3. Cost: linear in the entries.
    """
    for g in range(len(offsets) - 1):
        start, stop = offsets[g], offsets[g + 1]
        # invariant: total is the sum of counts[left:right], the entries within the window of the last entry
        left, right, total = start, start, 0
        for i in range(start, stop):
            while right < stop and ranks[right] < high[ranks[i]]:
                total += counts[right]
                right += 1
            while ranks[left] < low[ranks[i]]:
                total -= counts[left]
                left += 1
            out[i] = total
