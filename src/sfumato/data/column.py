"""One encoded column: integer codes over a dictionary of distinct values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Kind
from sfumato.exact.date_numbers import DateNumbers
from sfumato.exact.numbers import Numbers
from sfumato.plurals import count_of
from sfumato.storage import stored

MISSING = "(missing)"
"""The label of a missing value."""

_MARKS = re.compile(r'[;,{}"]')
"""Characters that have a meaning in a published set or interval."""


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """One encoded column: `values[codes[row]]` is the row's value.

    The values are in the order of their kind: numbers ascending, an ordinal's as declared, all others by text. If cells
    are missing, they have one more code, the last. `codes` is read-only, because several tables may share it.
    """

    name: str
    kind: Kind
    codes: NDArray[np.int32]
    labels: Callable[[int], str]
    """Returns the label of a code; not defined for the code of missing cells."""
    size: int
    """The number of distinct values, missing not included."""
    has_missing: bool
    numbers: Numbers | None = None
    """The values of a numeric column, or of a column of dates as days."""
    texts: Sequence[str] = ()
    """The values of a categorical, ordinal or text column."""
    sets: Sequence[frozenset[str]] = ()
    """The values of a set-valued column."""
    decimal_comma: bool = False
    """Whether the cells of a numeric column are texts with decimal commas."""
    hierarchy: Hierarchy | None = None
    format: str | None = None
    """The format of a column of dates, declared or detected; None if they are written in ISO 8601."""
    note: str | None = None
    """A remark for the reader on how the column was interpreted."""
    source: str | None = None
    """The file that it was read from, for errors."""
    tally: NDArray[np.int64] | None = None
    """The number of rows of each code, if the rows are elsewhere: then `codes` are not those of rows."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", stored(self.codes))
        self.codes.flags.writeable = False

    def __repr__(self) -> str:
        """Show the kind and the size, never cells."""
        return f"<Column {self.name!r}: {self.kind}, {count_of(self.size, 'distinct value')}>"

    @property
    def domain(self) -> int:
        """The number of codes, the one of missing cells included."""
        return self.size + self.has_missing

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of rows of each code."""
        return np.bincount(self.codes, minlength=self.domain) if self.tally is None else self.tally

    @property
    def timezone(self) -> str | None:
        """The time zone of a column of points in time; None for any other column."""
        return self.numbers.zone if isinstance(self.numbers, DateNumbers) else None

    def label(self, code: int) -> str:
        """Return a value as it is displayed."""
        return MISSING if code == self.size else self.labels(code)

    def value(self, code: int) -> Any:
        """Return a value as a Python object: number (a Fraction if a float would round), date, str, frozenset, or None."""
        if code == self.size:
            return None
        if self.numbers is not None:
            return self.numbers.value(code)
        return self.sets[code] if self.sets else self.texts[code]

    @cached_property
    def paths(self) -> NDArray[np.int32] | None:
        """For each code and level the node of the hierarchy; a missing value has nodes of its own below the root."""
        if self.hierarchy is None:
            return None
        labels = [self.labels(code) for code in range(self.size)]
        if self.numbers is not None and tuple(labels) != self.hierarchy.leaves:
            # the leaf may be written 1.50 where the label is 1.5
            leaves = {leaf: self.numbers.parse(leaf) for leaf in self.hierarchy.leaves}
            same = {number: leaf for leaf, number in leaves.items() if number is not None}
            labels = [same.get(self.numbers[code], label) for code, label in enumerate(labels)]
        paths = self.hierarchy.over(labels, self.name)
        if self.has_missing:
            own = [len(nodes) for nodes in self.hierarchy.labels[:-1]] + [0]
            paths = np.vstack([paths, np.array([own], np.int32)])
        return paths

    def has_dictionary_of(self, other: Column) -> bool:
        """Whether both columns give the same codes to the same values, when one was taken from the other."""
        return self.size == other.size and self.has_missing == other.has_missing and self.hierarchy is other.hierarchy

    def take(self, rows: NDArray[np.int64]) -> Column:
        """Return the column of some rows. Its dictionary contains only values that occur; an ordinal keeps its order.

        The result equals a new encoding of these cells under the same kind, at the cost of indexing. The hierarchy is the
        same object: a caller whose hierarchy is built from the values must build it again.

        >>> from sfumato import Schema, Table
        >>> import pyarrow as pa
        >>> column = Table(pa.table({"x": [5, 7, 9, None]}), Schema()).column("x").take(np.array([2, 0]))
        >>> column.codes.tolist(), column.label(1), column.has_missing
        ([1, 0], '9', False)
        """
        codes = self.codes[rows]
        occurs = np.bincount(codes, minlength=self.domain) > 0
        has_missing = self.has_missing and bool(occurs[self.size])
        if self.kind is Kind.ORDINAL or occurs[: self.size].all():
            return replace(self, codes=codes, has_missing=has_missing)
        kept = np.flatnonzero(occurs[: self.size])
        position = (np.cumsum(occurs) - 1).astype(np.int32)  # the missing code is the last one before and after
        numbers = None if self.numbers is None else self.numbers.take(kept)
        texts = [self.texts[code] for code in kept.tolist()] if self.texts else ()
        labels = [self.labels(code) for code in kept.tolist()] if numbers is None else ()
        return replace(
            self,
            codes=position[codes],
            has_missing=has_missing,
            size=len(kept),
            numbers=numbers,
            texts=texts,
            sets=[self.sets[code] for code in kept.tolist()] if self.sets else (),
            labels=labels.__getitem__ if numbers is None else numbers.label,
        )


def as_member(text: str) -> str:
    """Write a text as a member of a set `{a; b}` or an end of an interval: quoted where it would be ambiguous otherwise.

    >>> as_member("[70-80)"), as_member("a; b"), as_member('the "old" one'), as_member("*")
    ('[70-80)', '"a; b"', '"the ""old"" one"', '"*"')
    """
    return in_quotes(text) if text in ("", "*") or text != text.strip() or _MARKS.search(text) else text


def in_quotes(text: str) -> str:
    """Write a text in double quotes, with quotes inside it doubled.

    >>> in_quotes("*")
    '"*"'
    """
    return '"' + text.replace('"', '""') + '"'
