"""All utility figures of a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from sfumato.anonymization.recoding import Recoding
from sfumato.anonymization.utility.associations import Association, associations
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.anonymization.utility.count_queries import QueryErrors, query_errors
from sfumato.anonymization.utility.group_sizes import ClassSizes
from sfumato.anonymization.utility.information_loss import Loss
from sfumato.anonymization.utility.marginals import Marginal, marginals
from sfumato.anonymization.utility.workload import Workload, queried_columns
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.exact import Number
from sfumato.plurals import count_of, figure_of

_QD, _QS = 3, 2
"""The numbers of quasi-identifiers and sensitive columns in a query by default, as in Wang & Liu (2010)."""


@dataclass(frozen=True, eq=False, repr=False)
class Utility:
    """The utility of a release: information loss, sizes of groups, errors of count queries, distances of marginals.

    Made by `utility_of`. `to_dict` returns plain data.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> utility = utility_of(*example(), queries=0)
    >>> utility.loss.mean, utility.classes.discernibility, utility.to_dict()["groups"]
    (0.3125, 8, 2)
    """

    rows: int
    """The number of published rows."""
    groups: int
    """The number of groups."""
    suppressed: int
    """The number of rows that are not published."""
    k: int | None
    """The group size that was required; None if none was."""
    loss: Loss
    classes: ClassSizes
    marginals: tuple[Marginal, ...]
    answer_queries: Callable[[], QueryErrors | None]
    """Computes `queries` when it is first used."""
    measure_associations: Callable[[], tuple[Association, ...]]
    """Computes `associations` when it is first used."""

    @cached_property
    def queries(self) -> QueryErrors | None:
        """The errors of count queries, computed on first use; None if no queries were requested or no column has values."""
        return self.answer_queries()

    @cached_property
    def associations(self) -> tuple[Association, ...]:
        """How strongly sensitive columns depend on each quasi-identifier, before and after; computed on first use."""
        return self.measure_associations()

    def to_dict(self, *, queries: bool = True) -> dict[str, Any]:
        """Return plain data, ready for JSON; `queries=False` leaves out the query errors and the associations.

        These take time to compute, and are exact figures of the original quasi-identifiers and sensitive values together.
        """
        figures = {
            "rows": self.rows,
            "groups": self.groups,
            "suppressed": self.suppressed,
            "k": self.k,
            "loss": self.loss.to_dict(),
            "classes": self.classes.to_dict(),
            "marginals": [marginal.to_dict() for marginal in self.marginals],
        }
        if queries:
            figures["queries"] = None if self.queries is None else self.queries.to_dict()
            figures["associations"] = [one.to_dict() for one in self.associations]
        return figures

    def __repr__(self) -> str:
        lines = [f"Utility of {count_of(self.rows, 'row')} in {count_of(self.groups, 'group')}"]
        lines[0] += f", {self.suppressed:,} suppressed" if self.suppressed else ""
        by_column = ", ".join(f"{name} {percent(loss)}" for name, loss in self.loss.columns.items())
        lines.append(f"  loss            {percent(self.loss.mean)}" + (f" ({by_column})" if by_column else ""))
        lines.append(f"  loss per group  {self.loss.group_mean:.4g} of at most {len(self.loss.columns)}")
        average = "" if self.classes.average is None else f", {figure_of(self.classes.average)} × k"
        lines.append(f"  group size      {figure_of(self.classes.mean)} on average{average}")
        lines.append(f"  discernibility  {self.classes.discernibility:,}")
        if self.queries is not None:
            lines.append(f"  query error     {self._errors(self.queries)}")
        for marginal in self.marginals:
            lines.append(f"  marginal        {marginal.name}: {percent(marginal.distance)} of the rows misplaced")
        return "\n".join(lines)

    @staticmethod
    def _errors(errors: QueryErrors) -> str:
        count = count_of(len(errors.workload), "query", "queries")
        if errors.mean is None or errors.median is None:
            return f"none: no row matches any of {count}"
        zeros = f", {errors.zeros:,} of them matched by no row and left out" if errors.zeros else ""
        return f"{percent(errors.mean)} on average, {percent(errors.median)} median ({count}{zeros})"


def utility_of(
    table: Table,
    recoding: Recoding,
    k: int | None = None,
    suppressed: int = 0,
    *,
    queries: int = 1000,
    qd: int | None = None,
    qs: int | None = None,
    selectivity: Number = "0.1",
    bound: Number | None = None,
    seed: int = 0,
    weights: Mapping[str, Number] | None = None,
) -> Utility:
    """Measure the utility of what the groups of a table publish.

    `table` contains the published rows. `suppressed` is the number of rows that were left out: they count in the loss and in
    discernibility, while queries and marginals are about the published rows. `k` is the required group size. `queries`,
    `qd`, `qs`, `selectivity`, `bound` and `seed` are those of `Workload.random` and `query_errors`. By default a query
    constrains three quasi-identifiers and two sensitive columns, or as many as there are; `queries=0` runs none. `weights`
    are those of `certainty_penalty`.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> utility_of(*example(), k=2, queries=0)
    Utility of 4 rows in 2 groups
      loss            31.25 % (age 12.5 %, city 50 %)
      loss per group  0.625 of at most 2
      group size      2 on average, 1 × k
      discernibility  8
      marginal        age: 0 % of the rows misplaced
      marginal        city: 0 % of the rows misplaced
    """
    if len(recoding.groups.of_row) != table.rows:
        raise ParameterError(
            f"the groups contain {len(recoding.groups.of_row):,} rows, but the table has {table.rows:,}",
            remedy="Pass the table whose rows are in the groups; count rows that were left out in `suppressed`.",
            key="table",
        )
    return Utility(
        rows=table.rows,
        groups=recoding.groups.count,
        suppressed=suppressed,
        k=k,
        loss=Loss.of(recoding, suppressed, weights),
        classes=ClassSizes.of(recoding.groups, k, suppressed),
        marginals=marginals(recoding),
        answer_queries=partial(_queries, table, recoding, queries, qd, qs, selectivity, seed, bound),
        measure_associations=partial(_associations, table, recoding),
    )


def _associations(table: Table, recoding: Recoding) -> tuple[Association, ...]:
    return associations(table, table, recoding.groups, [Cover.of(column) for column in recoding.columns])


def _queries(
    table: Table,
    recoding: Recoding,
    queries: int,
    qd: int | None,
    qs: int | None,
    selectivity: Number,
    seed: int,
    bound: Number | None,
) -> QueryErrors | None:
    """Return the errors of a random workload; None if there is no column to query."""
    quasi, sensitive = (sum(domain.size > 0 for domain in domains) for domains in queried_columns(table))
    qd = min(_QD, quasi) if qd is None else qd
    qs = min(_QS, sensitive) if qs is None else qs
    if queries == 0 or qd + qs == 0:
        return None
    return query_errors(recoding, Workload.random(table, queries, qd, qs, selectivity, seed), bound)


def percent(share: float) -> str:
    """Format a share in percent, with four digits.

    >>> percent(0.123456)
    '12.35 %'
    """
    return f"{100 * share:.4g} %"
