"""Count queries answered from a release, and the errors of the answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Recoding
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.anonymization.utility.workload import Workload
from sfumato.data.groups import stable_order
from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction, written
from sfumato.kernels.query_counts import count_matches, count_queries

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95)
"""The quantiles of the relative errors that are reported."""


@dataclass(frozen=True, eq=False)
class QueryErrors:
    """The answers to a workload, and their relative errors |estimate − raw| / raw.

    A query that no row matches has no relative error; Wang & Liu (2010) do not say how they treat such queries. Here they
    are left out of `mean`, `median` and `quantiles`, and counted in `zeros`. `bounded_mean` is the mean over all queries of
    |estimate − raw| / max(raw, bound), where `bound` is the sanity bound. `pooled` is a ratio of sums. If no query has a
    relative error, the figures are None.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> table, recoding = example()
    >>> errors = query_errors(recoding, Workload.from_queries(table, [{"city": "Nice"}, {"age": 30, "income": 10}]))
    >>> errors.raw.tolist(), errors.estimate.tolist(), errors.zeros, errors.mean
    ([1, 0], [1.0, 0.5], 1, 0.0)
    """

    workload: Workload
    raw: NDArray[np.int64]
    """For each query the number of rows that match it."""
    estimate: NDArray[np.float64]
    """For each query the number of rows that a reader of the release expects to match it."""
    bound: Fraction
    """The sanity bound."""

    @cached_property
    def relative(self) -> NDArray[np.float64]:
        """For each query its relative error; NaN if no row matches."""
        raw = np.where(self.raw > 0, self.raw, 1)
        return np.where(self.raw > 0, np.abs(self.estimate - self.raw) / raw, np.nan)

    @cached_property
    def bounded(self) -> NDArray[np.float64]:
        """For each query its error relative to the rows that match it, or to the sanity bound if that is larger."""
        return np.abs(self.estimate - self.raw) / np.maximum(self.raw, float(self.bound))

    @property
    def zeros(self) -> int:
        """The number of queries that no row matches."""
        return int((self.raw == 0).sum())

    @property
    def _matched(self) -> NDArray[np.float64]:
        """The relative errors of the queries that some row matches."""
        return self.relative[self.raw > 0]

    @property
    def mean(self) -> float | None:
        """The mean relative error of the queries that some row matches (Wang & Liu, 2010, Fig. 5)."""
        return math.fsum(self._matched.tolist()) / len(self._matched) if len(self._matched) else None

    @property
    def bounded_mean(self) -> float:
        """The mean over all queries of the error relative to at least the sanity bound."""
        return math.fsum(self.bounded.tolist()) / len(self.bounded)

    @property
    def median(self) -> float | None:
        """The median relative error of the queries that some row matches."""
        return float(np.median(self._matched)) if len(self._matched) else None

    @property
    def pooled(self) -> float | None:
        """The sum of all |estimate − raw| over the sum of all raw: large counts weigh more; None if no row matches any."""
        total = int(self.raw.sum())
        return math.fsum(np.abs(self.estimate - self.raw).tolist()) / total if total else None

    def quantiles(self, levels: Sequence[float] = QUANTILES) -> dict[float, float] | None:
        """Return quantiles of the relative errors, with linear interpolation; None if there are none."""
        if not len(self._matched):
            return None
        return dict(zip(levels, np.quantile(self._matched, levels).tolist(), strict=True))

    def table(self) -> pa.Table:
        """Return one row per query: its text, the rows that match, those expected to, and the errors."""
        return pa.table(
            {
                "query": [self.workload.describe(query) for query in range(len(self.workload))],
                "raw": self.raw,
                "estimate": self.estimate,
                "relative_error": pa.array(self.relative, from_pandas=True),
                "bounded_error": self.bounded,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        quantiles = self.quantiles()
        selectivity = self.workload.selectivity
        return {
            "queries": len(self.workload),
            "qd": self.workload.qd,
            "qs": self.workload.qs,
            "selectivity": None if selectivity is None else written(selectivity),
            "seed": self.workload.seed,
            "mean": self.mean,
            "median": self.median,
            "quantiles": None if quantiles is None else {str(level): error for level, error in quantiles.items()},
            "zero_count_queries": self.zeros,
            "sanity_bound": written(self.bound),
            "bounded_mean": self.bounded_mean,
        }


def query_errors(recoding: Recoding, workload: Workload, bound: Number | None = None) -> QueryErrors:
    """Answer a workload exactly and from the release, and return both with the errors.

    From the release, a row of a group matches with a probability that is a product over the quasi-identifiers in the query:
    the fraction of the places of its cell (see `Cover`) that the query accepts. So all places within a cell are equally
    likely, and columns are independent, as in LeFevre, DeWitt & Ramakrishnan (2006a) and Wang & Liu (2010). Numbers are also
    spread over the places, which are the values that occur, not over the width. So a query for a single number is answered
    like any other, and the length of a domain is the number of its values, as in the paper. Sensitive columns are published
    unchanged: a row matches or does not.

    `bound` is the sanity bound of `QueryErrors.bounded`; by default a thousandth of the rows, as in Xiao, Wang & Gehrke
    (2010). Cost: see the kernel `count_queries`; a thousand queries on 300,000 rows take one to two seconds.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> table, recoding = example()
    >>> workload = Workload.random(table, queries=10, qd=2, qs=1)
    >>> query_errors(recoding, workload).bound
    Fraction(1, 250)
    """
    groups = recoding.groups
    rows = len(groups.of_row)
    sanity = Fraction(rows, 1000) if bound is None else as_fraction(bound, "bound")
    if sanity <= 0:
        raise ParameterError(
            f"invalid bound {bound!r}: it must be above 0",
            remedy="Write a number of rows above 0; a thousandth of the rows is usual.",
            key="bound",
            value=bound,
        )
    domains = workload.domains
    if [c.domain.name for c in recoding.columns] != [domain.name for domain in workload.quasi] or any(
        len(domain.column.codes) != rows for domain in domains
    ):
        raise ParameterError(
            "the workload was made for another table", remedy="Make it from the table that is published.", key="workload"
        )
    order = stable_order(groups.of_row, groups.count)  # the kernel reads the rows group by group
    places = np.empty((len(domains), rows), np.int32)
    for column, domain in enumerate(domains):
        places[column] = domain.place[domain.column.codes[order]]
    raw, estimate = answers(places, groups.sizes, [Cover.of(column) for column in recoding.columns], workload)
    return QueryErrors(workload, raw, estimate, sanity)


def matches(places: NDArray[np.int32], workload: Workload) -> NDArray[np.int64]:
    """Return the number of rows that match each query; `places` as in `answers`.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> workload = Workload.from_queries(example()[0], [{"age": 30, "income": 20}])
    >>> matches(np.array([[0, 1, 2, 2], [0, 1, 2, 3], [0, 1, 2, 3]], np.int32), workload).tolist()
    [1]
    """
    raw = np.empty(len(workload), np.int64)
    count_matches(places, workload.low, workload.high, workload.column_mask, raw)
    return raw


def answers(
    places: NDArray[np.int32], sizes: NDArray[np.int64], covers: Sequence[Cover], workload: Workload
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return, for each query, the number of rows that match it, and the number expected from what the groups publish.

    `places[column, row]`: the places of the rows in the domains of the workload, group by group. `sizes`: the number of rows
    of each group. `covers`: the cells of each quasi-identifier.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> table, recoding = example()
    >>> workload = Workload.from_queries(table, [{"age": 30, "income": 10}])
    >>> places = np.array([[0, 1, 2, 2], [0, 1, 2, 3], [0, 1, 2, 3]], np.int32)
    >>> covers = [Cover.of(column) for column in recoding.columns]
    >>> [counts.tolist() for counts in answers(places, recoding.groups.sizes, covers, workload)]
    [[0], [0.5]]
    """
    # the kernel numbers the cells of all columns in one sequence, and their stretches in another
    counts = [len(cover.offsets) - 1 for cover in covers]
    columns = np.cumsum([0, *counts], dtype=np.int64)
    stretches = np.cumsum([0, *(len(cover.first) for cover in covers)], dtype=np.int64)
    empty = np.zeros(0, np.int64)
    cells = np.zeros((len(covers), len(sizes)), np.int64)
    for column, cover in enumerate(covers):
        cells[column] = cover.cell + columns[column]
    raw, estimate = np.empty(len(workload), np.int64), np.empty(len(workload))
    count_queries(
        places,
        np.concatenate([[0], np.cumsum(sizes)]),
        cells,
        columns,
        np.concatenate([*(c.offsets[:-1] + at for c, at in zip(covers, stretches, strict=False)), stretches[-1:]]),
        np.concatenate([empty, *(cover.first for cover in covers)]),
        np.concatenate([empty, *(cover.stop for cover in covers)]),
        workload.low,
        workload.high,
        workload.column_mask,
        raw,
        estimate,
    )
    return raw, estimate
