"""Recursive (c,l)-diversity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import Histogram
from sfumato.exact import Number, Ratios
from sfumato.parameters import ParameterRange, whole
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import HistogramCondition
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class RecursiveLDiversity(Principle):
    """In every group r₁ < c·(r_l + … + r_m), where r₁ ≥ r₂ ≥ … are the counts of its m sensitive values.

    In plain words: the most frequent secret of a group is not too frequent, even after the next l − 2 have been ruled
    out.

    The level is r₁ / (r_l + … + r_m), which is infinite if there are fewer than l values.

    - `c`: the count of the most frequent value must be below c times the sum of the counts from the l-th on.
    - `l`: the rank, largest count first, at which that sum begins.

    Monotone.

    Does not protect against values that differ but are close: together they may make up a whole group.

    Source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), l-diversity: privacy beyond k-anonymity, TKDD
    1(1).

    >>> RecursiveLDiversity(c=3, l=2).parameters()
    {'c': '3', 'l': 2}
    """

    c: Number
    l: int
    on: On = None

    name: ClassVar[str] = "recursive-l-diversity"
    title: ClassVar[str] = "recursive (c,l)-diversity"
    family: ClassVar[str] = "diversity"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "c": ParameterRange("number", "factor", "lower", usual=("0.5", 5), above=True),
        "l": whole("values", usual=(2, 10)),
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's largest count over the sum of its counts from the l-th largest on."""
        h = view.histogram
        level = Ratios(h.largest, h.sizes - _sum_of_largest(h, self.l - 1))
        return Measurement((Part.below("c", level, exactly(self.c)),))

    def search_conditions(self, view: View) -> Sequence[HistogramCondition]:
        """Return the condition on the largest counts."""
        from sfumato.kernels import group_excess as excess

        return (HistogramCondition(view.attribute.codes, excess.RECURSIVE, float(exactly(self.c)), self.l),)

    @classmethod
    def example(cls) -> Example:
        """Return a group with enough other illnesses, and one with too few."""
        return two_age_groups(
            cls(c=2, l=2),
            "illness",
            (("flu", "flu", "gout", "ulcer"), "the counts are 2, 1 and 1: the first over the sum of the rest", "2/(1 + 1)"),
            (("flu", "flu", "flu", "gout"), "the counts are 3 and 1: the first over the rest", "3/1"),
        )


def _sum_of_largest(h: Histogram, how_many: int) -> NDArray[np.int64]:
    """Return for each group the sum of its largest counts, up to a number of them."""
    # One sort orders all groups at once: the key is the group, then the count from the largest down.
    top = int(h.counts.max()) + 1
    descending = top - 1 - np.sort(h.group * top + (top - 1 - h.counts)) % top
    rank = np.arange(len(h.counts)) - np.repeat(h.starts, h.distinct)
    return np.add.reduceat(np.where(rank < how_many, descending, 0), h.starts)
