"""Assess whether a requirement can be met: what is guaranteed, what is ruled out, and which nearby parameters are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from sfumato._audit import table_of
from sfumato.anonymization.feasibility.all_groupings import CERTIFICATE, most_groups_of_all
from sfumato.anonymization.feasibility.degree_bounds import DegreeBounds, bounds, most_groups
from sfumato.anonymization.feasibility.nearest_parameters import NearestParameters, nearest_parameters
from sfumato.anonymization.feasibility.varied_requirement import on_attribute
from sfumato.data.groups import Groups
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.plurals import count_of
from sfumato.principles import (
    Certificate,
    Dissimilarity,
    Principle,
    PrincipleRequest,
    View,
    attributes_of,
    exactly,
    requested_principles,
)
from sfumato.principles.clique_capacity import least_size
from sfumato.principles.proximity_certificate import Crowding, proximity_certificate

Verdict = Literal["guaranteed", "open", "impossible"]
"""A bound, or trying all groupings, proves that groups exist; neither is known; it is proven that no groups exist."""

_SHOWN = 10
"""Columns that a representation lists; those on which the principle is impossible come first."""

Nearby = bool | Literal["quick"]
"""Whether the nearest parameters are computed; "quick": ε only where that costs little."""


@dataclass(frozen=True)
class RequirementFeasibility:
    """Whether a principle can be reached on one sensitive attribute, or on the groups alone.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [1, 2, 3, 4]}), sf.Schema(sensitive=["x"]))
    >>> result = feasibility(table, None, sf.Dissimilarity(epsilon=0, delta=1, k=2)).attributes[0]
    >>> result.attribute, result.verdict, result.theta, result.groups
    ('x', 'guaranteed', 0, 2)
    """

    attribute: str | None
    """None if the principle measures the groups alone."""
    verdict: Verdict
    reason: str
    """Why, in words."""
    groups: int = 0
    """The largest number of groups for which it is guaranteed; 1 if only the table as one group is known to satisfy it."""
    certificate: Certificate | None = None
    theta: int | None = None
    """Θ: the largest number of other rows near one value; None if the principle does not depend on nearness."""
    bounds: DegreeBounds | None = None
    nearest: NearestParameters | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
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
    attributes: tuple[RequirementFeasibility, ...]
    tried: Verdict | None = None
    """What all groupings of a small table show about several attributes together; None if they were not tried."""

    @property
    def verdict(self) -> Verdict:
        """Guaranteed if groups exist that satisfy it on all attributes at once; impossible if it is so on one of them."""
        if any(result.verdict == "impossible" for result in self.attributes):
            return "impossible"
        if len(self.attributes) == 1:
            return self.attributes[0].verdict
        if self.tried is not None:
            return self.tried
        # Groups that satisfy it on one attribute need not do so on another, unless they are the table as one group.
        return "guaranteed" if self.certain_as_one_group else "open"

    @property
    def certain_as_one_group(self) -> bool:
        """Whether the table as one group satisfies it, for certain."""
        return all(_holds_as_one_group(result) for result in self.attributes)

    @property
    def certificate(self) -> Certificate | None:
        """A certificate that it is impossible, if there is one."""
        return next((result.certificate for result in self.attributes if result.certificate is not None), None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {
            "name": self.principle.name,
            "label": self.principle.label,
            "parameters": self.principle.parameters(),
            "verdict": self.verdict,
            "attributes": [result.to_dict() for result in self.attributes],
        }

    def __repr__(self) -> str:
        lines = [f"{self.principle.label}: {self.verdict}"]
        for result in sorted(self.attributes, key=lambda result: result.verdict != "impossible")[:_SHOWN]:
            name = result.attribute or "groups"
            lines.append(f"  {name}: {result.reason}")
            if result.nearest is not None:
                indent = " " * (len(name) + 4)
                lines.append(f"{indent}guaranteed in two or more groups: {result.nearest.guaranteed.text()}")
                lines.append(f"{indent}not ruled out: {result.nearest.not_excluded.text()}")
        if len(self.attributes) > _SHOWN:
            lines.append(f"  … and {len(self.attributes) - _SHOWN:,} more columns")
        return "\n".join(lines)


def feasibility(data: Any, schema: Schema | None, principle: PrincipleRequest, nearby: Nearby = True) -> Feasibility:
    """Assess whether any grouping of a table can satisfy a principle, before groups are searched for.

    `data`: a path, a frame of pandas, polars or pyarrow, or a `Table` (whose own schema is used if none is given).
    `principle`: a principle, or a dict with its name and parameters.

    "impossible" comes with a certificate, "guaranteed" with a bound or with the table as one group. "open" means that
    neither is known: a method may well succeed, since no bound is necessary. Deciding it in general is NP-hard (Wang & Liu
    2010, Theorem 2). No verdict is open for a table of up to 12 rows, unless it counts people with several rows: all
    groupings are tried. Every verdict is exact. For (ε,δ)^k-dissimilarity, the largest ε, δ and k that are guaranteed, or
    not ruled out, are computed too, each with the other two fixed, unless `nearby` is false; with "quick", ε only where
    that costs little.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table, schema = pa.table({"x": [1, 2, 3, 4, 5, 6]}), sf.Schema(sensitive=["x"])
    >>> [feasibility(table, schema, sf.Dissimilarity(epsilon=e, delta=1, k=3)).verdict for e in (0, 1, 2)]
    ['guaranteed', 'guaranteed', 'impossible']
    >>> feasibility(table, schema, sf.DistinctLDiversity(7)).certificate.sentence[:45]
    'the table as one group has l 6, wanted at lea'
    """
    (requirement,) = requested_principles(principle)
    table = table_of(data, schema)
    dissimilarity = requirement.as_dissimilarity()
    everyone = Groups.of(table, ())
    results = []
    for names in attributes_of(requirement, table.schema):
        view = View(table, names, everyone)
        attribute = " + ".join(names) or None
        several = bool(names) and view.values_vary  # then bounds on rows prove nothing about people
        if not several:
            view = view.one_row_per_unit(requirement.title)
        if dissimilarity is not None and not several:
            results.append(_dissimilarity(view, attribute, dissimilarity, nearby))
        else:
            results.append(_any_principle(view, attribute, requirement))
    return _with_all_groupings(table, requirement, tuple(results))


def _with_all_groupings(table: Table, principle: Principle, results: tuple[RequirementFeasibility, ...]) -> Feasibility:
    """Return the results, with what all groupings show where they leave it open; large tables are left as they are."""
    attributes = attributes_of(principle, table.schema)
    decided = []
    for names, result in zip(attributes, results, strict=True):
        alone = principle if len(attributes) == 1 else replace(principle, on=on_attribute(names))  # type: ignore[type-var]
        groups = most_groups_of_all(table, alone) if result.verdict == "open" else None
        if groups is None:
            decided.append(result)
        elif groups:
            found = f"of all groupings of the {table.rows} rows, one of {count_of(groups, 'group')} satisfies it"
            decided.append(replace(result, verdict="guaranteed", reason=found, groups=groups))
        else:
            decided.append(replace(result, verdict="impossible", reason=CERTIFICATE.sentence, certificate=CERTIFICATE))
    whole = Feasibility(principle, tuple(decided))
    if whole.verdict == "open" and (groups := most_groups_of_all(table, principle)) is not None:
        return replace(whole, tried="guaranteed" if groups else "impossible")
    return whole


def impossibility(result: Feasibility) -> str:
    """Return in one sentence that no grouping can satisfy a principle, on which column, and why.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> print(impossibility(feasibility(pa.table({"x": [1, 1]}), sf.Schema(sensitive=["x"]), sf.DistinctLDiversity(2))))
    no grouping of these rows can satisfy distinct l-diversity (l = 2) on x: the table as one group has l 1, wanted at least
    2; if every group satisfied distinct l-diversity, so would the table as one group
    """
    first = next(each for each in result.attributes if each.verdict == "impossible")
    on = "" if first.attribute is None else f" on {first.attribute}"
    return f"no grouping of these rows can satisfy {result.principle.label}{on}: {first.reason}"


def _dissimilarity(view: View, attribute: str | None, principle: Dissimilarity, nearby: Nearby) -> RequirementFeasibility:
    rows, delta = view.table.rows, exactly(principle.delta)
    crowding = Crowding.of(view.graph(exactly(principle.epsilon)))
    theta = crowding.theta
    nearest = nearest_parameters(view, principle, crowding, nearby == "quick") if nearby else None
    certificate = principle.certificate(view) if principle.k > rows else proximity_certificate(crowding, principle)
    if certificate is not None:
        known = None
        if principle.k <= rows and least_size(principle.k, delta) <= rows:
            known = bounds(rows, principle.k, delta)
        return RequirementFeasibility(attribute, "impossible", certificate.sentence, 0, certificate, theta, known, nearest)
    known = bounds(rows, principle.k, delta)
    groups = most_groups(rows, principle.k, delta, theta)
    reason = known.reason(theta) if groups else None
    if reason is None:
        open_ = f"Θ = {theta} is above {known.guaranteed}, up to which groups are guaranteed, and nothing rules it out"
        return RequirementFeasibility(attribute, "open", open_, 0, None, theta, known, nearest)
    return RequirementFeasibility(attribute, "guaranteed", reason, groups, None, theta, known, nearest)


def _any_principle(view: View, attribute: str | None, principle: Principle) -> RequirementFeasibility:
    certificate = principle.certificate(view)
    if certificate is not None:
        return RequirementFeasibility(attribute, "impossible", certificate.sentence, certificate=certificate)
    if principle.holds(view):
        return RequirementFeasibility(attribute, "guaranteed", "the table as one group satisfies it", groups=1)
    return RequirementFeasibility(attribute, "open", "the table as one group does not satisfy it, and nothing rules it out")


def _holds_as_one_group(result: RequirementFeasibility) -> bool:
    if result.bounds is not None and result.theta is not None:
        return result.theta <= result.bounds.whole
    return result.verdict == "guaranteed"
