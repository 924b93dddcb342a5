"""The Jaro distance of texts, with what it shares with Jaro-Winkler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.distances.distance import BoundDistance, Distance, Indices, PairwiseDistance, lone_missing, require

_DOUBT = 1e-9
"""Similarities this close to a threshold are computed again, exactly."""

_CUTOFF_DOUBT = 1e-6
"""More than the error of rapidfuzz at a cutoff, which it takes in single precision."""

_BOOST = Fraction(7, 10)
_PREFIX_WEIGHT = Fraction(1, 10)
_PREFIX = 4


@dataclass(frozen=True)
class Jaro(Distance):
    """1 − (m/|a| + m/|b| + (m − t)/m)/3 with m matching characters and t half the number out of order.

    Not a metric. Two empty texts are at distance 0. Source: Jaro (1989), Advances in record-linkage methodology, JASA 84.

    >>> Jaro().is_metric
    False
    """

    name: ClassVar[str] = "jaro"
    is_metric: ClassVar[bool] = False

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to one text or categorical column."""
        return bind_texts(attribute, self.name, winkler=False)


def bind_texts(attribute: Attribute, name: str, winkler: bool) -> BoundDistance:
    """Bind Jaro, or Jaro-Winkler, to one text or categorical column."""
    column = require(attribute.single(f"the distance {name!r}"), (Kind.TEXT, Kind.CATEGORICAL), name)
    texts = [*column.texts, ""] if column.has_missing else list(column.texts)
    return _Bound(attribute, column, texts, winkler)


