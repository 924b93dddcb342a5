"""Neighbours as a bit matrix: bit w of row v says that values v and w are neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from sfumato.kernels.compile import kernel


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def popcount(typing_context: Any, word: Any) -> Any:
    """The number of ones of a 64-bit word, as the machine's own instruction."""
    del typing_context, word

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@kernel
def bitset_counts(bits: Any, offsets: Any, values: Any, counts: Any, out: Any) -> None:
    """Count for every entry the tuples of its group that are its neighbours, itself included.

    A small group tests its pairs. A large one lays its counts out as bit planes (plane b holds the values whose count
    has bit b), so that a row of the matrix meets 64 values at once. Cost: per entry the smaller of the group's entries
    and the words of a row times the planes.
    """
    words = bits.shape[1]
    planes = np.zeros((64, words), np.uint64)
    one = np.uint64(1)
    for g in range(len(offsets) - 1):
        start, stop = offsets[g], offsets[g + 1]
        if stop - start < 64 or stop - start < words:
            for i in range(start, stop):
                out[i] = 0
            for i in range(start, stop):
                row = bits[values[i]]
                for j in range(i, stop):
                    w = values[j]
                    if row[w >> 6] >> np.uint64(w & 63) & one:
                        out[i] += counts[j]
                        if i != j:
                            out[j] += counts[i]
            continue
        top = 0
        for i in range(start, stop):
            count, plane = counts[i], 0
            while count:
                if count & 1:
                    planes[plane, values[i] >> 6] |= one << np.uint64(values[i] & 63)
                count >>= 1
                plane += 1
            top = max(top, plane)
        for i in range(start, stop):
            total = np.int64(0)
            for plane in range(top):
                ones = np.int64(0)
                for word in range(words):
                    ones += np.int64(popcount(bits[values[i], word] & planes[plane, word]))
                total += ones << plane
            out[i] = total
        planes[:top] = 0
