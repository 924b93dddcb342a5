"""Which texts may be similar by Jaro: bounds that cost little, so that few pairs need more.

Characters are put into few buckets, numbered from 0; characters of one bucket are taken to be equal, which can only make
texts look more alike. `counts[b, t]` is how many characters of text t are in bucket b.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel
from sfumato.kernels.neighbour_bitset import popcount


@kernel
def count_characters(characters: Any, ends: Any, counts: Any) -> None:
    """Fill `counts` from the buckets of all characters in a row; text t ends at `ends[t]`. Cost: a step per character."""
    start = 0
    for t in range(len(ends)):
        for at in range(start, ends[t]):
            counts[characters[at], t] += 1
        start = ends[t]


@kernel
def place_characters(text: Any, words: int, places: Any) -> None:
    """Fill the first words of `places`: bit i of row b, 64 to a word, is whether character i of a text is in bucket b."""
    for b in range(places.shape[0]):
        for w in range(words):
            places[b, w] = 0
    for i in range(len(text)):
        places[text[i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@kernel
def common_subsequence(places: Any, words: int, text: Any, state: Any) -> Any:
    """The length of the longest common subsequence of a text whose characters are placed and another.

    Bit-parallel: zeros of the state mark where the longest subsequence with the text so far grows (M. Crochemore et al.,
    IPL 80, 2001; H. Hyyrö, AWOCA 2004). Cost: the other text's characters times the words of the first.
    """
    full = ~np.uint64(0)
    if words == 1:
        now = full
        for at in range(len(text)):
            met = now & places[text[at], 0]
            now = (now + met) | (now & ~met)
        return popcount(~now)
    for w in range(words):
        state[w] = full
    for at in range(len(text)):
        row = places[text[at]]
        carry = np.uint64(0)
        for w in range(words):
            met = state[w] & row[w]
            total = state[w] + met
            over = np.uint64(total < met)
            total += carry
            carry = over | np.uint64(total < carry)
            state[w] = total | (state[w] & ~met)
    length = np.uint64(0)
    for w in range(words):
        length += popcount(~state[w])
    return length


@kernel
def may_be_alike(
    counts: Any, characters: Any, ends: Any, bag: Any, text: Any, least: Any, longest: int,
    places: Any, state: Any, common: Any, out: Any,
) -> int:  # fmt: skip
    """Fill `out` with the texts whose Jaro similarity to one text may reach `least`, and return how many there are.

    `least[l]` is what it must reach with l leading characters in common, the last one also with more; it does not ascend.
    `characters` of text t, by their buckets, end at `ends[t]`; the texts' lengths do not descend. `bag` are the counts of
    the one text. With lengths l₁ and l₂, c characters in common, and a longest common subsequence of length s, the bound
    is a third of c/l₁ + c/l₂ + 1, and if it reaches that, of the larger of n/l₁ + n/l₂ + 1 for n = min(c, s + 1) and
    c/l₁ + c/l₂ + 1/2 + (s + 1)/2c. A text longer than `longest` may be alike: its counts may have overflowed.

    Cost: the texts times the buckets that the bag fills, each step a minimum and a sum over neighbouring numbers; and for
    the texts that are left, their characters times the words of the one text.
    """
    length, texts, most_leading = len(text), len(ends), len(least) - 1
    first, last, lowest = 0, texts, 3 * least[most_leading]
    if length <= longest:  # at best all of the shorter one's characters are in common
        while first < last:
            size = ends[first] - (ends[first - 1] if first else 0)
            if size == 0 or size >= length or size / length + 2 >= lowest:
                break
            first += 1
        while last > first:
            size = ends[last - 1] - (ends[last - 2] if last > 1 else 0)
            if size > longest or length == 0 or size <= length or length / size + 2 >= lowest:
                break
            last -= 1
    # views from 0 on, so that the loop is over numbers that cannot be negative, and is vectorized
    near = common[first:last]
    near[:] = 0
    for b in range(counts.shape[0]):
        most = bag[b]
        if most:
            row = counts[b, first:last]
            for t in range(len(near)):
                near[t] += min(row[t], most)
    words = (length + 63) >> 6
    place_characters(text, words, places)
    found = 0
    for t in range(first, last):
        start = ends[t - 1] if t else 0
        size = ends[t] - start
        if length > 0 and size > 0 and length <= longest and size <= longest:
            c = common[t]
            share = 1 / length + 1 / size
            if c == 0 or c * share + 1 < lowest:
                continue
            leading = 0
            while leading < min(most_leading, length, size) and text[leading] == characters[start + leading]:
                leading += 1
            needed = 3 * least[leading]
            if c * share + 1 < needed:
                continue
            s = common_subsequence(places, words, characters[start : ends[t]], state) + 1
            if c > s and max(s * share + 1, c * share + 0.5 + s / (2 * c)) < needed:
                continue
        out[found] = t
        found += 1
    return found
