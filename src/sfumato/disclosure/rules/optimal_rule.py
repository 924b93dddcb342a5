"""A best rule that was found, with what is known of how good it is."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, isinf

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching import Rule

ROUNDING = 1e-9
"""Risks that differ by less than this share are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class DisclosureRule:
    """The rule of least risk that was found, and a bound that no rule of its set is below.

    >>> import numpy as np
    >>> found = DisclosureRule(np.ones((1, 2), bool), risk=0.5, bound=0.4, short=0, how="by search")
    >>> found.exact, round(found.gap, 3)
    (False, 0.2)
    """

    rule: Rule
    risk: float
    """Its risk: under the prior, or in the worst case."""
    bound: float
    """No rule that discloses as much has less risk than this."""
    short: int
    """How many records, or attributes, have fewer values than were to be disclosed, and so disclose all that they have;
    of the whole table, by how many cells it falls short."""
    how: str
    """How it was found, in words."""

    @property
    def gap(self) -> float:
        """How far the risk may be above the least, as a share of the risk: 0 if it is the least."""
        if self.risk <= self.bound or (isinf(self.risk) and isinf(self.bound)):
            return 0.0
        return 1.0 if isinf(self.risk) else (self.risk - self.bound) / self.risk

    @property
    def exact(self) -> bool:
        """Whether no rule that discloses as much has less risk, but for rounding."""
        return self.gap <= ROUNDING


def mean(losses: NDArray[np.float64]) -> float:
    """The mean of records' losses, added without rounding so that their order does not matter; of none, 0.

    >>> mean(np.array([0.25, 0.5, 0.75])), mean(np.zeros(0)), mean(np.array([1.0, np.inf]))
    (0.5, 0.0, inf)
    """
    return fsum(losses) / len(losses) if len(losses) else 0.0
