"""Count the individuals who are consistent with each record, with one bit per individual and value."""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compile import kernel
from sfumato.kernels.neighbour_bitset import popcount


@kernel
def add_consistent_bits(bits: Any, rows: Any, both: Any, counts: Any) -> None:
    """Add to `counts[i]` the individuals who are consistent with every value of row i.

    Bit v of `bits[a]` says whether individual v is consistent with value a. `rows[i, j]` is a value, or -1 for nothing; a
    row has at least one value. `both` is scratch space of the length of a row of bits. Cost: per row its values times the
    words of a row of bits.
    """
    for i in range(rows.shape[0]):
        first = True
        for j in range(rows.shape[1]):
            a = rows[i, j]
            if a < 0:
                continue
            for w in range(len(both)):
                both[w] = bits[a, w] if first else both[w] & bits[a, w]
            first = False
        total = 0
        for w in range(len(both)):
            total += popcount(both[w])
        counts[i] += total
