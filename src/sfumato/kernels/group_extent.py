"""The extent of a group in an attribute, and what remains of it when one row leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import subroutine

FULL = np.int32(2**31 - 1)
"""Larger than every place."""


@subroutine
def ends_of(places: Any, members: Any, start: Any, stop: Any, j: Any) -> Any:
    """Return the lowest, second lowest, highest and second highest place of some rows in attribute j.

    The rows are `members[start:stop]`. Equal places count separately, so if one row leaves, the new ends are known without
    another pass. Of a single row the second lowest is `FULL` and the second highest -1. Cost: the rows.
    """
    first, second, last, before = FULL, FULL, np.int32(-1), np.int32(-1)
    for i in range(start, stop):
        place = places[members[i], j]
        if place < first:
            first, second = place, first
        elif place < second:
            second = place
        if place > last:
            last, before = place, last
        elif place > before:
            before = place
    return first, second, last, before
