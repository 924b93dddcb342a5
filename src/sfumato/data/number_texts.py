"""Recognise numbers in a file without types: plain numbers, decimal commas, numbers that are written in two ways."""

from __future__ import annotations

import re
from collections.abc import Sequence

PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII)
"""A number without leading zeros: 01234 is a code."""

THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+", re.ASCII)
"""A number whose commas may separate thousands."""

_COMMA_NUMBER = re.compile(r"-?(0|[1-9]\d*)(,\d+)?", re.ASCII)


def are_plain_numbers(texts: Sequence[str]) -> bool:
    """Return whether all texts are plain numbers, and no two are the same number.

    >>> are_plain_numbers(["1", "2.5"]), are_plain_numbers(["01234"]), are_plain_numbers(["250", "250.0"])
    (True, False, False)
    """
    return bool(texts) and all(map(PLAIN_NUMBER.fullmatch, texts)) and same_number(texts) is None


def same_number(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return two plain numbers that are equal and written differently, such as the codes 250.1 and 250.10, or 0 and -0.

    >>> same_number(["7", "0", "-0"])
    ('0', '-0')
    """
    first_spelling: dict[str, str] = {}
    for text in texts:
        if PLAIN_NUMBER.fullmatch(text):
            number = text.rstrip("0").rstrip(".") if "." in text else text
            other = first_spelling.setdefault("0" if number == "-0" else number, text)
            if other != text:
                return other, text
    return None


def have_decimal_commas(texts: Sequence[str]) -> bool:
    """Return whether all texts are plain numbers, some of them with a decimal comma that cannot separate thousands.

    >>> have_decimal_commas(["1,5", "12"]), have_decimal_commas(["1,500", "12"]), have_decimal_commas(["1,5", "1.5"])
    (True, False, False)
    """
    commas = [text for text in texts if "," in text]
    possible = bool(commas) and all(map(_COMMA_NUMBER.fullmatch, texts))
    return possible and not all(map(THOUSANDS.fullmatch, commas))


def with_points(texts: Sequence[str]) -> list[str]:
    """Return numbers with decimal points in place of commas.

    >>> with_points(["1,5"])
    ['1.5']
    """
    return [text.replace(",", ".") for text in texts]
