"""Numbers with their nouns, for messages."""

from __future__ import annotations


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> count_of(1, "row"), count_of(2000, "row"), count_of(2, "query", "queries")
    ('1 row', '2,000 rows', '2 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def figure_of(number: float, digits: int = 4) -> str:
    """Return a number for a sentence, with this many digits, but never with a power of ten.

    >>> figure_of(7.4462), figure_of(50_002.0), figure_of(1.1067, 3)
    ('7.446', '50,002', '1.11')
    """
    return f"{number:,.0f}" if abs(number) >= 10 ** (digits - 1) else f"{number:.{digits}g}"
