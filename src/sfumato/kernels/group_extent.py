"""The ends of what a group covers, and what is left of them when one row goes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel

FULL = np.int32(2**31 - 1)
"""Above every place."""


@kernel
def ends_of(places: Any, members: Any, start: Any, stop: Any, j: Any) -> Any:
    """The two first and the two last places of rows in an attribute, equal ones counted twice. Cost: the rows."""
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
