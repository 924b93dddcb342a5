"""Workloads: random count queries over quasi-identifiers and sensitive columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Domain, RecodingKind, domains_of
from sfumato.anonymization.recoding.domain import domain_of
from sfumato.data.table import Table, unknown_column
from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import Number, as_fraction


@dataclass(frozen=True, eq=False)
class Workload:
    """Count queries: each counts the rows whose values lie within given ranges of several columns.

    The columns are the quasi-identifiers, then the sensitive ones. Query q accepts the places from `low[q, column]` up to,
    not including, `high[q, column]` in the columns where `column_mask[q, column]` is true. A missing value matches no range.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> len(Workload.random(example()[0], queries=100, qd=1, qs=1))
    100
    >>> Workload.from_queries(example()[0], [{"age": (20, 30), "income": (20, 40)}, {"city": "Lyon"}]).describe(0)
    'age in [20, 30] and income in [20, 40]'
    """

    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    column_mask: NDArray[np.bool_]
    selectivity: Fraction | None = None
    """The selectivity that the queries were drawn for; None if they were not drawn."""
    seed: int | None = None

    @classmethod
    def random(
        cls, table: Table, queries: int = 1000, qd: int = 3, qs: int = 2, selectivity: Number = "0.1", seed: int = 0
    ) -> Workload:
        """Draw queries as in Wang & Liu (2010), Section VI. The same table and seed give the same queries.

        Each query picks `qd` quasi-identifiers and `qs` sensitive columns, and in each a range whose start is uniform. Its
        length is |A|·s^(1/q), q = qd + qs: if all columns were uniform and independent, a query would match a share of s,
        the selectivity, of the rows. |A| is the number of places, as in the paper's Table III, and the length is rounded to
        the nearest whole number of places, at least one. Columns without values are not picked.
        """
        return cls.over_domains(*queried_columns(table), queries, qd, qs, selectivity, seed)

    @classmethod
    def over_domains(
        cls,
        quasi: tuple[Domain, ...],
        sensitive: tuple[Domain, ...],
        queries: int,
        qd: int,
        qs: int,
        selectivity: Number,
        seed: int,
    ) -> Workload:
        """Draw queries over given domains; see `random`."""
        share = as_fraction(selectivity, "selectivity")
        if not 0 < share <= 1:
            raise ParameterError(
                f"invalid selectivity {selectivity!r}: it must be above 0 and at most 1",
                remedy='Write a share of the rows such as "0.1".',
                key="selectivity",
                value=selectivity,
            )
        domains = [*quasi, *sensitive]
        # the columns to pick from; a column without values has no place to accept
        with_values = np.array([domain.size > 0 for domain in domains], bool)
        pools = [np.flatnonzero(with_values[: len(quasi)]), len(quasi) + np.flatnonzero(with_values[len(quasi) :])]
        for name, wanted, pool in (("qd", qd, pools[0]), ("qs", qs, pools[1])):
            if not 0 <= wanted <= len(pool):
                raise ParameterError(
                    f"invalid {name} {wanted}: there are {len(pool)} such columns with values",
                    remedy=f"Write a number from 0 to {len(pool)}.",
                    key=name,
                    value=wanted,
                )
        if qd + qs == 0 or queries < 1:
            raise _no_queries(queries)
        draw = np.random.default_rng(seed)
        shape = (queries, len(domains))
        low, high, column_mask = np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape, bool)
        # all queries have the same number of columns, so a column's range always has the same length
        lengths = [_length(domain.size, share, qd + qs) if domain.size else 0 for domain in domains]
        for query in range(queries):
            picked = [draw.choice(pool, wanted, replace=False) for wanted, pool in ((qd, pools[0]), (qs, pools[1]))]
            for column in np.concatenate(picked).astype(np.int64):
                column_mask[query, column] = True
                low[query, column] = draw.integers(domains[column].size - lengths[column] + 1)
                high[query, column] = low[query, column] + lengths[column]
        return cls(quasi, sensitive, low, high, column_mask, share, seed)

    @classmethod
    def from_queries(cls, table: Table, queries: Sequence[Mapping[str, Any]]) -> Workload:
        """Return a workload of given queries: each maps columns to their first and last value, or to a single value."""
        quasi, sensitive = queried_columns(table)
        domains = {domain.name: domain for domain in (*quasi, *sensitive)}
        names = list(domains)
        places = {name: {domain.label(place): place for place in range(domain.size)} for name, domain in domains.items()}
        shape = (len(queries), len(names))
        low, high, column_mask = np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape, bool)
        for number, query in enumerate(queries):
            for name, ends in query.items():
                if name not in places:
                    raise unknown_column(name, names, table.source)
                first, last = ends if isinstance(ends, tuple | list) else (ends, ends)
                for value in (first, last):
                    if str(value) not in places[name]:
                        raise ColumnError(
                            f"{value!r} is not a value of the domain",
                            remedy="Use values that occur, or that the hierarchy or the order lists.",
                            column=name,
                            value=value,
                        )
                column = names.index(name)
                column_mask[number, column] = True
                # half-open: the last value is included
                low[number, column], high[number, column] = places[name][str(first)], places[name][str(last)] + 1
                if low[number, column] >= high[number, column]:
                    raise ColumnError(
                        f"{first!r} comes after {last!r}", remedy="Write the first value first.", column=name, value=ends
                    )
        if not queries:
            raise _no_queries(0)
        return cls(quasi, sensitive, low, high, column_mask)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The domains of all columns, quasi-identifiers first."""
        return (*self.quasi, *self.sensitive)

    @property
    def qd(self) -> int:
        """The largest number of quasi-identifiers in a query."""
        return int(self.column_mask[:, : len(self.quasi)].sum(axis=1).max(initial=0))

    @property
    def qs(self) -> int:
        """The largest number of sensitive columns in a query."""
        return int(self.column_mask[:, len(self.quasi) :].sum(axis=1).max(initial=0))

    def __len__(self) -> int:
        return len(self.low)

    def describe(self, query: int) -> str:
        """Return a query as text."""
        parts = []
        for column in np.flatnonzero(self.column_mask[query]).tolist():
            domain, low, high = self.domains[column], int(self.low[query, column]), int(self.high[query, column])
            if domain.recoding is RecodingKind.INTERVAL and high - low != 1:
                parts.append(f"{domain.name} in [{domain.label(low)}, {domain.label(high - 1)}]")
            else:
                parts.append(f"{domain.name} in {{{'; '.join(map(domain.label, range(low, high)))}}}")
        return " and ".join(parts)


