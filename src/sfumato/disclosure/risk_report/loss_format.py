"""Losses and risks as text: they have no unit, may be of any size, and may be infinite."""

from __future__ import annotations

from sfumato.reports.plots.axes import Amount


def amount(value: Amount | None) -> str:
    """Return a loss or a risk as text; an empty text for None.

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
