"""δ-disclosure privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from sfumato.errors import ParameterError
from sfumato.exact import Number, compare_log, nearest_float
from sfumato.exact.logarithms import NEAR
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.view import View


@dataclass(frozen=True)
class DeltaDisclosure(Principle):
    """For every group and every sensitive value |ln(q/p)| < δ, with q its share of the group and p its share of the table.

    In plain words: seeing somebody's group makes no secret much likelier, or much less likely, than the whole table
    made it.

    The definition speaks of every value of the table: one that is absent from a group has q = 0 and an infinite level,
    since the group rules it out. (Tools that look only at the values a group holds measure something weaker that is not
    monotone.) The base of the logarithm is left open in the source, and e here.

    - `delta`: how far a value's share of a group may be from its share of the table, as the logarithm of their ratio.

    Monotone.

    Does not protect against what is common in the whole table, nor against values that differ and yet are close.

    Source: Brickell and Shmatikov, The cost of privacy: destruction of data-mining utility in anonymized data
    publishing, KDD 2008.

    >>> DeltaDisclosure("1.5").parameters()
    {'delta': '1.5'}
    """

    delta: Number
    on: On = None

    name: ClassVar[str] = "delta-disclosure"
    title: ClassVar[str] = "δ-disclosure privacy"
    monotone: ClassVar[bool] = True
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("delta", least=0)
        if exactly(self.delta) == 0:
            raise ParameterError(
                f"{self.name}: delta = 0 can never hold", remedy="Give delta above 0.", key="delta", value=0
            )

    def measure(self, view: View) -> Measurement:
        """Return each group's largest |ln(q/p)|."""
        h, rows = view.histogram, view.table.rows
        limit = exactly(self.delta)
        up = h.counts * rows
        down = view.attribute.counts[h.values] * h.sizes[h.group]
        entry_levels = np.where(up == down, 0.0, np.abs(np.log(up / down)))
        bound = nearest_float(limit)
        fine = entry_levels < bound
        for entry in np.flatnonzero(np.abs(entry_levels - bound) < NEAR):
            ratio = Fraction(int(up[entry]), int(down[entry]))
            fine[entry] = compare_log(max(ratio, 1 / ratio), limit) < 0
        lacking = h.distinct < len(view.attribute)
        levels = np.where(lacking, np.inf, np.maximum.reduceat(entry_levels, h.starts))
        holds = np.logical_and.reduceat(fine, h.starts) & ~lacking
        return Measurement((Part("delta", levels, holds, "below", limit),))
