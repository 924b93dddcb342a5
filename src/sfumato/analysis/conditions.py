"""What a question selects and compares: conditions on columns, and the categories of those that it is asked by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.analysis.model_column import ModelColumn
from sfumato.analysis.released_column import ReleasedColumn
from sfumato.errors import ParameterError
from sfumato.exact import as_fraction, written
from sfumato.releases.cells import interval_end

_SHOWN = 8
"""How many of the known values an error message lists."""


@dataclass(frozen=True)
class Condition:
    """The values of a column that a question accepts: some values, or the numbers from one to another, both included."""

    column: str
    values: tuple[str | None, ...] = ()
    low: Fraction | None = None
    high: Fraction | None = None
    ranged: bool = False

    @classmethod
    def of(cls, column: str, wanted: Any, released: ReleasedColumn) -> Condition:
        """Read a condition: a value, several as a list, or (low, high) for numbers, where None means no limit."""
        numeric = released.numeric
        if isinstance(wanted, tuple) and numeric:
            if len(wanted) != 2:
                raise _invalid(column, wanted, "Write (low, high); None means no limit.")
            low, high = (None if end is None else _number(column, end) for end in wanted)
            return cls(column, low=low, high=high, ranged=True)
        several = isinstance(wanted, Sequence | AbstractSet) and not isinstance(wanted, str)
        values = list(wanted) if several else [wanted]
        if numeric:
            if len(values) != 1 or values[0] is None:
                raise _invalid(column, wanted, "Write a number, or a range (low, high).")
            number = _number(column, values[0])
            return cls(column, low=number, high=number, ranged=True)
        return cls(column, tuple(None if value is None else str(value) for value in values))

    def accepts(self, column: ModelColumn) -> NDArray[np.bool_]:
        """Return for each atom of the column whether its values are accepted."""
        if not self.ranged:
            unknown = [value for value in self.values if value not in column.labels]
            if unknown:
                known = ", ".join("missing" if label is None else repr(label) for label in column.labels[:_SHOWN])
                raise ParameterError(
                    f"no row of the release may have the value {unknown[0]!r} of column {self.column!r}",
                    remedy=f"Its values are: {known}{' …' if column.atoms > _SHOWN else ''}.",
                    key="where", column=self.column, value=unknown[0],
                )  # fmt: skip
            return np.array([label in self.values for label in column.labels])
        assert column.unit is not None
        starts = column.edges[:-1]
        inside = np.ones(len(starts), bool)
        if self.low is not None:
            inside &= starts >= -int(-self.low // column.unit)
        if self.high is not None:
            inside &= starts <= int(self.high // column.unit)
        return np.append(inside, np.zeros(column.atoms - len(starts), bool))

    def text(self) -> str:
        """Return the condition in words."""
        if not self.ranged:
            shown = ["missing" if value is None else repr(value) for value in self.values]
            return f"{self.column} = {shown[0]}" if len(shown) == 1 else f"{self.column} in {{{', '.join(shown)}}}"
        low, high = ("…" if end is None else written(end) for end in (self.low, self.high))
        return f"{self.column} = {low}" if self.low == self.high else f"{self.column} from {low} to {high}"


def _number(column: str, value: Any) -> Fraction:
    if isinstance(value, date):  # a datetime is one, too
        value = value.isoformat()
    days = interval_end(value, dates=True) if isinstance(value, str) else None
    if days is not None:
        return days
    try:
        return as_fraction(value)
    except ParameterError as error:
        raise _invalid(column, value, "Write a number.") from error


def _invalid(column: str, value: Any, remedy: str) -> ParameterError:
    return ParameterError(f"invalid condition {value!r}", remedy=remedy, key="where", column=column, value=value)


def cuts_of(name: str, conditions: Sequence[Condition], bands: Mapping[str, Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """Return the numbers below which, and those above which, the atoms of a column must end."""
    below = [c.low for c in conditions if c.column == name and c.low is not None]
    above = [c.high for c in conditions if c.column == name and c.high is not None]
    return below + [_number(name, cut) for cut in bands.get(name, ())], above


@dataclass(frozen=True, eq=False)
class Categories:
    """The categories of a column that figures are given by: its values, or bands of numbers."""

    labels: tuple[str | None, ...]
    of_atom: NDArray[np.int64]

    @classmethod
    def of(cls, column: ModelColumn, bands: Sequence[Any] | None) -> Categories:
        """Return the categories of a column; `bands`: the numbers at which one band ends and the next begins."""
        if column.unit is None:
            return cls(column.labels, np.arange(column.atoms))
        starts = column.edges[:-1]
        absent = column.atoms - len(starts)
        if bands is None:
            if (column.size > 1).any():
                raise ParameterError(
                    f"column {column.name!r} has too many numbers for figures by each of them",
                    remedy=f"Give the limits of bands, such as bands={{{column.name!r}: [20, 40, 60]}}.",
                    key="bands", column=column.name,
                )  # fmt: skip
            labels = [written(int(start) * column.unit) for start in starts]
            return cls((*labels, *[None] * absent), np.arange(column.atoms))
        limits = sorted({_number(column.name, cut) for cut in bands})
        units = [-int(-limit // column.unit) for limit in limits]
        texts = list(map(written, limits))
        labels = [f"below {texts[0]}"] if texts else ["all"]
        labels += [f"{low} to below {high}" for low, high in pairwise(texts)]
        labels += [f"{texts[-1]} or more"] if texts else []
        band = np.searchsorted(units, starts, side="right")
        return cls((*labels, *[None] * absent), np.append(band, [len(labels)] * absent).astype(np.int64))
