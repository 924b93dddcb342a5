"""Consistency by similarity: texts that are spelt alike (paper 002, Experiments)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.consistency import Consistency, Near, Paired, as_texts, present
from sfumato.disclosure.dictionary import Dictionary
from sfumato.distances.jaro import Similarities
from sfumato.errors import ParameterProblem
from sfumato.exact import Number, as_fraction
from sfumato.kernels.bags import count_characters, enough_in_common
from sfumato.schema import Kind
from sfumato.table import Table

KINDS = ("jaro", "jaro-winkler")

_BUCKETS = 96
"""Characters that are counted apart, the most frequent; all others are counted together."""

_AT_ONCE = 1 << 13
"""Texts of the dictionary that are looked at at a time."""

_LONGEST = (1 << 16) - 1
"""Characters that 16 bits can count."""

_SLACK = 1e-9
"""More than floats may be wrong by, less than matters."""


@dataclass(frozen=True)
class Similarity(Consistency):
    """A record's text is consistent with those whose Jaro or Jaro-Winkler similarity to it is at least a threshold.

    Texts are compared as they are written, letter by letter: numbers too. Source: paper 002, Experiments; M. Jaro, JASA 84
    (1989); W. Winkler, Proc. Survey Research Methods (1990).

    Not every pair is looked at. If two texts of lengths l₁ and l₂ have c characters in common, each counted as often as
    both have it, then their Jaro similarity is at most (c/l₁ + c/l₂ + 1)/3. For its m matching characters are pairs of
    equal ones, no character in two pairs, so m ≤ c; and its third term, (m − t)/m, is at most 1. (With m = 0 the similarity
    is 0, or 1 of two empty texts, which have no length to divide by, and are kept.) Counting several characters as if they
    were the same can only raise c. So only pairs whose bound reaches the threshold are compared, and none is lost.

    >>> Similarity("jaro", "0.8").near(["MARTHA", "JIM"], ["ANNA", "MARHTA", "JIM"])
    Near(starts=array([0, 1, 2]), near=array([1, 2], dtype=int32))
    """

    kind: str = "jaro"
    threshold: Number = "0.8"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterProblem(
                f"kind = {self.kind!r} is no similarity",
                remedy=f"Write one of: {', '.join(KINDS)}.",
                key="kind",
                value=self.kind,
            )
        threshold = as_fraction(self.threshold, "threshold")
        if not 0 < threshold <= 1:
            raise ParameterProblem(
                f"threshold = {self.threshold!r} is not above 0 and at most 1",
                remedy='Write the least similarity of consistent texts, such as "0.8".',
                key="threshold",
                value=self.threshold,
            )
        object.__setattr__(self, "threshold", threshold)

    def pair(self, table: Table, attribute: str, dictionary: Dictionary) -> Paired:
        """Number the texts of both sides, and compare the distinct ones."""
        mine = as_texts(table, attribute, "similarity")
        theirs = dictionary.column(attribute, Kind.CATEGORICAL, table.schema)
        return Paired(present(mine), present(theirs), self.near(mine.texts, theirs.texts))

    def near(self, texts: Sequence[str], others: Sequence[str]) -> Near:
        """For each text, by its number, those of the others that it is consistent with."""
        similarities = Similarities(texts, others, self.kind == "jaro-winkler")
        threshold = as_fraction(self.threshold)
        slope = float(3 * similarities.least_jaro(threshold) - 1) - _SLACK
        bucket = _buckets(others)
        lengths = np.array([len(text) for text in others], np.int64)
        bags = np.ascontiguousarray(_bags(texts, bucket).T)
        rows, found = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        order = np.argsort(lengths, kind="stable")
        for start in range(0, len(order), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            counts = _bags([others[j] for j in some.tolist()], bucket)
            sizes = lengths[some]
            common, out = np.empty(len(some), np.uint16), np.empty(len(some), np.int64)
            for i, text in enumerate(texts):
                left = enough_in_common(counts, sizes, bags[i], len(text), slope, _LONGEST, common, out)
                if left:
                    candidates = some[out[:left]]
                    close = candidates[similarities.at_least(np.array([i]), candidates, threshold)[0]]
                    found.append(close.astype(np.int32))
                    rows.append(np.full(len(close), i, np.int32))
        return _in_order(np.concatenate(rows), np.concatenate(found), len(texts))


def _in_order(rows: NDArray[np.int32], found: NDArray[np.int32], size: int) -> Near:
    order = np.lexsort((found, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))]).astype(np.int64)
    return Near(starts, found[order])


def _buckets(texts: Sequence[str]) -> NDArray[np.uint8]:
    """For each character, by its code point, its bucket: one of its own if it is frequent, the last one else."""
    frequent: Counter[str] = Counter()
    for start in range(0, len(texts), _AT_ONCE):
        frequent.update("".join(texts[start : start + _AT_ONCE]))
    bucket = np.full(0x110000, _BUCKETS, np.uint8)
    for number, (character, _) in enumerate(frequent.most_common(_BUCKETS)):
        bucket[ord(character)] = number
    return bucket


def _bags(texts: Sequence[str], bucket: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """How many characters of each bucket (row) each text (column) has, to 16 bits."""
    characters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    counts = np.zeros((_BUCKETS + 1, len(texts)), np.uint16)
    count_characters(characters, ends, bucket, counts)
    return counts
