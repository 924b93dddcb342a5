"""Widths of bins that one would write by hand."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.exact import nearest_float


def round_width(least: Fraction) -> Fraction:
    """The least of 1, 2 and 5 times the powers of ten that is at least this much.

    >>> [str(round_width(Fraction(text))) for text in ("0.03", "2", "73")]
    ['1/20', '2', '100']
    """
    power = Fraction(10) ** math.floor(math.log10(nearest_float(least)))
    return next(step * power for step in (1, 2, 5, 10, 20) if step * power >= least)
