"""How often an attacker is right: a share with a 95 % interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054
"""The quantile of the normal distribution for 95 %."""


@dataclass(frozen=True)
class Rate:
    """A share of people about whom an attacker is right, with the ends of its 95 % interval.

    The people who were attacked count as a sample of all people like them, also if everybody was attacked.

    >>> Rate.of(8, 10)
    80.0 % (49.0 % to 94.3 %) of 10
    """

    share: float
    low: float
    high: float
    tried: int
    """The number of people who were attacked."""

    @classmethod
    def of(cls, right: int, tried: int) -> Rate:
        """Return the share of guesses that are right, with the interval of Wilson (1927); 0 to 1 without any guess.

        >>> Rate.of(0, 0)
        0.0 % (0.0 % to 100.0 %) of 0
        """
        return cls._wilson(right / tried, tried) if tried else cls(0.0, 0.0, 1.0, 0)

    @classmethod
    def mean(cls, chances: NDArray[np.float64]) -> Rate:
        """Return the mean of the chances with which guesses are right, one for each person.

        The interval is that of Wilson for the mean as if each guess were right or wrong. The variance of chances with the
        same mean is never larger, so the interval is never too short.

        >>> Rate.mean(np.array([0.5, 0.25, 0.25, 1.0]))
        50.0 % (15.0 % to 85.0 %) of 4
        """
        return cls._wilson(float(np.mean(chances)), len(chances)) if len(chances) else cls.of(0, 0)

    @classmethod
    def exactly(cls, share: float, tried: int) -> Rate:
        """Return a share that is known rather than counted, so that its interval is a point.

        >>> Rate.exactly(0.2, 10)
        20.0 % (20.0 % to 20.0 %) of 10
        """
        return cls(share, share, share, tried)

    @classmethod
    def _wilson(cls, share: float, tried: int) -> Rate:
        z = _Z * _Z / tried
        centre = (share + z / 2) / (1 + z)
        half = _Z * sqrt(max(0.0, share * (1 - share)) / tried + z / (4 * tried)) / (1 + z)
        # a share of 0 or 1 is an end of its own interval, whatever the rounding
        return cls(share, min(share, max(0.0, centre - half)), max(share, min(1.0, centre + half)), tried)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {"share": self.share, "low": self.low, "high": self.high, "tried": self.tried}

    def __repr__(self) -> str:
        return f"{100 * self.share:.1f} % ({100 * self.low:.1f} % to {100 * self.high:.1f} %) of {self.tried:,}"
