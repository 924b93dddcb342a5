"""Neighbours as a bit matrix: bit w of row v says that values v and w are neighbours.

Bit w of a row is bit `w & 63` of the word `w >> 6`. The matrix is symmetric, and every value is its own neighbour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from sfumato.kernels.compile import kernel


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def popcount(typing_context: Any, word: Any) -> Any:
    """Return the number of ones in a 64-bit word, by the machine's own instruction."""
    del typing_context, word

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@kernel
def bitset_counts(bits: Any, offsets: Any, values: Any, counts: Any, out: Any) -> None:
    """Count for every entry the tuples of its group that are its neighbours, itself included.

    Entry i is the value `values[i]`, which occurs `counts[i]` times; a value occurs once per group. A small group tests
    its pairs. A large group stores its counts as bit planes (plane b holds the values whose count has bit b), so that one
    word of the matrix tests 64 values at once. Cost: per entry the smaller of the group's entries and the words of a row
    times the planes.
    """
    words = bits.shape[1]
    planes = np.zeros((64, words), np.uint64)  # all zeros between groups
    one = np.uint64(1)
    for g in range(len(offsets) - 1):
        start, stop = offsets[g], offsets[g + 1]
        if stop - start < 64 or stop - start < words:
            # pair by pair; each pair serves both of its entries, because the matrix is symmetric
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
        # write the counts of the group into the planes; `top` planes are in use
        top = 0
        for i in range(start, stop):
            count, plane = counts[i], 0
            while count:
                if count & 1:
                    planes[plane, values[i] >> 6] |= one << np.uint64(values[i] & 63)
                count >>= 1
                plane += 1
            top = max(top, plane)
        # a value in plane b counts 2^b tuples
        for i in range(start, stop):
            total = np.int64(0)
            for plane in range(top):
                ones = np.int64(0)
                for word in range(words):
                    ones += np.int64(popcount(bits[values[i], word] & planes[plane, word]))
                total += ones << plane
            out[i] = total
        planes[:top] = 0
