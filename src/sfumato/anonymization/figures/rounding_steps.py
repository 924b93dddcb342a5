"""Rounding of shares of the original to steps so coarse that no exact small count is published."""

from __future__ import annotations

from fractions import Fraction

_STEPS = [Fraction(digit, 10**power) for power in (3, 2, 1) for digit in (1, 2, 5)] + [Fraction(1)]
_ROWS = 5
"""A step corresponds to at least this many rows, if the table has as many."""


def step_of(rows: int) -> Fraction:
    """Return the step for shares of a table's rows: a thousandth, or a share of at least five rows if that is more.

    >>> [str(step_of(rows)) for rows in (295_243, 1000, 24)]
    ['1/1000', '1/200', '1/2']
    """
    return next((step for step in _STEPS if step * rows >= _ROWS), _STEPS[-1])


def in_steps(share: float | Fraction, step: Fraction) -> float:
    """Return a share, rounded to the nearest multiple of a step.

    >>> in_steps(Fraction(1, 3), Fraction(1, 1000)), in_steps(0.26, Fraction(1, 2))
    (0.333, 0.5)
    """
    return float(round(Fraction(share) / step) * step)


EXACT = Fraction(1, 10**6)
"""The step of figures that follow from the published table; it only saves space."""
