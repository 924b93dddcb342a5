"""The experiments of paper 004, Section 7.1, again: Figures 5, 6 and 7 as tables, and plans for Figures 8 and 9.

On the table of `several`. Two runs of CODIP* are told apart. *As printed* it stops at the first pair of blocks that may not
be merged, so that every plan lies on one path of merges. *Mended* it goes on with the next best pair, which is what
`sf.projections.search_plans` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.several import several
from sfumato.data.table import Table
from sfumato.projections import Codip, Dependence, PlanRatios, Tradeoff, encode_sets, search_plans, tradeoff

Tell = Callable[[str], None]
Row = dict[str, Any]

ALPHA, BETA = Fraction(1, 5), Fraction(1, 2)
"""The thresholds of Figures 8 and 9."""
BOTH = Fraction(3, 10)
"""α and β of Figure 7."""

PRINTED, MENDED = "as printed", "mended"


@dataclass(frozen=True)
class Points:
    """Which points are measured."""

    subsets: int
    """Figure 7: random choices of attributes for each number of them."""
    thresholds: tuple[float, ...] = (1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5)
    """Figure 8: the largest discernibility, in parts of the square of the rows as of 98,839 rows in 10⁹."""
    numbers: tuple[int, ...] = (2, 4, 6)
    """Figure 8: numbers of tables, beside all in one and each in its own."""
    smallest: tuple[int, ...] = (2, 5, 10, 20, 50, 100)
    """Figure 9: k."""
    closeness: tuple[str, ...] = ("0.4", "0.37", "0.3", "0.28")
    """Figure 9: t; the first two are the paper's."""


FULL = Points(subsets=20)
QUICK = Points(subsets=2, thresholds=(1.5, 3.5, 5), smallest=(2, 10, 50))


@dataclass(frozen=True, eq=False)
class Subject:
    """The table, its sets as bits, and what depends on it alone."""

    source: str
    table: Table
    points: Points
    tell: Tell

    @classmethod
    def of(cls, points: Points, tell: Tell = lambda _: None) -> Subject:
        """Read the table."""
        tell("reading")
        found = several()
        return cls(found.source, encode_sets(found.table, found.sets).table, points, tell)

    @cached_property
    def dependence(self) -> Dependence:
        """How the attributes depend on each other."""
        return Dependence.of(self.table)

    @cached_property
    def tradeoff(self) -> Tradeoff:
        """The plans that CODIP* finds as β falls, and their knee."""
        self.tell("the trade-off")
        return tradeoff(self.dependence)

    @property
    def start(self) -> Row:
        """What every row of every table begins with."""
        return {"source": self.source, "rows": self.table.rows, "attributes": len(self.dependence.names)}

    @cached_property
    def plans(self) -> dict[int, PlanRatios]:
        """By number of tables the plans of Figures 8 and 9: one table, each apart, and between them those of CODIP*.

        As the paper says: β falls from 0.5, and of every number of tables up to 7 the first plan within α = 0.2 is taken.
        """
        whole, alone = self.tradeoff.merges[-1], self.tradeoff.merges[0]
        found = {1: whole}
        for weighed in self.tradeoff.points:
            within = weighed.association_loss <= ALPHA and weighed.information_exposure <= BETA
            if within and 2 <= len(weighed.plan) <= 7:
                found.setdefault(len(weighed.plan), weighed)
        return {**dict(sorted(found.items())), len(alone.plan): alone}


def tradeoff_table(subject: Subject) -> Iterator[Row]:
    """Figures 5 and 6: both ratios of the plans of CODIP*, as printed and mended, and the knee."""
    curve = subject.tradeoff
    for run, plans in ((PRINTED, curve.merges), (MENDED, curve.points)):
        for weighed in plans:
            yield {
                **subject.start,
                "run": run,
                "tables": len(weighed.plan),
                "association_loss": round(weighed.association_loss, 4),
                "information_exposure": round(weighed.information_exposure, 4),
                "knee": "knee" if run == MENDED and weighed is curve.knee else "",
                "plan": weighed.plan.label,
            }


def attributes_table(subject: Subject) -> Iterator[Row]:
    """Figure 7: how many tables CODIP* makes of so many attributes at α = β = 0.3; empty where no plan is within both.

    "as listed": the first of the attributes, in the order of the paper. Others: chosen at random.
    """
    names = subject.dependence.names
    random = np.random.default_rng(0)
    for size in range(2, len(names) + 1):
        subject.tell(f"plans of {size} attributes")
        choices = [("as listed", names[:size])]
        if size < len(names):
            chosen = [np.sort(random.permutation(len(names))[:size]) for _ in range(subject.points.subsets)]
            choices += [(f"random {i}", tuple(names[j] for j in each)) for i, each in enumerate(chosen, start=1)]
        for choice, some in choices:
            dependence = Dependence.of(subject.table, some)
            mended = search_plans(dependence, BOTH, BOTH, search="greedy").best
            for run, found in ((PRINTED, _printed(dependence)), (MENDED, mended)):
                yield {
                    **subject.start,
                    "run": run,
                    "size": size,
                    "choice": choice,
                    "tables": "" if found is None else len(found.plan),
                    "association_loss": "" if found is None else round(found.association_loss, 4),
                    "information_exposure": "" if found is None else round(found.information_exposure, 4),
                }


def _printed(dependence: Dependence) -> PlanRatios | None:
    """The plan of CODIP* as printed: the last before the first merge that exposes too much, if it loses little enough."""
    path: Sequence[PlanRatios] = Codip(dependence).run(Fraction(1)).plans
    last = path[0]
    for weighed in path[1:]:
        if not dependence.exposes_at_most(weighed.plan, BOTH):
            break
        last = weighed
    return last if dependence.loses_at_most(last.plan, BOTH) else None
