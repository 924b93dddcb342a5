"""Numbers with their nouns, for messages."""

from __future__ import annotations


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> count_of(1, "row"), count_of(2000, "row"), count_of(2, "query", "queries")
    ('1 row', '2,000 rows', '2 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
