"""(k,e)-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, Ratios
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.numeric_values import numbers_of
from sfumato.principles.view import View


@dataclass(frozen=True)
class KEAnonymity(Principle):
    """Every group holds at least k different sensitive numbers, and they span a range of at least e.

    In plain words: at least k different numbers are possible for everybody, and the least and the greatest are far
    apart.

    - `k`: how many different numbers a group holds at least.
    - `e`: how far its smallest and largest number are apart at least.

    Monotone.

    Does not protect against numbers that are close together, all but one: the range is then wide, and the secret all
    but told.

    Source: Zhang, Koudas, Srivastava and Yu, Aggregate query answering on anonymized tables, ICDE 2007.

    >>> KEAnonymity(k=3, e=5000).parameters()
    {'k': 3, 'e': '5000'}
    """

    k: int
    e: Number
    on: On = None

    name: ClassVar[str] = "k-e-anonymity"
    title: ClassVar[str] = "(k,e)-anonymity"
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._check_whole("k")
        self._set_fraction("e", least=0)

    def measure(self, view: View) -> Measurement:
        """Return each group's range and its number of distinct numbers."""
        numbers = numbers_of(view, self.title)
        h = view.histogram
        # the unit's numerator is 1: numbers are whole multiples of a power of ten
        spread = numbers.integers[h.values[h.offsets[1:] - 1]] - numbers.integers[h.values[h.starts]]
        ranges = Ratios(spread, np.full(len(spread), numbers.unit.denominator))
        different = Ratios.whole(h.distinct)
        return Measurement((Part.at_least("e", ranges, exactly(self.e)), Part.at_least("k", different, Fraction(self.k))))
