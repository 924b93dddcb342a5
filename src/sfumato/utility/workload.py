"""Workloads: random count queries over quasi-identifiers and sensitive columns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterProblem
from sfumato.exact import Number, as_fraction
from sfumato.recoding import Domain, How, domains_of
from sfumato.recoding.domain import domain_of
from sfumato.table import Table


@dataclass(frozen=True, eq=False)
class Workload:
    """Count queries: each asks how many rows have their values within a stretch of the domain, in several columns at once.

    The columns are the quasi-identifiers and then the sensitive ones. A query asks for the places from `low` up to, not
    including, `high` of the columns that are `asked`. A missing value is within no stretch.

    >>> from sfumato.utility.example import example
    >>> workload = Workload.random(example()[0], queries=2, qd=1, qs=1, selectivity="0.25", seed=4)
    >>> len(workload), workload.describe(0)
    (2, 'age in [20, 30] and income in [20, 40]')
    """

    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    asked: NDArray[np.bool_]
    selectivity: Fraction
    seed: int

    @classmethod
    def random(
        cls, table: Table, queries: int = 1000, qd: int = 3, qs: int = 2, selectivity: Number = "0.1", seed: int = 0
    ) -> Workload:
        """Draw queries of the form of paper 001, Section VI: the same table and seed, the same queries.

        Each picks `qd` quasi-identifiers and `qs` sensitive columns, and in each a stretch that is as likely to begin
        anywhere. Its length is |A|·s^(1/q), q = qd + qs: were all columns even and independent, a query would match a share
        of s, the selectivity, of the rows. |A| is the number of places, as in the paper's Table III, and the length is
        rounded to the nearest whole number of places, at least one. Columns without any value are not picked.
        """
        share = as_fraction(selectivity, "selectivity")
        if not 0 < share <= 1:
            raise ParameterProblem(
                f"selectivity = {selectivity!r} is not above 0 and at most 1",
                remedy='Write a share of the rows such as "0.1".',
                key="selectivity",
                value=selectivity,
            )
        quasi, sensitive = queried_columns(table)
        domains = [*quasi, *sensitive]
        with_values = np.array([domain.size > 0 for domain in domains], bool)
        pools = [np.flatnonzero(with_values[: len(quasi)]), len(quasi) + np.flatnonzero(with_values[len(quasi) :])]
        for name, wanted, pool in (("qd", qd, pools[0]), ("qs", qs, pools[1])):
            if not 0 <= wanted <= len(pool):
                raise ParameterProblem(
                    f"{name} = {wanted}, and there are {len(pool)} such columns with values",
                    remedy=f"Write a number from 0 to {len(pool)}.",
                    key=name,
                    value=wanted,
                )
        if qd + qs == 0 or queries < 1:
            raise ParameterProblem(
                "a workload without queries, or of queries that ask for nothing",
                remedy="Write 1 or more for queries, and for qd or qs.",
                key="queries",
                value=queries,
            )
        draw = np.random.default_rng(seed)
        shape = (queries, len(domains))
        low, high, asked = np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape, bool)
        lengths = [_length(domain.size, share, qd + qs) if domain.size else 0 for domain in domains]
        for query in range(queries):
            picked = [draw.choice(pool, wanted, replace=False) for wanted, pool in ((qd, pools[0]), (qs, pools[1]))]
            for column in np.concatenate(picked).astype(np.int64):
                asked[query, column] = True
                low[query, column] = draw.integers(domains[column].size - lengths[column] + 1)
                high[query, column] = low[query, column] + lengths[column]
        return cls(quasi, sensitive, low, high, asked, share, seed)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The domains of all columns, quasi-identifiers first."""
        return (*self.quasi, *self.sensitive)

    def __len__(self) -> int:
        return len(self.low)

    def describe(self, query: int) -> str:
        """A query in words."""
        parts = []
        for column in np.flatnonzero(self.asked[query]).tolist():
            domain, low, high = self.domains[column], int(self.low[query, column]), int(self.high[query, column])
            if domain.how is How.INTERVAL and high - low > 1:
                parts.append(f"{domain.name} in [{domain.label(low)}, {domain.label(high - 1)}]")
            else:
                parts.append(f"{domain.name} in {{{'; '.join(map(domain.label, range(low, high)))}}}")
        return " and ".join(parts)


def queried_columns(table: Table) -> tuple[tuple[Domain, ...], tuple[Domain, ...]]:
    """The domains that queries are about: those of the quasi-identifiers, and of the sensitive columns.

    A sensitive column's values stand in the order of its hierarchy, of its numbers, as declared, or by text.

    >>> from sfumato.utility.example import example
    >>> [[domain.name for domain in domains] for domains in queried_columns(example()[0])]
    [['age', 'city'], ['income']]
    """
    sensitive = dict.fromkeys(table.schema.sensitive_columns())
    return tuple(domains_of(table)), tuple(domain_of(table.column(name)) for name in sensitive)


@cache
def _length(size: int, share: Fraction, q: int) -> int:
    """The whole number nearest to size·share^(1/q), half rounded up, at least 1: decided without rounding on the way."""

    def reached(length: int) -> bool:  # length − 1/2 ≤ size·share^(1/q)
        return (Fraction(2 * length - 1, 2 * size)) ** q <= share

    length = max(1, round(size * float(share) ** (1 / q)))
    while length > 1 and not reached(length):
        length -= 1
    while length < size and reached(length + 1):
        length += 1
    return length
