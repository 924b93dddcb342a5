"""Dependent attributes in different tables: there the bound of Theorem 2 of Fang, Ashrafi & Ng (2011) does not hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sfumato.projections.plans.dependence import Dependence
from sfumato.projections.plans.plan import Plan

_SIGNIFICANCE = 0.01
"""The probability that any pair is reported as dependent beyond chance although all are independent."""


@dataclass(frozen=True)
class DependentPair:
    """Two attributes in different tables of a plan, one of which carries information about the other."""

    attributes: tuple[str, str]
    tables: tuple[int, int]
    """The projected table of each attribute, from 0."""
    information: float
    """Mutual information, in bits."""
    share: float
    """Mutual information divided by the smaller entropy: 1 if one attribute is a function of the other."""
    beyond_chance: bool
    """Whether the dependence is significant: a G-test at 0.01, corrected for the number of pairs (Bonferroni)."""

    @property
    def text(self) -> str:
        """The warning in words."""
        (first, second), (u, w) = self.attributes, self.tables
        return (
            f"{first} (table {u + 1}) and {second} (table {w + 1}) depend on each other: {self.information:.3g} bit, "
            f"{self.share:.0%} of the smaller entropy. The bound of Theorem 2 does not hold for them: an attacker who knows "
            "how they depend can combine the two tables."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "attributes": list(self.attributes),
            "tables": list(self.tables),
            "information": self.information,
            "share": self.share,
            "beyond_chance": self.beyond_chance,
            "text": self.text,
        }


def dependent_pairs(dependence: Dependence, plan: Plan) -> tuple[DependentPair, ...]:
    """Return every pair of dependent attributes in different tables, strongest first.

    The counts of a finite table are almost never exactly independent. The G-test separates that from real dependence: for
    independent attributes, 2·n·I in nats follows a chi-square distribution with (r−1)·(c−1) degrees of freedom, for
    attributes with r and c values.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> data = {"job": ["a", "a", "b", "b"], "boss": ["x", "x", "y", "y"], "sick": ["m", "n", "m", "n"]}
    >>> table = Table(pa.table(data), Schema(sensitive=list(data)))
    >>> for pair in dependent_pairs(Dependence.of(table), Plan.singletons(list(data))):
    ...     print(pair.attributes, pair.share, pair.beyond_chance)
    ('job', 'boss') 1.0 False
    """
    from scipy.stats import chi2

    value_counts = [sum(times for _, times in spectrum) for spectrum in dependence.spectra.single]
    separated = sum(len(one) * len(other) for one, other in combinations(plan.blocks, 2))
    index = {name: position for position, name in enumerate(dependence.names)}
    pairs = []
    for (u, one), (w, other) in combinations(enumerate(plan.blocks), 2):
        for a in one:
            for b in other:
                i, j = index[a], index[b]
                information = float(dependence.information[i, j])
                if information > 0:
                    smaller = min(float(dependence.entropy[i]), float(dependence.entropy[j]))
                    statistic = 2 * dependence.rows * math.log(2) * information
                    p_value = float(chi2.sf(statistic, (value_counts[i] - 1) * (value_counts[j] - 1)))
                    share = min(1.0, information / smaller)
                    pairs.append(DependentPair((a, b), (u, w), information, share, p_value < _SIGNIFICANCE / separated))
    return tuple(sorted(pairs, key=lambda pair: -pair.share))
