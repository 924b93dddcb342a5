"""The Jaro distance of texts, and what it shares with Jaro-Winkler."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Jaro as FastJaro

from sfumato.attribute import Attribute
from sfumato.distances.base import BoundDistance, Distance, Indices, lone_missing, require
from sfumato.schema import Kind
from sfumato.table import Column

_DOUBT = 1e-9
"""Similarities so close to a threshold are computed again, exactly."""

_BOOST = Fraction(7, 10)
_PREFIX_WEIGHT = Fraction(1, 10)
_PREFIX = 4


@dataclass(frozen=True)
class Jaro(Distance):
    """1 − (m/|a| + m/|b| + (m − t)/m)/3 with m matching characters and t half the number out of order.

    Not a metric. Two empty texts are at distance 0. Source: M. Jaro, JASA 84 (1989).

    >>> Jaro().is_metric
    False
    """

    name: ClassVar[str] = "jaro"
    is_metric: ClassVar[bool] = False

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Apply to one text or categorical column."""
        return bind_texts(attribute, self.name, winkler=False)


def bind_texts(attribute: Attribute, name: str, winkler: bool) -> BoundDistance:
    """Apply Jaro, or Jaro-Winkler, to one text or categorical column."""
    column = require(attribute.single(f"the distance {name!r}"), (Kind.TEXT, Kind.CATEGORICAL), name)
    texts = [*column.texts, ""] if column.has_missing else list(column.texts)
    return _Bound(attribute, column, texts, winkler)


def exact_jaro(a: str, b: str) -> Fraction:
    """The Jaro similarity as a rational number.

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
    return (Fraction(m, len(a)) + Fraction(m, len(b)) + Fraction(m - half, m)) / 3


def exact_jaro_winkler(a: str, b: str) -> Fraction:
    """The Jaro-Winkler similarity as a rational number.

    >>> exact_jaro_winkler("MARTHA", "MARHTA")
    Fraction(173, 180)
    """
    similarity = exact_jaro(a, b)
    if similarity > _BOOST:
        similarity += _common_prefix(a, b) * _PREFIX_WEIGHT * (1 - similarity)
    return similarity


def _common_prefix(a: str, b: str) -> int:
    length = 0
    while length < min(_PREFIX, len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


class _Bound(BoundDistance):
    costly = True

    def __init__(self, attribute: Attribute, column: Column, texts: list[str], winkler: bool) -> None:
        super().__init__(attribute)
        self.column = column
        self.texts = texts
        self.winkler = winkler
        self.similarity = exact_jaro_winkler if winkler else exact_jaro
        width = max(1, min(_PREFIX, max(map(len, texts), default=1)))
        # leading characters as numbers, for comparing prefixes of many pairs at once; 0 past a text's end
        self.heads = np.zeros((len(texts), width), np.int64)
        for i, text in enumerate(texts):
            head = [ord(character) for character in text[:width]]
            self.heads[i, : len(head)] = head

    def _similarities(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        """Similarities as floats, with no more than rounding errors."""
        plain = process.cdist(
            [self.texts[i] for i in rows],
            [self.texts[j] for j in columns],
            scorer=FastJaro.similarity,
            dtype=np.float64,
        )
        if not self.winkler:
            return np.asarray(plain)
        boost = float(_BOOST)
        alike = np.ones(plain.shape, bool)
        bonus = np.zeros(plain.shape)
        for place in range(self.heads.shape[1]):
            one, other = self.heads[rows, place][:, None], self.heads[columns, place][None, :]
            alike &= (one == other) & (one > 0)
            bonus += alike * float(_PREFIX_WEIGHT)
        similarities = plain + (plain > boost) * bonus * (1 - plain)
        for a, b in np.argwhere(np.abs(plain - boost) < _DOUBT):  # floats cannot tell whether there is a boost at all
            similarities[a, b] = self._exactly(rows[a], columns[b])
        return np.asarray(similarities)

    def _exactly(self, one: int, other: int) -> Fraction:
        return self.similarity(self.texts[one], self.texts[other])

    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        return np.where(lone_missing(self.column, rows, columns), 1.0, 1 - self._similarities(rows, columns))

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        similarities = self._similarities(rows, columns)
        threshold = float(max(1 - epsilon, Fraction(-1)))
        close = similarities >= threshold
        for a, b in np.argwhere(np.abs(similarities - threshold) < _DOUBT):
            close[a, b] = self._exactly(rows[a], columns[b]) >= 1 - epsilon
        return np.where(lone_missing(self.column, rows, columns), epsilon >= 1, close)
