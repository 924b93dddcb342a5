"""Levels as people read them: decimals of few digits; and in full."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.exact.thresholds import written


def level_text(level: Fraction | float) -> str:
    """Return a level in full: exact where it is rational."""
    return written(level) if isinstance(level, Fraction) else repr(level)


def level_shown(level: Fraction | float, threshold: Fraction | None = None) -> str:
    """Return a level in few digits: enough to be on the right side of the threshold, and not to look whole if it is not."""
    if math.isinf(level):
        return "∞"
    exact = level if isinstance(level, Fraction) else Fraction(level)
    if exact.denominator == 1:
        return f"{int(exact):,}"
    for digits in range(4, 17):
        text = f"{float(level):.{digits}g}"
        shown = Fraction(text)
        faithful = threshold is None or _order(shown, threshold) == _order(exact, threshold)
        if shown.denominator != 1 and faithful:
            return text
    return level_text(level)


def _order(one: Fraction, other: Fraction) -> int:
    return (one > other) - (one < other)
