"""l-diversity: distinct, frequency, entropy and recursive (c,l)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterProblem
from sfumato.exact import Number, Ratios, sign_of_log_sum, written
from sfumato.exact.logs import NEAR
from sfumato.groups import Histogram
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.view import View


@dataclass(frozen=True)
class DistinctLDiversity(Principle):
    """Every group holds at least l different sensitive values.

    Source: Machanavajjhala et al., TKDD 1(1), 2007. Monotone. Does not see that one value may be far more frequent than
    the others, nor that different values may be close.

    >>> DistinctLDiversity(3).parameters()
    {'l': 3}
    """

    l: int
    on: On = None

    name: ClassVar[str] = "distinct-l-diversity"
    title: ClassVar[str] = "distinct l-diversity"
    monotone: ClassVar[bool] = True
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._check_whole("l")

    def measure(self, view: View) -> Measurement:
        """Return each group's number of distinct values."""
        distinct = view.histogram.distinct
        return Measurement(
            (Part("l", Ratios.whole(distinct), distinct >= self.l, f"at least {self.l}", higher_is_better=True),)
        )


@dataclass(frozen=True)
class FrequencyLDiversity(Principle):
    """No sensitive value makes up more than 1/l of a group.

    Source: Xiao and Tao, VLDB 2006; paper 003, Definition 1. Monotone. Does not see that different values may be close.

    >>> FrequencyLDiversity("2.5").label
    'frequency l-diversity (l = 2.5)'
    """

    l: Number
    on: On = None

    name: ClassVar[str] = "frequency-l-diversity"
    title: ClassVar[str] = "frequency l-diversity"
    monotone: ClassVar[bool] = True
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("l", least=1)

    def measure(self, view: View) -> Measurement:
        """Return each group's size over the count of its most frequent value."""
        level = Ratios(view.histogram.sizes, view.histogram.largest)
        limit = exactly(self.l)
        return Measurement((Part("l", level, level.at_least(limit), f"at least {written(limit)}", higher_is_better=True),))


@dataclass(frozen=True)
class EntropyLDiversity(Principle):
    """The entropy of the sensitive values of every group is at least log l.

    The level is exp(entropy). Decided exactly: nⁿ ≥ lⁿ·∏f^f over the counts f of a group of n, so that a group of l
    equally frequent values passes. Source: Machanavajjhala et al., TKDD 1(1), 2007. Monotone. Does not see that different
    values may be close.

    >>> EntropyLDiversity(3).parameters()
    {'l': '3'}
    """

    l: Number
    on: On = None

    name: ClassVar[str] = "entropy-l-diversity"
    title: ClassVar[str] = "entropy l-diversity"
    monotone: ClassVar[bool] = True
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("l", least=1)

    def measure(self, view: View) -> Measurement:
        """Return the exponential of each group's entropy."""
        h = view.histogram
        limit = exactly(self.l)
        weighted = np.add.reduceat(h.counts * np.log(h.counts), h.starts)
        gap = np.log(h.sizes) - weighted / h.sizes - math.log(limit)
        holds = gap >= 0
        uniform = h.largest * h.distinct == h.sizes
        holds[uniform] = h.distinct[uniform] >= limit
        for group in np.flatnonzero(~uniform & (np.abs(gap) < NEAR)):
            counts = h.counts[h.offsets[group] : h.offsets[group + 1]]
            holds[group] = _entropy_reaches(tuple(np.sort(counts).tolist()), limit)
        level = np.exp(gap) * float(limit)
        level[uniform] = h.distinct[uniform]
        return Measurement((Part("l", level, holds, f"at least {written(limit)}", higher_is_better=True),))


@lru_cache(maxsize=4096)
def _entropy_reaches(counts: tuple[int, ...], limit: Fraction) -> bool:
    """Whether exp(entropy) of these counts is at least the limit, exactly."""
    size = sum(counts)
    terms = [(size, size), (size, limit.denominator), (-size, limit.numerator)]
    return sign_of_log_sum(terms + [(-count, count) for count in counts]) >= 0


@dataclass(frozen=True)
class RecursiveLDiversity(Principle):
    """In every group r₁ < c·(r_l + … + r_m), where r₁ ≥ r₂ ≥ … are the counts of its m sensitive values.

    The level is r₁ / (r_l + … + r_m), infinite if there are fewer than l values. Source: Machanavajjhala et al., TKDD
    1(1), 2007. Monotone. Does not see that different values may be close.

    >>> RecursiveLDiversity(c=3, l=2).parameters()
    {'c': '3', 'l': 2}
    """

    c: Number
    l: int
    on: On = None

    name: ClassVar[str] = "recursive-l-diversity"
    title: ClassVar[str] = "recursive (c,l)-diversity"
    monotone: ClassVar[bool] = True
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("c", least=0)
        if exactly(self.c) == 0:
            raise ParameterProblem(f"{self.name}: c = 0 can never hold", remedy="Give c above 0.", key="c", value=self.c)
        self._check_whole("l")

    def measure(self, view: View) -> Measurement:
        """Return each group's largest count over the sum of its counts from the l-th largest on."""
        h = view.histogram
        level = Ratios(h.largest, h.sizes - _sum_of_largest(h, self.l - 1))
        limit = exactly(self.c)
        return Measurement((Part("c", level, level.below(limit), f"below {written(limit)}", higher_is_better=False),))


def _sum_of_largest(h: Histogram, how_many: int) -> NDArray[np.int64]:
    """For each group the sum of its so many largest counts."""
    top = int(h.counts.max()) + 1
    descending = top - 1 - np.sort(h.group * top + (top - 1 - h.counts)) % top
    rank = np.arange(len(h.counts)) - np.repeat(h.starts, h.distinct)
    return np.add.reduceat(np.where(rank < how_many, descending, 0), h.starts)
