"""β-likeness, basic and enhanced."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, Ratios, compare_log
from sfumato.exact.logarithms import NEAR
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.view import View


@dataclass(frozen=True)
class BetaLikeness(Principle):
    """No sensitive value's share q of a group exceeds its share p of the table by more than β·p.

    In plain words: seeing somebody's group makes no secret much likelier than the whole table made it.

    The level is the largest gain (q − p)/p. Enhanced: the gain is also at most −ln p, so that even frequent values are
    bounded.

    - `beta`: by how much, as a share of what it was, a value's share may grow.
    - `variant`: "basic" or "enhanced".

    Monotone.

    Does not protect against losses (a value may be absent from a group), nor against what is common in the whole table,
    nor against values that differ and yet are close.

    Source: Cao and Karras, Publishing microdata with a robust privacy guarantee, VLDB 2012.

    >>> BetaLikeness("2", variant="enhanced").parameters()
    {'beta': '2', 'variant': 'enhanced'}
    """

    beta: Number
    variant: str = "basic"
    on: On = None

    name: ClassVar[str] = "beta-likeness"
    title: ClassVar[str] = "β-likeness"
    monotone: ClassVar[bool] = True
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("beta", least=0)
        self._check_choice("variant", ("basic", "enhanced"))

    def measure(self, view: View) -> Measurement:
        """Return each group's largest gain and, if enhanced, by how much a gain exceeds its logarithmic bound."""
        h, rows = view.histogram, view.table.rows
        overall = view.attribute.counts[h.values]
        gains = Ratios(h.counts * rows - overall * h.sizes[h.group], overall * h.sizes[h.group])
        limit = exactly(self.beta)
        # the entry of the largest gain stands for its group
        order = np.lexsort((gains.floats(), h.group))
        top = order[h.offsets[1:] - 1]
        level = Ratios(gains.numerators[top], gains.denominators[top])
        holds = np.logical_and.reduceat(gains.at_most(limit), h.starts)
        parts = [Part("beta", level, holds, "at most", limit)]
        if self.variant == "enhanced":
            excess = gains.floats() + np.log(overall / rows)
            fine = excess <= 0
            for entry in np.flatnonzero(np.abs(excess) < NEAR):
                share, gain = Fraction(rows, int(overall[entry])), gains[int(entry)]
                assert isinstance(gain, Fraction)
                # a group that is like the table gains nothing, and nothing is always allowed
                fine[entry] = gain <= 0 or compare_log(share, gain) >= 0
            parts.append(
                Part(
                    "gain + ln p",
                    np.maximum.reduceat(excess, h.starts),
                    np.logical_and.reduceat(fine | (gains.numerators <= 0), h.starts),
                    "at most",
                    Fraction(0),
                )
            )
        return Measurement(tuple(parts))
