"""Entropy l-diversity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, sign_of_log_sum
from sfumato.exact.logarithms import NEAR
from sfumato.parameters import ParameterRange
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import HistogramCondition
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class EntropyLDiversity(Principle):
    """The entropy of the sensitive values of every group is at least log l.

    In plain words: the secrets of every group are at least as mixed as l equally frequent ones.

    The level is exp(entropy). The verdict is exact: nⁿ ≥ lⁿ·∏f^f over the counts f of a group of n rows, so a group of l
    equally frequent values passes.

    - `l`: the number of equally frequent values that a group must be at least as diverse as; any number from 1.

    Monotone.

    Does not protect against values that differ but are close: together they may make up a whole group.

    Source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), l-diversity: privacy beyond k-anonymity, TKDD
    1(1).

    >>> EntropyLDiversity(3).parameters()
    {'l': '3'}
    """

    l: Number
    on: On = None

    name: ClassVar[str] = "entropy-l-diversity"
    title: ClassVar[str] = "entropy l-diversity"
    family: ClassVar[str] = "diversity"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "l": ParameterRange("number", "values", "higher", usual=(1, 10), least=1)
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return the exponential of each group's entropy."""
        h = view.histogram
        limit = exactly(self.l)
        weighted = np.add.reduceat(h.counts * np.log(h.counts), h.starts)
        entropy = np.log(h.sizes) - weighted / h.sizes
        gap = entropy - (math.log(limit.numerator) - math.log(limit.denominator))
        holds = gap >= 0
        # Floats decide what is clear. A uniform histogram of d values has exp(entropy) = d exactly; other near-ties are
        # decided in integers.
        uniform = h.largest * h.distinct == h.sizes
        holds[uniform] = h.distinct[uniform] >= limit
        for group in np.flatnonzero(~uniform & (np.abs(gap) < NEAR)):
            counts = h.counts[h.offsets[group] : h.offsets[group + 1]]
            holds[group] = _entropy_reaches(tuple(np.sort(counts).tolist()), limit)
        level = np.exp(entropy)
        level[uniform] = h.distinct[uniform]
        return Measurement((Part("l", level, holds, "at least", limit),))

    def search_conditions(self, view: View) -> Sequence[HistogramCondition]:
        """Return the condition on the entropy."""
        from sfumato.kernels import group_excess as excess

        return (HistogramCondition(view.attribute.codes, excess.ENTROPY, math.log(exactly(self.l))),)

    @classmethod
    def example(cls) -> Example:
        """Return a group of two equally frequent illnesses, and one in which one of two is more frequent."""
        return two_age_groups(
            cls(l=2),
            "illness",
            (
                ("flu", "flu", "gout", "gout"),
                "two illnesses, each that of 2 of the 4; exp of the entropy",
                "exp(−2·(2/4)·ln(2/4))",
            ),
            (
                ("flu", "flu", "flu", "gout"),
                "two illnesses, but one is that of 3 of the 4; exp of the entropy",
                "exp(−(3/4)·ln(3/4) − (1/4)·ln(1/4))",
            ),
        )


@lru_cache(maxsize=4096)
def _entropy_reaches(counts: tuple[int, ...], limit: Fraction) -> bool:
    """Return whether exp(entropy) of these counts is at least the limit, exactly."""
    size = sum(counts)
    terms = [(size, size), (size, limit.denominator), (-size, limit.numerator)]
    return sign_of_log_sum(terms + [(-count, count) for count in counts]) >= 0
