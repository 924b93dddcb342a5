"""Which texts may have a high Jaro similarity: cheap upper bounds, so that few pairs are compared exactly.

Characters are mapped to a few buckets, numbered from 0. Characters of one bucket count as equal, which can only raise the
bounds. `counts[b, t]` is the number of characters of text t in bucket b, in 16 bits. Positions are in characters. The proof
of the bounds is in `disclosure.consistency.similarity`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel
from sfumato.kernels.neighbour_bitset import popcount


@kernel
def count_characters(characters: Any, ends: Any, counts: Any) -> None:
    """Add the characters of every text to `counts`; text t is `characters[ends[t - 1]:ends[t]]`. Cost: linear."""
    start = 0
    for t in range(len(ends)):
        for at in range(start, ends[t]):
            counts[characters[at], t] += 1
        start = ends[t]


@kernel
def place_characters(text: Any, words: int, places: Any) -> None:
    """Fill the first `words` words of each row of `places`: bit i of row b says whether character i is in bucket b."""
    for b in range(places.shape[0]):
        for w in range(words):
            places[b, w] = 0
    for i in range(len(text)):
        places[text[i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)  # 64 characters to a word


@kernel
def common_subsequence(places: Any, words: int, text: Any, state: Any) -> Any:
    """Return the length of the longest common subsequence of a text placed by `place_characters` and another text.

    Bit-parallel dynamic programming (Crochemore et al., Information Processing Letters 80, 2001; Hyyrö, AWOCA 2004): after
    each character of `text`, the zeros of the state mark the positions of the placed text at which the longest common
    subsequence with the characters so far grows. `state` is scratch space of `words` words. Cost: the characters of `text`
    times the words.
    """
    full = ~np.uint64(0)
    if words == 1:  # the usual case, without carries
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
            # one addition over all words: the carry of a word goes into the next
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
def may_be_similar(
    counts: Any, characters: Any, ends: Any, bag: Any, text: Any, least: Any, longest: int,
    places: Any, state: Any, common: Any, out: Any,
) -> int:  # fmt: skip
    """Fill `out` with the texts whose Jaro similarity to `text` may reach `least`, and return their number.

    `least[l]` is the similarity to reach with l leading characters in common, the last entry also with more; it does not
    increase with l. The texts, as buckets in `characters` with their ends, are ordered by length. `bag` holds the counts
    of `text`. With lengths l₁ and l₂, c characters in common and a longest common subsequence of length s, the similarity
    is at most a third of c/l₁ + c/l₂ + 1, and at most a third of the larger of n/l₁ + n/l₂ + 1 for n = min(c, s + 1) and
    c/l₁ + c/l₂ + 1/2 + (s + 1)/2c. A text of more than `longest` characters is always listed, because its counts may have
    overflowed. `places`, `state` and `common` are scratch space.

    Cost: the texts times the buckets that `text` uses, in a vectorized loop; and for the texts that remain, their
    characters times the words of `text`.
    """
    # One function because the three phases share the scratch arrays and the range of texts that remain.
    length, texts, most_leading = len(text), len(ends), len(least) - 1
    first, last, lowest = 0, texts, 3 * least[most_leading]
    # Phase 1, by length: at best all characters of the shorter text are in common. Texts are ordered by length, so
    # only first … last - 1 remain.
    if length <= longest:
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
    # Phase 2: common[t] becomes c. The views start at 0, so that the compiler knows that indices are not negative, and
    # vectorizes the loop.
    near = common[first:last]
    near[:] = 0
    for b in range(counts.shape[0]):
        most = bag[b]
        if most:
            row = counts[b, first:last]
            for t in range(len(near)):
                near[t] += min(row[t], most)
    # Phase 3: both bounds, text by text.
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
            s = common_subsequence(places, words, characters[start : ends[t]], state) + 1  # s + 1 of the bound
            if c > s and max(s * share + 1, c * share + 0.5 + s / (2 * c)) < needed:
                continue
        out[found] = t
        found += 1
    return found
