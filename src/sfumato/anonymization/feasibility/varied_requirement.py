"""The requirement whose parameters a frontier varies, and the requirements that it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfumato.data.schema import Schema
from sfumato.principles import Dissimilarity, On, Principle, attributes_of


@dataclass(frozen=True)
class VariedRequirement:
    """A dissimilarity whose ε, δ and k are varied on one attribute, and what is requested besides."""

    requirement: Dissimilarity | None
    """None if the config requests none on this attribute."""
    on: On
    """The attribute; None if it is that of the requirement."""
    others: tuple[Principle, ...]


def varied_requirement(principles: Sequence[Principle], schema: Schema, on: str | None = None) -> VariedRequirement:
    """Return the first requirement on an attribute that can be stated as a dissimilarity, and all others.

    `on`: a sensitive column, several with commas between them for all of these as one, or "whole"; by default the first
    requirement is varied. What that requirement demands of other attributes is one of the others.

    >>> import sfumato as sf
    >>> near = sf.Dissimilarity(epsilon=1, delta=1, k=2, on="each")
    >>> varied = varied_requirement([sf.KAnonymity(5), near], sf.Schema(sensitive=["pay", "ill"]), on="ill")
    >>> varied.requirement.on, [(other.name, getattr(other, "on", None)) for other in varied.others]
    ('ill', [('k-anonymity', None), ('dissimilarity', 'pay')])
    """
    names = None if on is None else _attribute(on, schema)
    for place, principle in enumerate(principles):
        requirement = principle.as_dissimilarity()
        if requirement is None:
            continue
        attributes = attributes_of(principle, schema)
        if names is None and len(attributes) == 1:
            names = attributes[0]
        if names in attributes:
            elsewhere = [replace(principle, on=on_attribute(each)) for each in attributes if each != names]  # type: ignore[type-var]
            others = (*principles[:place], *elsewhere, *principles[place + 1 :])
            return VariedRequirement(replace(requirement, on=on_attribute(names)), on_attribute(names), others)
        if names is None:  # several attributes, and none is named: the frontier says which there are
            return VariedRequirement(requirement, requirement.on, (*principles[:place], *principles[place + 1 :]))
    return VariedRequirement(None, None if names is None else on_attribute(names), tuple(principles))


def _attribute(on: str, schema: Schema) -> tuple[str, ...]:
    """Return the columns that `on` names; raise an error if one is not sensitive."""
    listed = on if on in schema.sensitive or "," not in on else tuple(part.strip() for part in on.split(","))
    return attributes_of(Dissimilarity(0, 0, on=listed), schema)[0]


def on_attribute(names: tuple[str, ...]) -> On:
    """Return the value of `on` that names an attribute.

    >>> on_attribute(("pay",)), on_attribute(("pay", "ill"))
    ('pay', ('pay', 'ill'))
    """
    return names[0] if len(names) == 1 else names
