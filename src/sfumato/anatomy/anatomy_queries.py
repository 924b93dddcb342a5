"""The errors of counts that an analyst makes from an anatomy, beside those from cells of the same groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.utility.count_queries import QueryErrors
from sfumato.anonymization.utility.workload import Workload
from sfumato.data.groups import Groups
from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction


@dataclass(frozen=True)
class CountErrorComparison:
    """The errors of the same count queries, answered in two ways.

    They depend on who has which secret, so they must not be published.
    """

    anatomy: QueryErrors
    """From the tables of the anatomy."""
    generalized: QueryErrors
    """From the cells that `sf.anonymize` would publish for the same groups."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {"anatomy": self.anatomy.to_dict(), "generalized": self.generalized.to_dict()}


def anatomy_errors(
    groups: Groups, plan: Sequence[Sequence[str]], workload: Workload, bound: Number | None = None
) -> QueryErrors:
    """Answer a workload exactly and from an anatomy, and return both with the errors.

    In each group the people whose quasi-identifiers match are counted exactly, and multiplied by the share of the group that
    has matching secrets: all assignments of the secrets of a group to its people are equally likely, and secrets in
    different tables are independent, as in Xiao & Tao (2006a). `groups`: of the rows of the table that the workload was made
    from. `plan`: the sensitive columns of each table of secrets. `bound`: as for `query_errors`. Cost: linear in the rows
    for each query.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [30, 31, 50], "ill": ["flu", "gout", "flu"]}), sf.Schema(["age"], ["ill"]))
    >>> workload = Workload.from_queries(table, [{"age": 30, "ill": "flu"}, {"age": (30, 31), "ill": "flu"}])
    >>> errors = anatomy_errors(Groups(np.array([0, 0, 1]), 2, 3), [["ill"]], workload)
    >>> errors.raw.tolist(), errors.estimate.tolist()
    ([1, 1], [0.5, 1.0])
    """
    rows = len(groups.of_row)
    if any(len(domain.column.codes) != rows for domain in workload.domains):
        raise ParameterError(
            "the workload was made for another table", remedy="Make it from the table that is published.", key="workload"
        )
    places = [domain.place[domain.column.codes] for domain in workload.domains]
    names = [domain.name for domain in workload.domains]
    quasi = range(len(workload.quasi))
    tables = [[names.index(column, len(quasi)) for column in block] for block in plan]
    raw, estimate = np.empty(len(workload), np.int64), np.empty(len(workload))
    for query in range(len(workload)):
        people = _matching(places, workload, query, quasi)
        secrets = [_matching(places, workload, query, table) for table in tables]
        expected = np.bincount(groups.of_row[people], minlength=groups.count).astype(float)
        for matching in secrets:
            expected *= np.bincount(groups.of_row[matching], minlength=groups.count) / groups.sizes
        raw[query] = np.logical_and.reduce([people, *secrets]).sum()
        estimate[query] = expected.sum()
    return QueryErrors(workload, raw, estimate, Fraction(rows, 1000) if bound is None else as_fraction(bound, "bound"))


def _matching(places: Sequence[NDArray[Any]], workload: Workload, query: int, columns: Sequence[int]) -> NDArray[np.bool_]:
    """Return which rows match a query in some of its columns."""
    found = np.ones(len(places[0]), bool)
    for column in columns:
        if workload.column_mask[query, column]:
            found &= places[column] >= workload.low[query, column]
            found &= places[column] < workload.high[query, column]
    return found
