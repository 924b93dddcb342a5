"""Entropy l-diversity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, sign_of_log_sum
from sfumato.exact.logarithms import NEAR
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.view import View


@dataclass(frozen=True)
class EntropyLDiversity(Principle):
    """The entropy of the sensitive values of every group is at least log l.

    In plain words: the secrets of every group are at least as mixed as l equally frequent ones.

    The level is exp(entropy). Decided exactly: nⁿ ≥ lⁿ·∏f^f over the counts f of a group of n, so that a group of l
    equally frequent values passes.

    - `l`: how many equally frequent values a group is to be as diverse as, at least; any number from 1.

    Monotone.

    Does not protect against values that differ and yet are close: together they may make up all of a group.

    Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, TKDD 1(1),
    2007.

    >>> EntropyLDiversity(3).parameters()
    {'l': '3'}
    """

    l: Number
    on: On = None

    name: ClassVar[str] = "entropy-l-diversity"
    title: ClassVar[str] = "entropy l-diversity"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("l", least=1)

    def measure(self, view: View) -> Measurement:
        """Return the exponential of each group's entropy."""
        h = view.histogram
        limit = exactly(self.l)
        weighted = np.add.reduceat(h.counts * np.log(h.counts), h.starts)
        entropy = np.log(h.sizes) - weighted / h.sizes
        gap = entropy - (math.log(limit.numerator) - math.log(limit.denominator))
        holds = gap >= 0
        uniform = h.largest * h.distinct == h.sizes
        holds[uniform] = h.distinct[uniform] >= limit
        for group in np.flatnonzero(~uniform & (np.abs(gap) < NEAR)):
            counts = h.counts[h.offsets[group] : h.offsets[group + 1]]
            holds[group] = _entropy_reaches(tuple(np.sort(counts).tolist()), limit)
        level = np.exp(entropy)
        level[uniform] = h.distinct[uniform]
        return Measurement((Part("l", level, holds, "at least", limit),))


@lru_cache(maxsize=4096)
def _entropy_reaches(counts: tuple[int, ...], limit: Fraction) -> bool:
    """Whether exp(entropy) of these counts is at least the limit, exactly."""
    size = sum(counts)
    terms = [(size, size), (size, limit.denominator), (-size, limit.numerator)]
    return sign_of_log_sum(terms + [(-count, count) for count in counts]) >= 0
