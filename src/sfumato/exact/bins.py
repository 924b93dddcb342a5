"""Bins with round edges, for histograms that a person reads."""

from __future__ import annotations

from fractions import Fraction

_SMALL_STARTS = (1, 2, 3, 5)
"""Where the bins of sizes start below 10. From 10 on they start at 1, 2 and 5 times each power of ten."""


def _exponent(number: Fraction) -> int:
    """Return the exponent of the largest power of ten up to a positive number, also if it has no float.

    >>> _exponent(Fraction(10**400)), _exponent(Fraction(999)), _exponent(Fraction(1, 10**400))
    (400, 2, -400)
    """
    exponent = len(str(number.numerator)) - len(str(number.denominator))
    return exponent if Fraction(10) ** exponent <= number else exponent - 1


def round_width(least: Fraction) -> Fraction:
    """Return the smallest of 1, 2 and 5 times a power of ten that is at least `least`.

    >>> [str(round_width(Fraction(text))) for text in ("0.03", "2", "73")]
    ['1/20', '2', '100']
    """
    power = Fraction(10) ** _exponent(least)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)


def size_bins(largest: int) -> tuple[list[int], list[str]]:
    """Return the bins of sizes from 1 up to `largest`: where each starts, and its label.

    The last bin ends at a round number too: the largest size itself would be an exact figure of the data.

    >>> size_bins(12)
    ([1, 2, 3, 5, 10], ['1', '2', '3–4', '5–9', '10–19'])
    """
    starts = _starts(largest)
    ends = [*(start - 1 for start in starts[1:]), _last_size(starts[-1])]
    return starts, [f"{start:,}" if start == end else f"{start:,}–{end:,}" for start, end in zip(starts, ends, strict=True)]


def size_bin_start(size: int) -> int:
    """Return the smallest size of the bin that contains `size`.

    >>> size_bin_start(4), size_bin_start(17)
    (3, 10)
    """
    return _starts(size)[-1]


def _starts(largest: int) -> list[int]:
    starts, power = list(_SMALL_STARTS), 10
    while power <= largest:
        starts += [power, 2 * power, 5 * power]
        power *= 10
    return [start for start in starts if start <= largest]


def _last_size(start: int) -> int:
    """Return the last size of the bin that starts here."""
    if start < _SMALL_STARTS[-1]:
        return {1: 1, 2: 2, 3: 4}[start]
    digits = str(start)
    return {"1": 2, "2": 5, "5": 10}[digits[0]] * int("1" + "0" * (len(digits) - 1)) - 1
