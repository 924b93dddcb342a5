"""Count the individuals who are consistent with records that disclose only common values.

Where the most selective value of a record still fits a large share of the dictionary, going through the individuals one by
one costs most of it for each record. One bit per individual and value, 64 individuals at a time, costs far less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.consistency_bits import add_consistent_bits

if TYPE_CHECKING:
    from sfumato.disclosure.matching.matching import Matching

_WORD = 64
BLOCK = 1 << 16
"""Individuals that are looked at together, so that the bits of the values of a record stay in the cache."""


def has_common_values(matching: Matching, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which rows are cheaper to count with bits: those whose every value fits many of the individuals.

    >>> from sfumato.disclosure.matching.matching import Matching
    >>> codes = np.array([[1, 0], [1, 1], [2, 0]])
    >>> people = Matching.of_codes(codes, np.tile(codes, (100, 1)))
    >>> has_common_values(people, np.array([[0, 2], [-1, -1]], np.int32)).tolist()
    [True, False]
    """
    shown = (rows >= 0).sum(axis=1)
    everybody = matching.individuals
    reached = np.where(rows >= 0, np.append(matching.reach, everybody)[rows], everybody).min(axis=1, initial=everybody)
    return np.asarray((shown > 0) & (reached * _WORD > np.maximum(shown, 2) * everybody))


def counts_by_bits(matching: Matching, rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return, for each row of common values, the number of consistent individuals; no weights, no misfits.

    >>> from sfumato.disclosure.matching.matching import Matching
    >>> people = Matching.of_codes(np.array([[1, 0], [1, -1]]), np.array([[1, 0], [1, 1], [1, -1]]))
    >>> counts_by_bits(people, people.values).tolist()
    [2, 3]
    """
    counts = np.zeros(len(rows), np.int64)
    used = [np.unique(column[column >= 0]) for column in rows.T]
    place = np.full(len(matching.near_starts), -1, np.int32)
    place[np.concatenate(used)] = np.arange(sum(map(len, used)))
    numbered = np.where(rows >= 0, place[rows], np.int32(-1))
    for start in range(0, matching.individuals, BLOCK):
        block = matching.dictionary_values[start : start + BLOCK]
        words = -(-len(block) // _WORD)
        bits = np.zeros((int(place.max()) + 1, words), np.uint64)
        as_bytes = bits.view(np.uint8)
        for j, values in enumerate(used):
            for value in values:
                near = matching.near[matching.near_starts[value] : matching.near_starts[value + 1]]
                fits = (block[:, j] < 0) | np.isin(block[:, j], near)
                packed = np.packbits(fits, bitorder="little")
                as_bytes[place[value], : len(packed)] = packed
        add_consistent_bits(bits, numbered, np.empty(words, np.uint64), counts)
    return counts
