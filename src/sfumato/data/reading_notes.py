"""Remarks on how a column was read, where that was a guess, or where values may mean the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.date_formats import date_doubt
from sfumato.data.number_texts import PLAIN_NUMBER, THOUSANDS, have_decimal_commas, same_number, with_points
from sfumato.data.text_values import same_but_for_case, text_value
from sfumato.exact.numbers import Numbers, parse_decimal

_FAR = 10_000
"""A number this many times farther away than the range of most others is rather a code for missing."""

_MANY_ROWS = 100
"""In a column with fewer numbers nothing is said about extreme ones."""


def note_on_dates(name: str, cells: Sequence[Any], place_of: Callable[[int], str]) -> str | None:
    """Return a remark if a column that was inferred as categorical is mostly dates.

    `cells`: its distinct cells; `place_of`: where a cell is, by its position, such as "row 3".
    """
    doubt = date_doubt(list(cells)) if cells and type(cells[0]) is str else None
    if doubt is None:
        return None
    return (
        f"column {name!r} is taken as categorical, though {doubt.reason}: {place_of(doubt.position)} is "
        f"{cells[doubt.position]!r}; declare its kind or format to be sure"
    )


def note_on_numbers(name: str, cells: Sequence[str], place_of: Callable[[int], str]) -> str | None:
    """Return a remark if a text column that was inferred as categorical is mostly numbers.

    One odd cell may have decided that. Codes of one length, such as 01234, are taken to be codes.
    """
    plain = list(dict.fromkeys(cell.strip() for cell in cells))
    twins = same_number(with_points(plain) if have_decimal_commas(plain) else plain)
    if twins is not None:
        return (
            f"column {name!r} is taken as categorical, though its values look like numbers: {twins[0]!r} and "
            f"{twins[1]!r} would be one; declare its kind to be sure"
        )
    commas = [cell for cell in plain if THOUSANDS.fullmatch(cell)]
    if commas and all(THOUSANDS.fullmatch(cell) or PLAIN_NUMBER.fullmatch(cell) for cell in plain):
        return (
            f"column {name!r} is taken as categorical, though its values look like numbers: the comma in {commas[0]!r} may "
            'be a decimal mark or separate thousands; declare decimal = ",", or remove the commas'
        )
    odd = [i for i, cell in enumerate(cells) if parse_decimal(cell) is None]
    if not odd and len({len(cell) for cell in cells}) > 1:
        odd = [i for i, cell in enumerate(cells) if not PLAIN_NUMBER.fullmatch(cell.strip())]
    if not odd or 2 * len(odd) >= len(cells):
        return None
    return (
        f"column {name!r} is taken as categorical, though most of its values are numbers: {place_of(odd[0])} is "
        f"{cells[odd[0]]!r}; declare its kind to be sure"
    )


def note_on_extremes(name: str, numbers: Numbers, counts: NDArray[np.int64]) -> str | None:
    """Return a remark if one extreme number is so far away that it is rather a code for missing, such as 10^18.

    `counts`: the number of rows of each code. Intervals are measured by the range of the column: such a number makes all of
    them look narrow.
    """
    upto = np.cumsum(counts[: len(numbers)])
    present = int(upto[-1])
    if present < _MANY_ROWS:
        return None
    ranks = [int(share * (present - 1)) for share in (0.01, 0.99)]
    most = [int(numbers.integers[np.searchsorted(upto, rank, side="right")]) for rank in ranks]
    reach = _FAR * max(1, most[1] - most[0])
    for code in (0, len(numbers) - 1):
        if not most[0] - reach <= int(numbers.integers[code]) <= most[1] + reach:
            return (
                f"the value {numbers.label(code)} of column {name!r} is very far from the others; if it means missing, list "
                "it under missing.values"
            )
    return None


def note_on_case(name: str, texts: Sequence[str]) -> str | None:
    """Return a remark if two values differ only in letter case.

    >>> note_on_case("ill", ["flu", "gout"])
    """
    twins = same_but_for_case(texts)
    if twins is None:
        return None
    return (
        f"values of column {name!r} differ only in letter case and count as different ones: {twins[0]!r} and {twins[1]!r}; "
        "make them equal if they mean the same"
    )


def note_on_blanks(name: str, cells: Sequence[Any]) -> str | None:
    """Return a remark if one value of a sensitive column is written with and without blanks, or in two Unicode forms.

    Sensitive cells are published as they are written. Blanks that one source of the rows adds reveal the source.

    >>> note_on_blanks("ill", ["flu", "gout", "flu "]).partition(":")[0]
    "values of column 'ill' differ only in blanks or Unicode form"
    >>> note_on_blanks("ill", ["flu", " gout"])
    """
    first: dict[str, str] = {}
    for cell in cells:
        if isinstance(cell, str) and first.setdefault(text_value(cell), cell) != cell:
            return (
                f"values of column {name!r} differ only in blanks or Unicode form: {first[text_value(cell)]!r} and {cell!r} "
                "count as one value, but are published as they are written, which may reveal where or when a row was "
                "entered; write them alike"
            )
    return None


def note_on_spellings(name: str, texts: Sequence[str], plural: str) -> str | None:
    """Return a remark if two identifiers of people or households may be one, written differently.

    Each spelling counts as somebody else, so a group seems to contain more people than it does.

    >>> note_on_spellings("patient", ["17", "017"], "people")
    "identifiers of column 'patient' differ only in how they are written and count as different people: '17' and '017'; \
make them equal if they mean the same"
    >>> note_on_spellings("patient", ["17", "18"], "people")
    """
    first_spelling: dict[Any, str] = {}
    for text in texts:
        number = parse_decimal(text)
        other = first_spelling.setdefault(text.casefold() if number is None else number, text)
        if other != text:
            return (
                f"identifiers of column {name!r} differ only in how they are written and count as different {plural}: "
                f"{other!r} and {text!r}; make them equal if they mean the same"
            )
    return None
