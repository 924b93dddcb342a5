"""Count the common items of pairs of sets."""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compile import kernel


@kernel
def set_overlaps(items: Any, offsets: Any, ones: Any, others: Any, out: Any) -> None:
    """Fill `out[p]` with the number of items that the sets `ones[p]` and `others[p]` have in common.

    Set s contains the ascending items `offsets[s]` to `offsets[s + 1]` - 1. Cost: the items of both sets of each pair.
    """
    for p in range(len(ones)):
        i, j = offsets[ones[p]], offsets[others[p]]
        end, other_end = offsets[ones[p] + 1], offsets[others[p] + 1]
        common = 0
        while i < end and j < other_end:
            if items[i] == items[j]:
                common += 1
                i += 1
                j += 1
            elif items[i] < items[j]:
                i += 1
            else:
                j += 1
        out[p] = common