def exact_jaro(a: str, b: str) -> Fraction:
    """Return the Jaro similarity as a rational number.

    >>> exact_jaro("MARTHA", "MARHTA"), exact_jaro("", "")
    (Fraction(17, 18), Fraction(1, 1))
    """
    if not a or not b:
        return Fraction(a == b)
    reach = max(max(len(a), len(b)) // 2 - 1, 0)
    taken = [False] * len(b)
    matches = []
    for i, character in enumerate(a):
        for j in range(max(0, i - reach), min(len(b), i + reach + 1)):
            if not taken[j] and b[j] == character:
                taken[j] = True
                matches.append(character)
                break
    m = len(matches)
    if m == 0:
        return Fraction(0)
    others = [character for character, used in zip(b, taken, strict=True) if used]
    half = sum(one != other for one, other in zip(matches, others, strict=True)) // 2
    return _similarity(m, half, len(a), len(b))


@lru_cache(maxsize=1 << 16)
def _similarity(m: int, half: int, one: int, other: int) -> Fraction:
    """Return the similarity of texts of these lengths; cached, since the same few numbers recur."""
    return (Fraction(m, one) + Fraction(m, other) + Fraction(m - half, m)) / 3


def exact_jaro_winkler(a: str, b: str) -> Fraction:
    """Return the Jaro-Winkler similarity as a rational number.

    >>> exact_jaro_winkler("MARTHA", "MARHTA")
    Fraction(173, 180)
    """
    return _boosted(exact_jaro(a, b), _common_prefix(a, b))


@lru_cache(maxsize=1 << 16)
def _boosted(similarity: Fraction, common: int) -> Fraction:
    """Return a Jaro similarity with the bonus for common leading characters."""
    return similarity + common * _PREFIX_WEIGHT * (1 - similarity) if similarity > _BOOST else similarity


def _common_prefix(a: str, b: str) -> int:
    length = 0
    while length < min(_PREFIX, len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


class Similarities:
    """Jaro or Jaro-Winkler similarities between the texts of two lists, by their numbers: floats where they suffice.

    >>> names = Similarities(["MARTHA"], ["MARHTA", "ANNA"], winkler=False)
    >>> names.at_least(np.array([0]), np.array([0, 1]), Fraction(17, 18)).tolist()
    [[True, False]]
    """

    def __init__(self, ones: Sequence[str], others: Sequence[str], winkler: bool) -> None:
        self.ones = ones
        self.others = others
        self.winkler = winkler
        self.heads = (_heads(ones), _heads(others)) if winkler else None

    def floats(self, rows: Indices, columns: Indices, least: float = 0.0) -> NDArray[np.float64]:
        """Return similarities up to rounding errors; those whose Jaro similarity is below `least` may be 0."""
        from rapidfuzz import process  # for texts only; it takes 3 MB
        from rapidfuzz.distance import Jaro as FastJaro

        plain = process.cdist(
            [self.ones[i] for i in rows.tolist()],
            [self.others[j] for j in columns.tolist()],
            scorer=FastJaro.similarity,
            score_cutoff=least,
            dtype=np.float64,
        )
        return self._boosted(np.asarray(plain), rows[:, None], columns[None, :])

    def of_pairs(self, ones: Indices, others: Indices) -> NDArray[np.float64]:
        """Return the similarity of each listed pair, up to rounding errors."""
        from rapidfuzz import process
        from rapidfuzz.distance import Jaro as FastJaro

        plain = process.cpdist(
            [self.ones[i] for i in ones.tolist()],
            [self.others[j] for j in others.tolist()],
            scorer=FastJaro.similarity,
            dtype=np.float64,
        )
        return self._boosted(np.asarray(plain), ones, others)

    def _boosted(self, plain: NDArray[np.float64], ones: Indices, others: Indices) -> NDArray[np.float64]:
        """Return Jaro similarities with the bonus of Jaro-Winkler, if that is used; the texts' numbers broadcast."""
        if self.heads is None:
            return plain
        boost = float(_BOOST)
        alike = np.ones(plain.shape, bool)
        bonus = np.zeros(plain.shape)
        for place in range(_PREFIX):
            one, other = self.heads[0][ones, place], self.heads[1][others, place]
            alike &= (one == other) & (one > 0)
            bonus += alike * float(_PREFIX_WEIGHT)
        similarities = plain + (plain > boost) * bonus * (1 - plain)
        doubtful = (np.abs(plain - boost) < _DOUBT) & (bonus > 0)  # floats cannot decide whether there is a bonus at all
        ones, others = np.broadcast_arrays(ones, others)
        for pair in zip(*np.nonzero(doubtful), strict=True):
            similarities[pair] = self.exactly(ones[pair], others[pair])
        return similarities

    def least_jaro(self, threshold: Fraction) -> list[Fraction]:
        """Return the smallest Jaro similarity with which a pair reaches the threshold, by its common leading characters.

        Entry l is for l of them, the last entry also for more. For Jaro it is the threshold t. Jaro-Winkler adds l/10 of
        the gap to 1, and only above 0.7. At t ≤ 0.7 a similarity without bonus must reach t itself, and one with bonus is
        above 0.7. At t > 0.7 only a similarity s with bonus reaches t, so s is above 0.7 and s + l/10·(1 − s) ≥ t.
        """
        if not self.winkler or threshold <= _BOOST:
            return [threshold] * (_PREFIX + 1)
        bonuses = [common * _PREFIX_WEIGHT for common in range(_PREFIX + 1)]
        return [max(_BOOST, (threshold - bonus) / (1 - bonus)) for bonus in bonuses]

    def at_least(self, rows: Indices, columns: Indices, threshold: Fraction) -> NDArray[np.bool_]:
        """Return for each pair whether its similarity is at least the threshold, exactly."""
        similarities = self.floats(rows, columns, max(float(min(self.least_jaro(threshold))) - _CUTOFF_DOUBT, 0.0))
        limit = float(max(threshold, Fraction(-1)))
        close = similarities >= limit
        for a, b in np.argwhere(np.abs(similarities - limit) < _DOUBT):
            close[a, b] = self.exactly(rows[a], columns[b]) >= threshold
        return np.asarray(close)

    def exactly(self, one: int, other: int) -> Fraction:
        """Return the similarity of one pair, exactly."""
        return (exact_jaro_winkler if self.winkler else exact_jaro)(self.ones[one], self.others[other])


def _heads(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return leading characters as numbers, to compare prefixes of many pairs at once; 0 past a text's end."""
    heads = np.zeros((len(texts), _PREFIX), np.int64)
    for i, text in enumerate(texts):
        head = [ord(character) for character in text[:_PREFIX]]
        heads[i, : len(head)] = head
    return heads


class _Bound(PairwiseDistance):
    costly = True

    def __init__(self, attribute: Attribute, column: Column, texts: list[str], winkler: bool) -> None:
        super().__init__(attribute)
        self.column = column
        self.similarities = Similarities(texts, texts, winkler)

    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        return np.where(lone_missing(self.column, rows, columns), 1.0, 1 - self.similarities.floats(rows, columns))

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        close = self.similarities.at_least(rows, columns, 1 - epsilon)
        return np.where(lone_missing(self.column, rows, columns), epsilon >= 1, close)

    def of_pairs(self, ones: Indices, others: Indices) -> NDArray[np.float64]:
        lone = (ones == self.column.size) != (others == self.column.size)
        return np.where(lone, 1.0, 1 - self.similarities.of_pairs(ones, others))

    def exactly(self, ones: Indices, others: Indices) -> list[Fraction]:
        missing, similarity = self.column.size, self.similarities.exactly
        return [
            Fraction(1) if (one == missing) != (other == missing) else 1 - similarity(one, other)
            for one, other in zip(ones.tolist(), others.tolist(), strict=True)
        ]
