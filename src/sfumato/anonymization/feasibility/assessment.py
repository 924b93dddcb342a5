"""Is a wish possible? What is guaranteed, what is ruled out, and what nearby would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sfumato._audit import listed, table_of
from sfumato.anonymization.feasibility.certificates import (
    Certificate,
    Crowding,
    certificate_of,
    one_group,
    proximity_certificate,
)
from sfumato.anonymization.feasibility.degree_bounds import Bounds, bounds, least_size, most_groups
from sfumato.anonymization.feasibility.nearest_parameters import NearestParameters, Population, nearest_parameters
from sfumato.data.schema import Schema
from sfumato.principles import Dissimilarity, Principle, View, attributes_of
from sfumato.principles.base import exactly

Verdict = Literal["guaranteed", "open", "impossible"]
"""Groups exist, by a bound; nobody can tell beforehand; no groups exist, by a certificate."""

Nearby = bool | Literal["quick"]
"""Whether the nearest wishes are looked for; "quick": ε only where that costs little."""


@dataclass(frozen=True)
class RequirementFeasibility:
    """What can be said beforehand of a principle on one sensitive attribute, or on the groups alone.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [1, 2, 3, 4]}), sf.Schema(sensitive=["x"]))
    >>> outlook = feasibility(table, None, sf.Dissimilarity(epsilon=0, delta=1, k=2)).outlooks[0]
    >>> outlook.attribute, outlook.verdict, outlook.theta, outlook.groups
    ('x', 'guaranteed', 0, 2)
    """

    attribute: str | None
    """None if the principle looks at groups only."""
    verdict: Verdict
    reason: str
    """Why, in words."""
    groups: int = 0
    """In how many groups, at the most, it is guaranteed; 1: only the table as one group is known to do."""
    certificate: Certificate | None = None
    theta: int | None = None
    """Θ: how many other rows are near the value that most are near; None if no distance is asked for."""
    bounds: Bounds | None = None
    nearest: NearestParameters | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "attribute": self.attribute,
            "verdict": self.verdict,
            "reason": self.reason,
            "groups": self.groups,
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "theta": self.theta,
            "bounds": None if self.bounds is None else self.bounds.to_dict(),
            "nearest": None if self.nearest is None else self.nearest.to_dict(),
        }


@dataclass(frozen=True, repr=False)
class Feasibility:
    """Whether a principle can be reached on a table, attribute by attribute; see `feasibility`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [1, 2, 3, 4, 5, 6]}), sf.Schema(sensitive=["x"]))
    >>> feasibility(table, None, sf.Dissimilarity(epsilon=3, delta="0.9", k=2))
    (ε,δ)^k-dissimilarity (epsilon = 3, delta = 0.9, k = 2): impossible
      x: the values 1 to 4 make up 4 of the 6 rows (66.7 %) and lie within ε = 3 of one another; at δ = 0.9 no groups of at
         least 2 can hold more than 3 such rows (50.0 %)
         guaranteed in two or more groups: epsilon up to 1, or delta up to 0
         not ruled out: epsilon up to 2, or delta up to 0
    """

    principle: Principle
    outlooks: tuple[RequirementFeasibility, ...]

    @property
    def verdict(self) -> Verdict:
        """Guaranteed if groups exist that satisfy it on all attributes at once, impossible if it is on one of them."""
        if any(outlook.verdict == "impossible" for outlook in self.outlooks):
            return "impossible"
        if len(self.outlooks) == 1:
            return self.outlooks[0].verdict
        # groups that serve one attribute need not serve another, unless they are the table as one group
        return "guaranteed" if self.certain_as_one_group else "open"

    @property
    def certain_as_one_group(self) -> bool:
        """Whether the table as one group satisfies it."""
        return all(_holds_whole(outlook) for outlook in self.outlooks)

    @property
    def certificate(self) -> Certificate | None:
        """A certificate that it is impossible, if there is one."""
        return next((outlook.certificate for outlook in self.outlooks if outlook.certificate is not None), None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {
            "name": self.principle.name,
            "label": self.principle.label,
            "parameters": self.principle.parameters(),
            "verdict": self.verdict,
            "attributes": [outlook.to_dict() for outlook in self.outlooks],
        }

    def __repr__(self) -> str:
        lines = [f"{self.principle.label}: {self.verdict}"]
        for outlook in self.outlooks:
            name = outlook.attribute or "groups"
            lines.append(f"  {name}: {outlook.reason}")
            if outlook.nearest is not None:
                indent = " " * (len(name) + 4)
                lines.append(f"{indent}guaranteed in two or more groups: {outlook.nearest.guaranteed.text()}")
                lines.append(f"{indent}not ruled out: {outlook.nearest.not_excluded.text()}")
        return "\n".join(lines)


def feasibility(data: Any, schema: Schema | None, principle: Principle, nearby: Nearby = True) -> Feasibility:
    """Tell beforehand whether any grouping of a table can satisfy a principle.

    `data`: a path, a frame of pandas, polars or pyarrow, or a `Table` (whose schema stands if none is given).

    "impossible" comes with a certificate, "guaranteed" with a bound or with the table as one group, and "open" says that
    neither is known: a method may well succeed, for no bound is necessary. Deciding it in general is NP-hard (paper 001,
    Theorem 2). Every verdict is exact. Unless `nearby` is false, for (ε,δ)^k-dissimilarity the largest ε, δ and k that are
    guaranteed, or not ruled out, are found too, each with the other two fixed; with "quick", ε only where that costs little.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table, schema = pa.table({"x": [1, 2, 3, 4, 5, 6]}), sf.Schema(sensitive=["x"])
    >>> [feasibility(table, schema, sf.Dissimilarity(epsilon=e, delta=1, k=3)).verdict for e in (0, 1, 2)]
    ['guaranteed', 'open', 'impossible']
    >>> feasibility(table, schema, sf.DistinctLDiversity(7)).certificate.sentence[:45]
    'the table as one group has l 6, wanted at lea'
    """
    (principle,) = listed(principle)
    table = table_of(data, schema)
    groups = one_group(table)
    outlooks = []
    for names in attributes_of(principle, table.schema):
        view = View(table, names, groups)
        attribute = " + ".join(names) or None
        if isinstance(principle, Dissimilarity):
            outlooks.append(_proximity(view, attribute, principle, nearby))
        else:
            outlooks.append(_other(view, attribute, principle))
    return Feasibility(principle, tuple(outlooks))


def _proximity(view: View, attribute: str | None, principle: Dissimilarity, nearby: Nearby) -> RequirementFeasibility:
    population = Population.of(view.table)
    delta = exactly(principle.delta)
    crowding = Crowding.of(view.graph(exactly(principle.epsilon)))
    theta = crowding.theta
    nearest = nearest_parameters(view, principle, crowding, nearby == "quick") if nearby else None
    if principle.k > population.people:
        certificate = certificate_of(principle, view)
    else:
        certificate = proximity_certificate(crowding, principle)
    if certificate is not None:
        found = None
        if principle.k <= population.people and least_size(principle.k, delta) <= population.rows:
            found = bounds(population.rows, population.rows_for(principle.k), delta)
        return RequirementFeasibility(attribute, "impossible", certificate.sentence, 0, certificate, theta, found, nearest)
    least = population.rows_for(principle.k)
    found = bounds(population.rows, least, delta)
    groups = most_groups(population.rows, least, delta, theta)
    reason = found.reason(theta) if groups else None
    if reason is None:
        open_ = f"Θ = {theta} is above {found.guaranteed}, up to which groups are guaranteed, and nothing rules it out"
        return RequirementFeasibility(attribute, "open", open_, 0, None, theta, found, nearest)
    return RequirementFeasibility(attribute, "guaranteed", reason, groups, None, theta, found, nearest)


def _other(view: View, attribute: str | None, principle: Principle) -> RequirementFeasibility:
    certificate = certificate_of(principle, view)
    if certificate is not None:
        return RequirementFeasibility(attribute, "impossible", certificate.sentence, certificate=certificate)
    if principle.holds(view):
        return RequirementFeasibility(attribute, "guaranteed", "the table as one group satisfies it", groups=1)
    return RequirementFeasibility(attribute, "open", "the table as one group does not satisfy it, and nothing rules it out")


def _holds_whole(outlook: RequirementFeasibility) -> bool:
    if outlook.bounds is not None and outlook.theta is not None:
        return outlook.theta <= outlook.bounds.whole
    return outlook.verdict == "guaranteed"
