"""Variance control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, Ratios
from sfumato.exact.ratios import SAFE
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.numeric_values import numbers_of
from sfumato.principles.view import View


@dataclass(frozen=True)
class VarianceControl(Principle):
    """The variance of the sensitive numbers of every group is at least a threshold.

    In plain words: the numbers of every group are spread out, on average.

    The variance is the mean squared deviation from the group's mean.

    - `variance`: the least variance of a group, in the square of the column's unit.

    Monotone.

    Does not protect against most of the numbers being close together while a few are far away.

    Source: LeFevre, DeWitt and Ramakrishnan, Workload-aware anonymization, KDD 2006.

    >>> VarianceControl("100").parameters()
    {'variance': '100'}
    """

    variance: Number
    on: On = None

    name: ClassVar[str] = "variance-control"
    title: ClassVar[str] = "variance control"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("variance", least=0)

    def measure(self, view: View) -> Measurement:
        """Return each group's variance."""
        numbers = numbers_of(view, self.title)
        h = view.histogram
        values = numbers.integers - numbers.integers[0]  # small numbers, the same variance
        n, counts = h.sizes, h.counts
        reach = int(values[-1]) ** 2 * int(n.max()) ** 2
        if values.dtype == object or max(reach, int(n.max()) ** 2 * numbers.unit.denominator**2) >= SAFE:
            values, n, counts = values.astype(object), n.astype(object), counts.astype(object)
        x = values[h.values]
        sums = np.add.reduceat(counts * x, h.starts)
        squares = np.add.reduceat(counts * x * x, h.starts)
        # n²·Var = n·Σx² − (Σx)², in units
        level = Ratios(n * squares - sums * sums, n * n * numbers.unit.denominator**2)
        return Measurement((Part.at_least("variance", level, exactly(self.variance)),))
