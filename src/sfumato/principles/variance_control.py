"""Variance control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, Ratios
from sfumato.exact.ratios import SAFE
from sfumato.parameters import ParameterRange
from sfumato.principles.numeric_values import numbers_of
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import HistogramCondition, spread_of_numbers
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class VarianceControl(Principle):
    """The variance of the sensitive numbers of every group is at least a threshold.

    In plain words: the numbers of every group are spread out, on average.

    The variance is the mean squared deviation from the group's mean.

    - `variance`: the smallest variance of a group, in the square of the column's unit.

    Monotone.

    Does not protect against groups in which most numbers are close together and a few are far away.

    Source: LeFevre, DeWitt & Ramakrishnan (2006b), Workload-aware anonymization, KDD.

    >>> VarianceControl("100").parameters()
    {'variance': '100'}
    """

    variance: Number
    on: On = None

    name: ClassVar[str] = "variance-control"
    title: ClassVar[str] = "variance control"
    family: ClassVar[str] = "nearness"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "variance": ParameterRange("number", "variance", "higher", usual=(0, "0.8"))
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's variance."""
        numbers = numbers_of(view, self.title)
        h = view.histogram
        values = numbers.integers - numbers.integers[0]  # smaller numbers with the same variance
        n, counts = h.sizes, h.counts
        # The largest products below: integers of any size are used where 64 bits could overflow.
        reach = int(values[-1]) ** 2 * int(n.max()) ** 2
        if values.dtype == object or max(reach, int(n.max()) ** 2 * numbers.unit.denominator**2) >= SAFE:
            values, n, counts = values.astype(object), n.astype(object), counts.astype(object)
        x = values[h.values]
        sums = np.add.reduceat(counts * x, h.starts)
        squares = np.add.reduceat(counts * x * x, h.starts)
        # n²·Var = n·Σx² − (Σx)², in squared units
        level = Ratios(n * squares - sums * sums, n * n * numbers.unit.denominator**2)
        return Measurement((Part.at_least("variance", level, exactly(self.variance)),))

    def search_conditions(self, view: View) -> Sequence[HistogramCondition]:
        """Return the condition on the variance."""
        from sfumato.kernels import group_excess as excess

        return (spread_of_numbers(view, excess.VARIANCE, exactly(self.variance), self.title),)

    @classmethod
    def example(cls) -> Example:
        """Return a group of spread-out salaries, and one of close ones."""
        return two_age_groups(
            cls(variance=1000),
            "salary",
            ((500, 600, 700), "the mean is 600", "((500 − 600)^2 + (600 − 600)^2 + (700 − 600)^2)/3"),
            ((490, 500, 510), "the mean is 500", "((490 − 500)^2 + (500 − 500)^2 + (510 − 500)^2)/3"),
        )
