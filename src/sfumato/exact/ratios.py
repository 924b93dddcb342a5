"""Arrays of rational levels, compared with a threshold without rounding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.exact.thresholds import nearest_float

SAFE = 2**62
"""The sum of two integers below this fits into 64 bits."""

Integers = NDArray[Any]
"""An array of int64, or of Python integers (dtype object) where 64 bits are too few."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """Rational numbers as two integer arrays; a denominator of 0 means infinity.

    >>> levels = Ratios(np.array([1, 2]), np.array([5, 4]))
    >>> levels.at_most(Fraction("0.2")).tolist(), levels.largest()
    ([True, False], Fraction(1, 2))
    """

    numerators: Integers
    denominators: Integers

    @classmethod
    def whole(cls, numbers: Integers) -> Ratios:
        """Return whole numbers as ratios."""
        return cls(numbers, np.ones(len(numbers), np.int64))

    def __len__(self) -> int:
        return len(self.numerators)

    def _scaled(self, threshold: Fraction, up: bool) -> Integers:
        """Return the threshold times each denominator, rounded down or up to a whole number."""
        a, b = threshold.numerator, threshold.denominator
        den = self.denominators
        small = den.dtype != object and abs(a) * (int(den.max(initial=0)) + 1) < SAFE and b < SAFE
        if small:
            return np.asarray(-((-a * den) // b) if up else (a * den) // b)
        # denominators are group sizes, of which few are distinct: Python's integers cost little
        distinct, inverse = np.unique(den, return_inverse=True)
        limits = [-(-a * int(d) // b) if up else a * int(d) // b for d in distinct]
        return np.array(limits, dtype=object)[inverse]

    def _infinite(self) -> NDArray[np.bool_]:
        return np.asarray(self.denominators == 0, bool)

    def at_most(self, threshold: Fraction) -> NDArray[np.bool_]:
        """Return whether each ratio is at most the threshold."""
        return np.asarray(self.numerators <= self._scaled(threshold, up=False), bool) & ~self._infinite()

    def below(self, threshold: Fraction) -> NDArray[np.bool_]:
        """Return whether each ratio is strictly below the threshold."""
        return np.asarray(self.numerators < self._scaled(threshold, up=True), bool) & ~self._infinite()

    def at_least(self, threshold: Fraction) -> NDArray[np.bool_]:
        """Return whether each ratio is at least the threshold."""
        return ~self.below(threshold)

    def floats(self) -> NDArray[np.float64]:
        """Return the ratios as floats, for display and for sorting; never for a verdict."""
        with np.errstate(divide="ignore"):
            if object in (self.numerators.dtype, self.denominators.dtype):
                pairs = zip(self.numerators, self.denominators, strict=True)
                return np.array([nearest_float(Fraction(int(n), int(d))) if d else np.inf for n, d in pairs], float)
            return np.where(
                self.denominators == 0, np.inf, self.numerators / np.where(self.denominators == 0, 1, self.denominators)
            )

    def __getitem__(self, index: int) -> Fraction | float:
        """Return one ratio: a Fraction, or infinity."""
        den = int(self.denominators[index])
        return Fraction(int(self.numerators[index]), den) if den else float("inf")

    def largest(self) -> Fraction | float:
        """Return the largest ratio, exactly."""
        return self._extreme(+1)

    def smallest(self) -> Fraction | float:
        """Return the smallest ratio, exactly."""
        return self._extreme(-1)

    def _extreme(self, sign: int) -> Fraction | float:
        levels = sign * self.floats()
        top = levels.max()
        if not np.isfinite(top):
            return float(sign * top)
        # rounding to a float is monotone, so the exact extreme is among the floats that nearly tie
        near = np.flatnonzero(levels >= top - 1e-12 * max(1.0, abs(top)))
        pairs = set(zip(self.numerators[near].tolist(), self.denominators[near].tolist(), strict=True))
        return max((Fraction(int(n), int(d)) for n, d in pairs), key=lambda ratio: sign * ratio)
