"""Recursive (c,l)-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import Histogram
from sfumato.errors import ParameterError
from sfumato.exact import Number, Ratios
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.view import View


@dataclass(frozen=True)
class RecursiveLDiversity(Principle):
    """In every group r₁ < c·(r_l + … + r_m), where r₁ ≥ r₂ ≥ … are the counts of its m sensitive values.

    In plain words: the most frequent secret of a group is not too frequent, even after the next l − 2 have been ruled
    out.

    The level is r₁ / (r_l + … + r_m), infinite if there are fewer than l values.

    - `c`: the most frequent value's count stays below c times the sum of the counts from the l-th on.
    - `l`: from which count on, the largest first, the sum runs.

    Monotone.

    Does not protect against values that differ and yet are close: together they may make up all of a group.

    Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, TKDD 1(1),
    2007.

    >>> RecursiveLDiversity(c=3, l=2).parameters()
    {'c': '3', 'l': 2}
    """

    c: Number
    l: int
    on: On = None

    name: ClassVar[str] = "recursive-l-diversity"
    title: ClassVar[str] = "recursive (c,l)-diversity"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("c", least=0)
        if exactly(self.c) == 0:
            raise ParameterError(f"{self.name}: c = 0 can never hold", remedy="Give c above 0.", key="c", value=self.c)
        self._check_whole("l")

    def measure(self, view: View) -> Measurement:
        """Return each group's largest count over the sum of its counts from the l-th largest on."""
        h = view.histogram
        level = Ratios(h.largest, h.sizes - _sum_of_largest(h, self.l - 1))
        return Measurement((Part.below("c", level, exactly(self.c)),))


def _sum_of_largest(h: Histogram, how_many: int) -> NDArray[np.int64]:
    """For each group the sum of its so many largest counts."""
    top = int(h.counts.max()) + 1
    descending = top - 1 - np.sort(h.group * top + (top - 1 - h.counts)) % top
    rank = np.arange(len(h.counts)) - np.repeat(h.starts, h.distinct)
    return np.add.reduceat(np.where(rank < how_many, descending, 0), h.starts)
