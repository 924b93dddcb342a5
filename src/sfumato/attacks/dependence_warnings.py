"""Attributes that depend on each other and stand in different tables: there Theorem 2 of paper 004 does not hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sfumato.projections import Dependence, Plan

_LEVEL = 0.01
"""How likely any of the pairs may be taken to depend though none does."""


@dataclass(frozen=True)
class DependentPair:
    """Two attributes that a plan puts in different tables though one tells of the other."""

    attributes: tuple[str, str]
    tables: tuple[int, int]
    """The projected table of each, from 0."""
    information: float
    """What they tell of each other: mutual information, in bits."""
    share: float
    """That over the smaller of the two entropies: 1 if one of them is a function of the other."""
    beyond_chance: bool
    """Whether independent attributes would hardly ever show so much: a G-test at 0.01 over the number of pairs."""

    @property
    def text(self) -> str:
        """The warning in words."""
        (one, other), (u, w) = self.attributes, self.tables
        return (
            f"{one} (table {u + 1}) and {other} (table {w + 1}) depend on each other: {self.information:.3g} bit, "
            f"{self.share:.0%} of what the lesser of them holds. Theorem 2 does not hold there: who knows how they depend "
            "can combine the two tables."
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        return {
            "attributes": list(self.attributes),
            "tables": list(self.tables),
            "information": self.information,
            "share": self.share,
            "beyond_chance": self.beyond_chance,
            "text": self.text,
        }


def warnings_of(dependence: Dependence, plan: Plan) -> tuple[DependentPair, ...]:
    """A warning for every two dependent attributes that stand in different tables, strongest first.

    Counts of a finite table are hardly ever independent to the last row. What they share by chance is told by the G-test:
    2·n·I, in nats, is then distributed as chi-square with (r-1)·(c-1) degrees, for r and c values.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> data = {"job": ["a", "a", "b", "b"], "boss": ["x", "x", "y", "y"], "sick": ["m", "n", "m", "n"]}
    >>> table = Table(pa.table(data), Schema(sensitive=list(data)))
    >>> for each in warnings_of(Dependence.of(table), Plan.apart(list(data))):
    ...     print(each.attributes, each.share, each.beyond_chance)
    ('job', 'boss') 1.0 False
    """
    from scipy.stats import chi2

    values = [sum(times for _, times in spectrum) for spectrum in dependence.logs.single]
    pairs = sum(len(one) * len(other) for one, other in combinations(plan.blocks, 2))
    at = {name: place for place, name in enumerate(dependence.names)}
    found = []
    for (u, one), (w, other) in combinations(enumerate(plan.blocks), 2):
        for a in one:
            for b in other:
                i, j = at[a], at[b]
                information = float(dependence.information[i, j])
                if information > 0:
                    lesser = min(float(dependence.entropy[i]), float(dependence.entropy[j]))
                    statistic = 2 * dependence.rows * math.log(2) * information
                    chance = float(chi2.sf(statistic, (values[i] - 1) * (values[j] - 1)))
                    share = min(1.0, information / lesser)
                    found.append(DependentPair((a, b), (u, w), information, share, chance < _LEVEL / pairs))
    return tuple(sorted(found, key=lambda each: -each.share))
