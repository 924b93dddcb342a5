"""Losses and risks as a reader wants them: they have no unit, may be of any size, and infinite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any, Literal

from sfumato.reports.plots.figure import axis

_WIDE = 200
"""If the largest is so many times the middle one, equal steps would hide all but the largest."""


Amount = float | Literal["inf"]
"""A loss or a risk in plain data: JSON has no number for infinity."""


def amount(value: Amount | None) -> str:
    """A loss or a risk as text; nothing if there is none.

    >>> [amount(value) for value in (0, 0.123456, 1234567.8, 2.5e12, "inf", None)]
    ['0', '0.1235', '1,234,568', '2.5e+12', '∞', '']
    """
    if value is None:
        return ""
    if value == "inf":
        return "∞"
    if 10_000 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def drawable(values: Iterable[Amount], logarithmic: bool) -> list[float | None]:
    """Values as a plot takes them: where one is infinite, or has no place on a logarithmic axis, there is a gap."""
    return [value if value != "inf" and (value > 0 or not logarithmic) else None for value in values]


def spread(values: Iterable[Amount]) -> bool:
    """Whether the largest is so far above most that only a logarithmic axis shows them all.

    >>> spread([0, 1, 10]), spread([0, 1, 2, 1000])
    (False, True)
    """
    positive = [value for value in values if value != "inf" and value > 0]
    return bool(positive) and max(positive) > _WIDE * median(positive)


def amounts_axis(title: str, values: Sequence[Amount], **more: Any) -> dict[str, Any]:
    """An axis for losses or risks: from 0 in equal steps, or logarithmic where they lie far apart."""
    if not spread(values):
        return axis(title, rangemode="tozero", exponentformat="power", **more)
    positive = [math.log10(value) for value in values if value != "inf" and value > 0]
    low, high = min(positive), max(positive)
    room = 0.06 * (high - low)
    steps = {"dtick": max(1, math.ceil((high - low) / 6))}
    return axis(title, type="log", range=[low - room, high + room], exponentformat="power", **steps, **more)
