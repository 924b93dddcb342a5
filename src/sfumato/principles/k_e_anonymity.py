"""(k,e)-anonymity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, Ratios
from sfumato.parameters import ParameterRange, whole
from sfumato.principles.numeric_values import numbers_of
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import HistogramCondition, distinct_values, spread_of_numbers
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class KEAnonymity(Principle):
    """Every group contains at least k different sensitive numbers, and they span a range of at least e.

    In plain words: everybody's group contains at least k different numbers, and the smallest and the largest are far
    apart.

    - `k`: the smallest number of different numbers in a group.
    - `e`: the smallest difference between the largest and the smallest number of a group.

    Monotone.

    Does not protect against groups in which all numbers but one are close together: the range is wide, and yet most
    secrets are nearly known.

    Source: Zhang, Koudas, Srivastava & Yu (2007), Aggregate query answering on anonymized tables, ICDE.

    >>> KEAnonymity(k=3, e=5000).parameters()
    {'k': 3, 'e': '5000'}
    """

    k: int
    e: Number
    on: On = None

    name: ClassVar[str] = "k-e-anonymity"
    title: ClassVar[str] = "(k,e)-anonymity"
    family: ClassVar[str] = "nearness"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "k": whole("values", usual=(2, 20)),
        "e": ParameterRange("number", "distance", "higher", usual=(0, "0.5")),
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's range and its number of distinct numbers."""
        numbers = numbers_of(view, self.title)
        h = view.histogram
        # Entries of a group ascend, so its first and last are the extremes. The unit is a power of ten, 1 over a
        # denominator, so differences of integers over that denominator are exact.
        spread = numbers.integers[h.values[h.offsets[1:] - 1]] - numbers.integers[h.values[h.starts]]
        ranges = Ratios(spread, np.full(len(spread), numbers.unit.denominator))
        different = Ratios.whole(h.distinct)
        return Measurement((Part.at_least("e", ranges, exactly(self.e)), Part.at_least("k", different, Fraction(self.k))))

    @property
    def implied_k(self) -> int:
        """The parameter k: k different numbers need at least k rows."""
        return self.k

    def search_conditions(self, view: View) -> Sequence[HistogramCondition]:
        """Return the conditions on the number of distinct numbers and on their range."""
        from sfumato.kernels import group_excess as excess

        spread = spread_of_numbers(view, excess.RANGE, exactly(self.e), self.title)
        return distinct_values(view, self.k), spread

    @classmethod
    def example(cls) -> Example:
        """Return a group with a wide range, and one with a narrow range."""
        return two_age_groups(
            cls(k=3, e=100),
            "salary",
            ((500, 600, 700), "three salaries, from 500 to 700", "700 − 500"),
            ((490, 500, 510), "three salaries, but only from 490 to 510", "510 − 490"),
        )
