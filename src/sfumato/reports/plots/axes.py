"""Axes: the range of a plot in one direction, with its ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median
from typing import Literal

from sfumato.reports.plots.svg import text_width

Amount = float | Literal["inf"]
"""A loss or a risk in plain data: JSON has no number for infinity."""

SPACE = "\N{NO-BREAK SPACE}"
_FAR_APART = 200
"""If the largest amount is more than this many times the median, a linear axis would hide all but the largest."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NARROWEST = 290
"""The width of a plot on a phone, in pixels: labels must fit beside each other there."""


_EPOCH = date(1970, 1, 1).toordinal()
_MONTH = 30.4
"""About the days of a month."""


@dataclass(frozen=True)
class Axis:
    """A range from `low` to `high` with ticks. Where `low` is the larger, the axis runs backwards."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]] = ()
    title: str = ""
    grid: bool = True
    log: bool = False
    """Whether values have their place by their logarithm; `low`, `high` and the ticks are powers of ten then."""

    def place(self, value: float) -> float:
        """Return where a value lies, as a fraction of the way from `low` to `high`."""
        return ((math.log10(value) if self.log else value) - self.low) / (self.high - self.low)


def number_axis(
    low: float,
    high: float,
    title: str = "",
    *,
    count: int = 5,
    percent: bool = False,
    grid: bool = True,
    whole: bool = False,
) -> Axis:
    """Return a linear axis with about `count` ticks at round numbers.

    `percent`: the numbers are shares. `whole`: ticks are at integers only.

    >>> [text.replace(SPACE, " ") for _, text in number_axis(0, 0.62, percent=True).ticks]
    ['0 %', '20 %', '40 %', '60 %']
    >>> [text for _, text in number_axis(0, 3, whole=True).ticks]
    ['0', '1', '2', '3']
    """
    if not high > low:
        high = low + (abs(low) or 1.0)
    step = _round_step((high - low) / count)
    if whole:
        step = max(1.0, math.ceil(step))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last - first > 4 * count:  # float steps vanish beside numbers of a much larger size
        first, last, step = 0, 1, high
    values = [number * step for number in range(first, last + 1)]
    labels = [_percent(value, step) if percent else number_text(value, step) for value in values]
    return Axis(low, high, tuple(zip(values, labels, strict=True)), title, grid)


def date_axis(low: float, high: float, title: str = "", *, count: int = 5) -> Axis:
    """Return an axis of days since 1970-01-01 with about `count` ticks at the first days of years or months, or at days.

    >>> [text for _, text in date_axis(0, 1500).ticks], [text for _, text in date_axis(0, 4, count=2).ticks]
    (['1970', '1971', '1972', '1973', '1974'], ['1970-01-01', '1970-01-03', '1970-01-05'])
    """
    first, last = (_day(number) for number in (low, high))
    months = max(1, round((high - low) / _MONTH / count))
    if high - low > count * _MONTH:
        months = next((step for step in (1, 2, 3, 6) if step >= months), 12 * max(1, round(months / 12)))
        start = first.year * 12 + first.month - 1
        numbers = range(-(-start // months) * months, last.year * 12 + last.month, months)
        days = [date(number // 12, number % 12 + 1, 1) for number in numbers if number >= 12]
        texts = [f"{day.year:04}" if months % 12 == 0 else day.isoformat()[:7] for day in days]
    else:
        step = max(1, round((high - low) / count))
        days = [date.fromordinal(number) for number in range(first.toordinal(), last.toordinal() + 1, step)]
        texts = [day.isoformat() for day in days]
    places = [float(day.toordinal() - _EPOCH) for day in days]
    ticks = tuple((place, text) for place, text in zip(places, texts, strict=True) if low <= place <= high)
    return Axis(low, high, ticks, title)


def _day(number: float) -> date:
    return date.fromordinal(min(max(math.floor(number) + _EPOCH, 1), date.max.toordinal()))


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next((step * power for step in (1, 2, 2.5, 5) if step * power >= least * (1 - 1e-9)), 10 * power)


def _percent(share: float, step: float) -> str:
    decimals = _decimals(100 * step)
    return f"{100 * share:.{decimals}f}{SPACE}%"


def _decimals(step: float) -> int:
    """Return how many decimals multiples of a step need: that of 2.5 one more than that of 2."""
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    scaled = step * 10.0**decimals
    return decimals + int(abs(scaled - round(scaled)) > 1e-6)


def number_text(value: float, step: float) -> str:
    """Return a tick's number, with the decimals that its step needs, or as a power of ten where it is very large."""
    if value and abs(value) >= 1e9:
        mantissa, exponent = f"{value:.3g}".split("e") if "e" in f"{value:.3g}" else (f"{value:.3g}", "0")
        return f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
    if step < 1e-6:
        return f"{value:.2g}"
    decimals = _decimals(step)
    return f"{value:,.{decimals}f}".replace("-", "−")


def name_axis(names: Sequence[str], title: str = "", *, grid: bool = False, every: int = 1, backwards: bool = False) -> Axis:
    """Return an axis of names, the first at 0, the next at 1, and so on; only each `every`-th is written.

    `backwards`: the first name is on top of a vertical axis.
    """
    low, high = -0.5, len(names) - 0.5
    ticks = tuple((float(place), names[place]) for place in range(0, len(names), every))
    return Axis(high, low, ticks, title, grid) if backwards else Axis(low, high, ticks, title, grid)


def fitting_step(names: Sequence[str], size: float = 11) -> int:
    """Return the step at which names can be written beside each other even on a phone.

    >>> fitting_step(["1", "2", "3"]), fitting_step(["a long name indeed"] * 8)
    (1, 4)
    """
    widest = max((text_width(name, size) for name in names), default=0.0)
    return max(1, math.ceil(len(names) * (widest + 7) / _NARROWEST))


def needs_log(values: Sequence[Amount]) -> bool:
    """Return whether only a logarithmic axis shows all values: the largest is far above the median of the positive ones.

    >>> needs_log([0, 1, 10]), needs_log([0, 1, 2, 1000])
    (False, True)
    """
    positive = [value for value in values if value != "inf" and value > 0]
    return bool(positive) and max(positive) > _FAR_APART * median(positive)


def amount_axis(values: Sequence[Amount], title: str, *, grid: bool = True) -> Axis:
    """Return an axis for losses or risks: from 0 in equal steps, or logarithmic where they lie far apart."""
    positive = [float(value) for value in values if value != "inf" and value > 0]
    if not needs_log(values):
        return number_axis(0.0, 1.06 * max(positive, default=1.0), title, grid=grid)
    low, high = math.log10(min(positive)), math.log10(max(positive))
    room = 0.06 * (high - low)
    step = max(1, math.ceil((high - low) / 6))
    powers = range(math.ceil(low - room), math.floor(high + room) + 1, step)
    ticks = tuple((float(power), f"10{str(power).translate(_SUPERSCRIPTS)}") for power in powers)
    return Axis(low - room, high + room, ticks, title, grid, log=True)


def drawable(values: Sequence[Amount], axis: Axis) -> list[float | None]:
    """Return values as a plot takes them: None where one is infinite, or has no place on a logarithmic axis."""
    return [float(value) if value != "inf" and (value > 0 or not axis.log) else None for value in values]
