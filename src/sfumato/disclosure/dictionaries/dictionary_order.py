"""The partial order ⪯ between dictionaries: the first has fewer people and knows more of each.

Source: Lebanon et al. (2006), Definition 8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import MISSING, Column
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.disclosure.consistency.consistency import equal_values, present
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.exact import written

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?(e[+-]\d{1,3})?", re.ASCII)
"""A number as it is written, also by Python; not a code such as 0123."""


@dataclass(frozen=True)
class DictionaryOrder:
    """Whether θ ⪯ η; if not, the first individual of θ that shows it. Usable as a condition.

    >>> import pyarrow as pa
    >>> staff = Dictionary(pa.table({"name": ["Ann", "Bob"], "age": [30, 41]}), identity="name", name="staff")
    >>> book = Dictionary(pa.table({"name": ["Ann", "Bob"], "age": [30, 40]}), identity="name", name="book")
    >>> print(staff.precedes(book))
    'staff' does not precede 'book': of 'Bob', the attribute 'age' is '41' in the first and '40' in the second
    """

    theta: str
    """The name of the first dictionary."""
    eta: str
    """The name of the second."""
    holds: bool
    identity: str | None = None
    """The individual that shows that it does not hold."""
    attribute: str | None = None
    """The attribute in which the second dictionary differs; None if it does not have the individual."""
    values: tuple[str, str] | None = None
    """The values of the attribute in the first and the second dictionary."""

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.holds:
            return f"{self.theta!r} precedes {self.eta!r}"
        reason = f"{self.identity!r} is not in the second"
        if self.values is not None:
            one, other = (value if value == MISSING else repr(value) for value in self.values)
            reason = (
                f"of {self.identity!r}, the attribute {self.attribute!r} is {one} in the first and {other} in the second"
            )
        return f"{self.theta!r} does not precede {self.eta!r}: {reason}"


def precedes(
    theta: Dictionary, eta: Dictionary, *, attributes: Sequence[str] | None = None, like: Table | None = None
) -> DictionaryOrder:
    """Check whether θ ⪯ η: every individual of θ is in η, and θ agrees with whatever η knows of them.

    Source: Lebanon et al. (2006), Definition 8. η may have more people and know less of each, like a phone book next to a
    table of employees. The attributes of both count (or those given); a dictionary knows nothing of an attribute that it
    lacks. Individuals are the same if their identities are, or their row numbers where there is no identity column.
    Values are compared as numbers where they are numbers (17 is 17.0, but 012 is a code), or as the kinds of the records
    `like`.

    ⪯ is reflexive and transitive, and, between dictionaries with the same attributes, antisymmetric.

    >>> import pyarrow as pa
    >>> staff = Dictionary(pa.table({"name": ["Ann"], "age": [30], "pay": [100]}), identity="name", name="staff")
    >>> book = Dictionary(pa.table({"name": ["Ann", "Bob"], "age": ["30.0", None]}), identity="name", name="book")
    >>> bool(precedes(staff, book)), str(precedes(book, staff))
    (True, "'book' does not precede 'staff': 'Bob' is not in the second")
    """
    there = eta.find_individuals(theta.identities)
    if (there < 0).any():
        return DictionaryOrder(theta.name, eta.name, False, theta.identities[int(np.argmax(there < 0))])
    first, difference = theta.individuals, None
    for name in dict.fromkeys([*theta.attributes, *eta.attributes] if attributes is None else attributes):
        if name not in eta.attributes:  # η knows nothing of it, so there is nothing to agree with
            continue
        (mine, one), (theirs, other) = _common_numbers(theta, eta, name, like)
        mine_of_row, theirs_of_row = np.append(one, -1)[present(mine)], np.append(other, -1)[present(theirs)[there]]
        differs = (theirs_of_row >= 0) & (mine_of_row != theirs_of_row)
        row = int(np.argmax(differs))
        if differs[row] and row < first:
            first = row
            difference = name, (mine.label(int(mine.codes[row])), theirs.label(int(theirs.codes[there[row]])))
    if difference is None:
        return DictionaryOrder(theta.name, eta.name, True)
    return DictionaryOrder(theta.name, eta.name, False, theta.identities[first], *difference)


def _common_numbers(
    theta: Dictionary, eta: Dictionary, name: str, like: Table | None
) -> list[tuple[Column, NDArray[np.int32]]]:
    """An attribute of both dictionaries, with numbers that are the same for equal values."""
    if like is not None and name in like.data.column_names:
        kind = like.column(name).kind
        mine, theirs = (side.column(name, kind, like.schema) for side in (theta, eta))
        return [(mine, equal_values(mine, theirs)), (theirs, np.arange(theirs.size, dtype=np.int32))]
    columns = [side.column(name, Kind.CATEGORICAL, Schema()) for side in (theta, eta)]
    number_of: dict[str, int] = {}
    numbers = [[number_of.setdefault(_plain(text), len(number_of)) for text in column.texts] for column in columns]
    return [(column, np.array(each, np.int32)) for column, each in zip(columns, numbers, strict=True)]


def _plain(text: str) -> str:
    """A number in its canonical form; any other text as it is."""
    if not _NUMBER.fullmatch(text):
        return text
    return written(Fraction(Decimal(text))) if "." in text or "e" in text or text == "-0" else text
