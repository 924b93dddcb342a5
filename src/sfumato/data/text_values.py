"""When two texts are the same value: composed letters and surrounding blanks are differences of writing, not of meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from unicodedata import normalize


def text_value(text: str) -> str:
    r"""Return a text as one value is written: letters composed (Unicode NFC), no blanks around it.

    Without this, a group with "flu" and "flu " would count as two different secrets.

    >>> text_value("cafe\u0301 ") == "caf\xe9"
    True
    """
    return (text if text.isascii() else normalize("NFC", text)).strip()


def same_but_for_case(values: Iterable[str]) -> tuple[str, str] | None:
    """Return two different values that are equal if letter case is ignored; None if there are none.

    >>> same_but_for_case(["Flu", "gout", "flu"])
    ('Flu', 'flu')
    """
    spellings: dict[str, list[str]] = defaultdict(list)
    for value in values:
        spellings[value.casefold()].append(value)
    return next(((same[0], same[1]) for same in spellings.values() if len(same) > 1), None)
