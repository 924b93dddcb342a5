"""Consistency by similarity: texts with a similar spelling (Lebanon et al. 2006, Experiments)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.disclosure.consistency.consistency import AttributePairing, Consistency, ConsistentValues, as_texts, present
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.distances.jaro import Similarities
from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction
from sfumato.kernels.jaro_bounds import count_characters, may_be_similar

KINDS = ("jaro", "jaro-winkler")

_BUCKETS = 96
"""The most frequent characters, which are counted one by one; all others are counted together."""

_AT_ONCE = 1 << 13
"""Texts of the dictionary that are compared at a time."""

_LONGEST = (1 << 16) - 1
"""The number of characters that 16 bits can count."""

_SLACK = 1e-9
"""More than the rounding errors of floats, less than any difference that matters."""


@dataclass(frozen=True)
class SimilarityConsistency(Consistency):
    """A text is consistent with those whose Jaro or Jaro-Winkler similarity to it is at least a threshold.

    Texts are compared as they are written, character by character, numbers too. Sources: Lebanon et al. (2006),
    Experiments; M. Jaro, JASA 84 (1989); W. Winkler, Proc. Survey Research Methods (1990).

    Not every pair is compared. Let two texts of lengths l₁ and l₂ have c characters in common, each counted as often as
    both have it, and a longest common subsequence of length s. Jaro's m matching characters are pairs of equal
    characters, no character in two pairs, so m ≤ c. Written in the order of either text, the matching characters differ
    in d places, and t is d/2 rounded down; the m − d places in which they agree are a common subsequence, so m − d ≤ s,
    and t ≥ (m − s − 1)/2. The similarity is a third of m/l₁ + m/l₂ + (m − t)/m, hence at most a third of

    - m/l₁ + m/l₂ + 1, which increases with m: at most c/l₁ + c/l₂ + 1;
    - for m > s + 1, m/l₁ + m/l₂ + 1/2 + (s + 1)/2m, which is convex in m: at most its value at m = s + 1, where it equals
      the first bound, or at m = c.

    (Without matching characters the similarity is 0, or 1 if both texts are empty; these are compared.) Taking several
    characters for equal can only raise c and s. So where the bounds stay below the threshold, no pair is lost.

    >>> SimilarityConsistency("jaro", "0.8").consistent_texts(["MARTHA", "JIM"], ["ANNA", "MARHTA", "JIM"])
    ConsistentValues(starts=array([0, 1, 2]), near=array([1, 2], dtype=int32))
    """

    kind: str = "jaro"
    threshold: Number = "0.8"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(
                f"unknown similarity {self.kind!r}",
                remedy=f"Expected one of: {', '.join(KINDS)}.",
                key="kind",
                value=self.kind,
            )
        threshold = as_fraction(self.threshold, "threshold")
        if not 0 < threshold <= 1:
            raise ParameterError(
                f"threshold = {self.threshold!r} is not in the range above 0 and up to 1",
                remedy='Write the least similarity of consistent texts, such as "0.8".',
                key="threshold",
                value=self.threshold,
            )
        object.__setattr__(self, "threshold", threshold)

    def pair(self, table: Table, attribute: str, dictionary: Dictionary) -> AttributePairing:
        """Number the texts of both sides, and compare the distinct ones."""
        mine = as_texts(table, attribute, "similarity")
        theirs = dictionary.column(attribute, Kind.CATEGORICAL, table.schema)
        return AttributePairing(present(mine), present(theirs), self.consistent_texts(mine.texts, theirs.texts))

    def consistent_texts(self, texts: Sequence[str], others: Sequence[str]) -> ConsistentValues:
        """For each text, by its number, the others that are consistent with it."""
        similarities = Similarities(texts, others, self.kind == "jaro-winkler")
        threshold = as_fraction(self.threshold)
        matches = [
            candidates[similarities.at_least(np.array([i]), candidates.astype(np.int64), threshold)[0]]
            for i, candidates in enumerate(_candidates(texts, others, similarities.least_jaro(threshold)))
        ]
        starts = np.cumsum([0, *map(len, matches)], dtype=np.int64)
        return ConsistentValues(starts, np.concatenate([np.zeros(0, np.int32), *matches]))


def _candidates(texts: Sequence[str], others: Sequence[str], least: Sequence[Fraction]) -> list[NDArray[np.int32]]:
    """For each text the others whose Jaro similarity to it may reach the limit, ascending."""
    limits = np.array([float(limit) - _SLACK for limit in least])
    bucket = _buckets(others)
    lengths = np.array([len(text) for text in others], np.int64)
    words = max(map(len, texts), default=0) // 64 + 1
    places, state = np.zeros((_BUCKETS + 1, words), np.uint64), np.zeros(words, np.uint64)
    mine = [_characters(text, bucket) for text in texts]
    bags = [_counts(text, np.array([len(text)]))[:, 0].copy() for text in mine]
    matches: list[list[NDArray[np.int32]]] = [[np.zeros(0, np.int32)] for _ in texts]
    order = np.argsort(lengths, kind="stable").astype(np.int32)
    for start in range(0, len(order), _AT_ONCE):
        some = order[start : start + _AT_ONCE]
        characters = _characters("".join([others[j] for j in some.tolist()]), bucket)
        ends = np.cumsum(lengths[some])
        counts = _counts(characters, ends)
        common, out = np.empty(len(some), np.uint16), np.empty(len(some), np.int64)
        for text, bag, kept in zip(mine, bags, matches, strict=True):
            left = may_be_similar(counts, characters, ends, bag, text, limits, _LONGEST, places, state, common, out)
            kept.append(some[out[:left]])
    return [np.sort(np.concatenate(kept)) for kept in matches]


def _buckets(texts: Sequence[str]) -> NDArray[np.uint8]:
    """For each character, by its code point, its bucket: one of its own if it is frequent, otherwise the last."""
    frequent: Counter[str] = Counter()
    for start in range(0, len(texts), _AT_ONCE):
        frequent.update("".join(texts[start : start + _AT_ONCE]))
    bucket = np.full(0x110000, _BUCKETS, np.uint8)
    for number, (character, _) in enumerate(frequent.most_common(_BUCKETS)):
        bucket[ord(character)] = number
    return bucket


def _characters(text: str, bucket: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The buckets of a text's characters."""
    return bucket[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)]


def _counts(characters: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.uint16]:
    """The number of characters of each bucket (row) in each text (column), in 16 bits."""
    counts = np.zeros((_BUCKETS + 1, len(ends)), np.uint16)
    count_characters(characters, ends, counts)
    return counts
