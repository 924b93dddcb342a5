"""Count the rows that a few columns single out: a row is unique if no other has the same values in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.groups import Groups, combined
from sfumato.data.table import Table

MOST_COLUMNS = 12
"""The most columns that are combined, by entropy. 12 make 220 triples, counted in seconds on 200,000 rows."""

SMALL_GROUP = 5
"""A group of fewer rows is small: the usual k of k-anonymity."""


@dataclass(frozen=True)
class Combination:
    """Some columns, and the number of rows that they single out together.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"age": [30, 30, 41], "sex": ["f", "m", "m"]}), Schema())
    >>> uniqueness_of(table, ["age", "sex"])
    Combination(columns=('age', 'sex'), rows=3, groups=3, unique=3, small=3)
    """

    columns: tuple[str, ...]
    rows: int
    groups: int
    """Distinct combinations of values."""
    unique: int
    """Rows whose combination no other row has."""
    small: int
    """Rows in groups of fewer than five."""

    @property
    def uniqueness(self) -> float:
        """The share of rows whose combination no other row has."""
        return self.unique / self.rows

    def to_dict(self) -> dict[str, Any]:
        """Return the combination as plain data."""
        return {
            "columns": list(self.columns),
            "groups": self.groups,
            "unique": self.unique,
            "share_unique": self.uniqueness,
            "in_small_groups": self.small,
        }


def uniqueness_of(table: Table, columns: Sequence[str]) -> Combination:
    """Count the rows that some columns single out."""
    encoded = [table.column(name) for name in columns]
    if not encoded:
        return Combination((), table.rows, 1, int(table.rows == 1), table.rows if table.rows < SMALL_GROUP else 0)
    numbers, parts = combined([column.codes for column in encoded], [column.domain for column in encoded])
    return _counted(tuple(columns), np.bincount(numbers, minlength=len(parts)))


@dataclass(frozen=True)
class SingledOut:
    """How many people are the only ones with their values in some columns. Made by `singled_out`.

    >>> SingledOut(("age", "sex"), 1200, 30).sentence
    '30 of 1,200 people are the only one with their age and sex'
    """

    columns: tuple[str, ...]
    people: int
    unique: int
    noun: str = "people"
    """What was counted, in the plural: rows, unless the schema declares people or households, count as people."""

    @property
    def share(self) -> float:
        """The share of people who are the only one."""
        return self.unique / self.people

    @property
    def sentence(self) -> str:
        """The same in words."""
        if not self.columns:
            return f"no column distinguishes the {self.people:,} {self.noun}"
        *first, last = self.columns
        names = f"{', '.join(first)} and {last}" if first else last
        verb = "is" if self.unique == 1 else "are"
        return f"{self.unique:,} of {self.people:,} {self.noun} {verb} the only one with their {names}"


def singled_out(table: Table, columns: Sequence[str] | None = None) -> SingledOut:
    """Count the people who are the only ones with their values in some columns: by default the quasi-identifiers.

    Of people with several rows, whoever has at least one row whose values no other person has is singled out.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> data = pa.table({"who": [1, 1, 2, 3], "age": [30, 41, 30, 30]})
    >>> singled_out(Table(data, Schema(["age"], person_id="who"))).sentence
    '1 of 3 people is the only one with their age'
    """
    names = tuple(table.schema.quasi_identifiers if columns is None else columns)
    units = table.units
    if units is None or not names:
        people = table.rows if units is None else units.count
        return SingledOut(names, people, uniqueness_of(table, names).unique if names else int(people == 1), _noun(table))
    groups = Groups.of(table, names)
    alone = groups.heads[groups.of_row] == 1
    return SingledOut(names, units.count, len(np.unique(units.of_row[alone])), units.plural)


def _noun(table: Table) -> str:
    return "rows" if table.units is None else table.units.plural


def most_identifying(table: Table, columns: Sequence[str], listed: int = 5) -> tuple[Combination, ...]:
    """Return, for each size up to three, the combinations that single out most rows, the worst first.

    Every combination of the given columns is counted. Cost: a sort of one integer per row and combination. A row that a pair
    singles out stays unique with a third column, so triples are counted without it.
    """
    found = [
        *(uniqueness_of(table, [name]) for name in columns),
        *_pairs_and_triples({name: table.column(name) for name in columns}, table.rows),
    ]
    sizes = ([one for one in found if len(one.columns) == size] for size in (1, 2, 3))
    return tuple(
        one for size in sizes for one in sorted(size, key=lambda c: (-c.unique, -c.small, -c.groups, c.columns))[:listed]
    )


def _pairs_and_triples(columns: dict[str, Column], rows: int) -> list[Combination]:
    found = []
    names = list(columns)
    for first, second in combinations(names, 2):
        pair, parts = combined([columns[n].codes for n in (first, second)], [columns[n].domain for n in (first, second)])
        sizes = np.bincount(pair, minlength=len(parts))
        found.append(_counted((first, second), sizes))
        # rows that the pair singles out are unique in every triple with it: only the others are counted again
        single = int((sizes == 1).sum())
        left = np.flatnonzero(sizes[pair] > 1)
        pair = pair[left]
        for third in names[names.index(second) + 1 :]:
            if len(left):
                codes = columns[third].codes[left]
                numbers, triples = combined([pair.astype(np.int32), codes], [len(parts), columns[third].domain])
                more = np.bincount(numbers, minlength=len(triples))
            else:
                more = np.zeros(0, np.int64)
            found.append(_counted((first, second, third), more, single, rows))
    return found


def _counted(columns: tuple[str, ...], sizes: NDArray[np.int64], single: int = 0, rows: int | None = None) -> Combination:
    """Return a combination from the sizes of its groups, and the number of rows that are known to be unique."""
    return Combination(
        columns,
        int(sizes.sum()) if rows is None else rows,
        len(sizes) + single,
        int((sizes == 1).sum()) + single,
        int(sizes[sizes < SMALL_GROUP].sum()) + single,
    )
