"""Figures 5, 6 and 7 of Fang, Ashrafi & Ng (2011), Section 7.1, as tables, and the plans for Figures 8 and 9.

The table is that of `datasets/income_census.py`. CODIP* runs in two versions. *As printed*, it stops at the first pair of
blocks that it may not merge, so every plan lies on one path of merges. *Corrected*, it continues with the next best pair, as
`sf.projections.search_plans` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from benchmarks.datasets.income_census import income_census
from benchmarks.measurement import Notify, Row, silent
from sfumato.data.table import Table
from sfumato.projections import Codip, Dependence, PlanRatios, Tradeoff, encode_sets, search_plans, tradeoff

ALPHA, BETA = Fraction(1, 5), Fraction(1, 2)
"""The thresholds of Figures 8 and 9."""
BOTH = Fraction(3, 10)
"""α and β of Figure 7."""

PRINTED, CORRECTED = "as printed", "corrected"
"""The two versions of CODIP*."""


@dataclass(frozen=True)
class Points:
    """The points that are measured."""

    subsets: int
    """Figure 7: the number of random selections for each number of attributes."""
    thresholds: tuple[float, ...] = (1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5)
    """Figure 8: limits of discernibility, in units of 10⁹ for 98,839 rows."""
    numbers: tuple[int, ...] = (2, 4, 6)
    """Figure 8: numbers of tables, in addition to one table and one table per attribute."""
    smallest: tuple[int, ...] = (2, 5, 10, 20, 50, 100)
    """Figure 9: the values of k."""
    closeness: tuple[str, ...] = ("0.4", "0.37", "0.3", "0.28")
    """Figure 9: the values of t; the first two are those of the paper."""


FULL = Points(subsets=20)
QUICK = Points(subsets=2, thresholds=(1.5, 3.5, 5), smallest=(2, 10, 50))


@dataclass(frozen=True, eq=False)
class Subject:
    """The table with its sets encoded as bits, and everything that depends only on it."""

    source: str
    table: Table
    points: Points
    notify: Notify

    @classmethod
    def read(cls, points: Points, notify: Notify = silent) -> Subject:
        """Read the table."""
        notify("reading")
        census = income_census()
        return cls(census.source, encode_sets(census.table, census.sets).table, points, notify)

    @cached_property
    def dependence(self) -> Dependence:
        """The dependence between the attributes."""
        return Dependence.of(self.table)

    @cached_property
    def tradeoff(self) -> Tradeoff:
        """The plans that CODIP* finds as β falls, and their knee."""
        self.notify("the trade-off")
        return tradeoff(self.dependence)

    @property
    def common(self) -> Row:
        """The first columns of every row of every table."""
        return {"source": self.source, "rows": self.table.rows, "attributes": len(self.dependence.names)}

    @cached_property
    def plans(self) -> dict[int, PlanRatios]:
        """The plans of Figures 8 and 9 by number of tables: one table, the plans of CODIP*, one table per attribute.

        As in the paper, β decreases from 0.5, and for every number of tables up to 7 the first plan within α = 0.2 is used.
        """
        one_table, one_per_attribute = self.tradeoff.merges[-1], self.tradeoff.merges[0]
        plans = {1: one_table}
        for ratios in self.tradeoff.points:
            within = ratios.association_loss <= ALPHA and ratios.information_exposure <= BETA
            if within and 2 <= len(ratios.plan) <= 7:
                plans.setdefault(len(ratios.plan), ratios)
        return {**dict(sorted(plans.items())), len(one_per_attribute.plan): one_per_attribute}


def tradeoff_table(subject: Subject) -> Iterator[Row]:
    """Yield Figures 5 and 6: both ratios of the plans of both versions of CODIP*, and the knee."""
    curve = subject.tradeoff
    for run, plans in ((PRINTED, curve.merges), (CORRECTED, curve.points)):
        for ratios in plans:
            yield {
                **subject.common,
                "run": run,
                "tables": len(ratios.plan),
                "association_loss": round(ratios.association_loss, 4),
                "information_exposure": round(ratios.information_exposure, 4),
                "knee": "knee" if run == CORRECTED and ratios is curve.knee else "",
                "plan": ratios.plan.label,
            }


def attributes_table(subject: Subject) -> Iterator[Row]:
    """Yield Figure 7: the number of tables of CODIP* by number of attributes, α = β = 0.3; empty if no plan meets both.

    The choice "as listed" takes the first attributes in the order of the paper. The other choices are random.
    """
    names = subject.dependence.names
    random = np.random.default_rng(0)
    for size in range(2, len(names) + 1):
        subject.notify(f"plans of {size} attributes")
        choices = [("as listed", names[:size])]
        if size < len(names):
            selections = [np.sort(random.permutation(len(names))[:size]) for _ in range(subject.points.subsets)]
            choices += [(f"random {i}", tuple(names[j] for j in each)) for i, each in enumerate(selections, start=1)]
        for choice, attributes in choices:
            dependence = Dependence.of(subject.table, attributes)
            corrected = search_plans(dependence, BOTH, BOTH, search="greedy").best
            for run, ratios in ((PRINTED, _codip_as_printed(dependence)), (CORRECTED, corrected)):
                yield {
                    **subject.common,
                    "run": run,
                    "size": size,
                    "choice": choice,
                    "tables": "" if ratios is None else len(ratios.plan),
                    "association_loss": "" if ratios is None else round(ratios.association_loss, 4),
                    "information_exposure": "" if ratios is None else round(ratios.information_exposure, 4),
                }


def _codip_as_printed(dependence: Dependence) -> PlanRatios | None:
    """Return the last plan before the first merge that exposes more than β, or None if it loses more than α."""
    path: Sequence[PlanRatios] = Codip(dependence).run(Fraction(1)).plans
    last = path[0]
    for ratios in path[1:]:
        if not dependence.exposes_at_most(ratios.plan, BOTH):
            break
        last = ratios
    return last if dependence.loses_at_most(last.plan, BOTH) else None
