"""δ-disclosure privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, compare_log, nearest_float
from sfumato.exact.logarithms import NEAR
from sfumato.parameters import ParameterRange
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import HistogramCondition, table_shares
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class DeltaDisclosure(Principle):
    """For every group and sensitive value |ln(q/p)| < δ, where q is its share of the group and p its share of the table.

    In plain words: no secret is much more frequent, or much less frequent, in somebody's group than in the whole table.

    The definition covers every value of the table: a value that is absent from a group has q = 0 and an infinite level,
    since the group rules it out. (Tools that consider only the values in a group measure something weaker that is not
    monotone.) The source does not state the base of the logarithm; it is e here.

    - `delta`: the bound on the logarithm of the ratio of a value's share of a group to its share of the table.

    Monotone.

    Does not protect against what is common in the whole table, nor against values that differ but are close.

    Source: Brickell & Shmatikov (2008), The cost of privacy: destruction of data-mining utility in anonymized data
    publishing, KDD.

    >>> DeltaDisclosure("1.5").parameters()
    {'delta': '1.5'}
    """

    delta: Number
    on: On = None

    name: ClassVar[str] = "delta-disclosure"
    title: ClassVar[str] = "δ-disclosure privacy"
    family: ClassVar[str] = "distribution"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    histogram_only: ClassVar[bool] = True
    units: ClassVar[Literal["shares"]] = "shares"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "delta": ParameterRange("number", "factor", "lower", usual=("0.1", 5), above=True),
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's largest |ln(q/p)|."""
        h, rows = view.histogram, view.groups.population
        limit = exactly(self.delta)
        up = h.counts * rows
        down = view.table_counts[h.values] * h.sizes[h.group]
        entry_levels = np.abs(np.log(up / down))
        bound = nearest_float(limit)
        fine = entry_levels < bound
        # floats decide what is clear; near-ties are decided exactly
        for entry in np.flatnonzero(np.abs(entry_levels - bound) < NEAR):
            ratio = Fraction(int(up[entry]), int(down[entry]))
            fine[entry] = compare_log(max(ratio, 1 / ratio), limit) < 0
        # a group without one of the table's values
        lacking = h.distinct < len(view.attribute)
        levels = np.where(lacking, np.inf, np.maximum.reduceat(entry_levels, h.starts))
        holds = np.logical_and.reduceat(fine, h.starts) & ~lacking
        return Measurement((Part("delta", levels, holds, "below", limit),))

    def search_conditions(self, view: View) -> Sequence[HistogramCondition]:
        """Return the condition on ratios of shares."""
        from sfumato.kernels import group_excess as excess

        delta = float(exactly(self.delta))
        return (HistogramCondition(view.attribute.codes, excess.RATIO, delta, number=table_shares(view)),)

    @classmethod
    def example(cls) -> Example:
        """Return a large group like the table, and a small one unlike it."""
        return two_age_groups(
            cls(delta="0.2"),
            "illness",
            (
                ("flu", "flu", "flu", "flu", "gout", "gout"),
                "gout is farthest from its share: 3/8 of the table, 2/6 of the group",
                "|ln((2/6)/(3/8))|",
            ),
            (
                ("flu", "gout"),
                "gout is farthest from its share: 3/8 of the table, 1/2 of the group",
                "|ln((1/2)/(3/8))|",
            ),
        )
