"""β-likeness, basic and enhanced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, Ratios, compare_log
from sfumato.exact.logarithms import NEAR
from sfumato.parameters import ParameterRange, choice
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import HistogramCondition, table_shares
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class BetaLikeness(Principle):
    """No sensitive value's share q of a group exceeds its share p of the table by more than β·p.

    In plain words: no secret is much more frequent in somebody's group than in the whole table.

    The level is the largest gain (q − p)/p. In the enhanced variant the gain is also at most −ln p, which bounds frequent
    values too.

    - `beta`: how much a value's share may grow, relative to its share of the table.
    - `variant`: "basic" or "enhanced".

    Monotone.

    Does not protect against losses (a value may be absent from a group), nor against what is common in the whole table,
    nor against values that differ but are close.

    Source: Cao & Karras (2012), Publishing microdata with a robust privacy guarantee, VLDB.

    >>> BetaLikeness("2", variant="enhanced").parameters()
    {'beta': '2', 'variant': 'enhanced'}
    """

    beta: Number
    variant: str = "basic"
    on: On = None

    name: ClassVar[str] = "beta-likeness"
    title: ClassVar[str] = "β-likeness"
    family: ClassVar[str] = "distribution"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    histogram_only: ClassVar[bool] = True
    units: ClassVar[Literal["shares"]] = "shares"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "beta": ParameterRange("number", "factor", "lower", usual=("0.5", 10)),
        "variant": choice("basic", "enhanced"),
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's largest gain and, if enhanced, by how much a gain exceeds its logarithmic bound."""
        h, rows = view.histogram, view.groups.population
        overall = view.table_counts[h.values]
        gains = Ratios(h.counts * rows - overall * h.sizes[h.group], overall * h.sizes[h.group])
        limit = exactly(self.beta)
        # the level of a group is that of its entry with the largest gain, which sorts last within the group
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
                # a gain of 0 or less is always allowed
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

    def search_conditions(self, view: View) -> Sequence[HistogramCondition]:
        """Return the condition on gains."""
        from sfumato.kernels import group_excess as excess

        beta, enhanced = float(exactly(self.beta)), float(self.variant == "enhanced")
        return (HistogramCondition(view.attribute.codes, excess.GAIN, beta, enhanced, table_shares(view)),)

    @classmethod
    def example(cls) -> Example:
        """Return a large group like the table, and a small one unlike it."""
        return two_age_groups(
            cls(beta="0.5"),
            "illness",
            (
                ("flu", "flu", "flu", "flu", "gout", "gout"),
                "flu gains most: 4/8 of the table, 4/6 of the group",
                "(4/6 − 4/8)/(4/8)",
            ),
            (("gout", "gout"), "gout gains most: 4/8 of the table, 2/2 of the group", "(2/2 − 4/8)/(4/8)"),
        )