def queried_columns(table: Table) -> tuple[tuple[Domain, ...], tuple[Domain, ...]]:
    """Return the domains that queries are about: those of the quasi-identifiers, and those of the sensitive columns.

    The values of a sensitive column are in the order of its hierarchy or its numbers, in the declared order, or sorted by
    text.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> [[domain.name for domain in domains] for domains in queried_columns(example()[0])]
    [['age', 'city'], ['income']]
    """
    sensitive = dict.fromkeys(table.schema.sensitive_columns())
    return tuple(domains_of(table)), tuple(domain_of(table.column(name)) for name in sensitive)


def _no_queries(queries: int) -> ParameterError:
    return ParameterError(
        "a workload without queries, or of queries without columns",
        remedy="Write 1 or more for queries, and for qd or qs.",
        key="queries",
        value=queries,
    )


@cache
def _length(size: int, share: Fraction, q: int) -> int:
    """Return the whole number nearest to size·share^(1/q), half rounded up, at least 1; decided in whole numbers."""

    def reached(length: int) -> bool:  # length − 1/2 ≤ size·share^(1/q)
        return bool((2 * length - 1) ** q * share.denominator <= share.numerator * (2 * size) ** q)

    length = max(1, round(size * math.pow(share, 1 / q)))
    while length > 1 and not reached(length):
        length -= 1
    while length < size and reached(length + 1):
        length += 1
    return length
