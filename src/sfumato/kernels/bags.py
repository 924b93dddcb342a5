"""Texts as bags of characters: how many of each a text has, whatever their order.

Characters are put into few buckets. `counts[b, t]` is how many characters of text t are in bucket b, so that what two texts
have in common is at most the sum over the buckets of the smaller count.
"""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compile import kernel


@kernel
def count_characters(characters: Any, ends: Any, bucket: Any, counts: Any) -> None:
    """Fill `counts` from the characters of all texts in a row; text t is before `ends[t]`. Cost: one step per character."""
    start = 0
    for t in range(len(ends)):
        for at in range(start, ends[t]):
            counts[bucket[characters[at]], t] += 1
        start = ends[t]


@kernel
def enough_in_common(
    counts: Any, lengths: Any, bag: Any, length: int, slope: float, longest: int, common: Any, out: Any
) -> int:
    """Fill `out` with the texts that may be similar to one with this bag and length, and return how many there are.

    With c characters in common, c·(l₁ + l₂) must be at least `slope`·l₁·l₂. A text longer than `longest` always may: its
    counts may have overflowed. `lengths` do not descend. Cost: the texts times the buckets that the bag fills, each step
    a minimum and a sum over neighbouring numbers.
    """
    first, last = 0, len(lengths)
    if length <= longest:  # the shorter one's characters are all in common at best: then l₁ + l₂ ≥ slope · the longer
        while first < last and length + lengths[first] < slope * length:
            first += 1
        while last > first and lengths[last - 1] <= longest and length + lengths[last - 1] < slope * lengths[last - 1]:
            last -= 1
    # views from 0 on, so that the loop is over numbers that cannot be negative, and is vectorized
    near, sizes = common[first:last], lengths[first:last]
    near[:] = 0
    for b in range(counts.shape[0]):
        most = bag[b]
        if most:
            row = counts[b, first:last]
            for t in range(len(near)):
                near[t] += min(row[t], most)
    found = 0
    for t in range(len(near)):
        enough = near[t] * float(length + sizes[t]) >= slope * length * sizes[t]
        if enough or length > longest or sizes[t] > longest:
            out[found] = first + t
            found += 1
    return found
