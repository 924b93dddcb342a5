"""Attributes that depend on each other and stand in different tables: there Theorem 2 of paper 004 does not hold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sfumato.projections import Dependence, Plan


@dataclass(frozen=True)
class Warned:
    """Two attributes that a plan puts in different tables though one tells of the other."""

    attributes: tuple[str, str]
    tables: tuple[int, int]
    """The projected table of each, from 0."""
    information: float
    """What they tell of each other: mutual information, in bits."""
    share: float
    """That over the smaller of the two entropies: 1 if one of them is a function of the other."""

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
            "text": self.text,
        }


def warnings_of(dependence: Dependence, plan: Plan) -> tuple[Warned, ...]:
    """A warning for every two dependent attributes that stand in different tables, strongest first.

    Counts of a finite table are hardly ever independent to the last row, so a share near 0 may be chance.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> from sfumato.table import Table
    >>> data = {"job": ["a", "a", "b", "b"], "boss": ["x", "x", "y", "y"], "sick": ["m", "n", "m", "n"]}
    >>> table = Table(pa.table(data), Schema(sensitive=list(data)))
    >>> for each in warnings_of(Dependence.of(table), Plan.apart(list(data))):
    ...     print(each.attributes, each.share)
    ('job', 'boss') 1.0
    """
    at = {name: place for place, name in enumerate(dependence.names)}
    found = []
    for (u, one), (w, other) in combinations(enumerate(plan.blocks), 2):
        for a in one:
            for b in other:
                information = float(dependence.information[at[a], at[b]])
                if information > 0:
                    lesser = min(float(dependence.entropy[at[a]]), float(dependence.entropy[at[b]]))
                    found.append(Warned((a, b), (u, w), information, min(1.0, information / lesser)))
    return tuple(sorted(found, key=lambda each: -each.share))
