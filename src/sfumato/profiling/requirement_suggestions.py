"""Suggest requirements to start from: principles that suit the sensitive attributes, and are guaranteed to be reachable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sfumato.anonymization.feasibility import feasibility
from sfumato.data.groups import Groups
from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.principles import (
    Dissimilarity,
    DistinctLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    Principle,
    TCloseness,
)
from sfumato.profiling.column_facts import Facts

K = 5
"""The suggested k. A table of fewer than 2k rows could form only one group, so it gets k = 2."""

_FRACTIONS = ("0.1", "0.05", "0.02", "0.01")
"""Candidates for ε, as fractions of the width of the middle nine tenths of the rows; the largest guaranteed one is used."""

_DELTA = "0.5"
"""At least half of a group's other values must not be near."""

_MANY = 20
"""Numbers with more distinct values than this are amounts, whose distances have a meaning; others may be codes."""


@dataclass(frozen=True)
class SuggestedRequirement:
    """A suggested requirement, the reason for it, and whether a draft config enables it or leaves it to a person."""

    principle: Principle
    reason: str
    enabled: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as plain data."""
        return {
            "name": self.principle.name,
            "parameters": self.principle.parameters(),
            "enabled": self.enabled,
            "reason": self.reason,
        }


def suggest_requirements(table: Table, sensitive: Sequence[Facts]) -> tuple[SuggestedRequirement, ...]:
    """Suggest principles for a table whose schema has roles; `sensitive`: its sensitive attributes, most harmful first.

    Each enabled suggestion is guaranteed with the table as one group, so all of them together are reachable.

    >>> import pyarrow as pa
    >>> from sfumato.profiling.column_facts import facts_of
    >>> from sfumato.data.schema import Schema
    >>> data = pa.table({"age": [20, 30] * 10, "ill": ["flu", "gout", "cold", "flu"] * 5})
    >>> table = Table(data, Schema(["age"], ["ill"]))
    >>> found = suggest_requirements(table, [facts_of(table, "ill")])
    >>> [(requirement.principle, requirement.enabled) for requirement in found][:2]
    [(KAnonymity(k=5), True), (DistinctLDiversity(l=3, on='ill'), True)]
    """
    people = Groups.of(table, ()).population
    k = K if people >= 2 * K else 2
    suggestions = [
        SuggestedRequirement(KAnonymity(k), f"Every person is one of at least {k} people who cannot be distinguished")
    ]
    for position, facts in enumerate(sensitive):
        requirement = _nearness(table, facts, k) or _diversity(table, facts, k)
        if requirement is None:
            continue
        suggestions.append(requirement)
        if position == 0:
            suggestions.append(_closeness(facts))
    return tuple(sorted(suggestions, key=lambda requirement: not requirement.enabled))


def _nearness(table: Table, facts: Facts, k: int) -> SuggestedRequirement | None:
    """Suggest (ε,δ)^k-dissimilarity with the largest sensible ε that is guaranteed."""
    if facts.kind not in (Kind.NUMERIC, Kind.DATE) or facts.distinct <= _MANY or facts.spread <= 0:
        return None
    unit = " days" if facts.kind is Kind.DATE else ""
    for fraction in _FRACTIONS:
        epsilon = _rounded(Decimal(repr(facts.spread)) * Decimal(fraction))
        principle = Dissimilarity(epsilon=epsilon, delta=_DELTA, k=k, on=_on(facts.name))
        if _guaranteed(table, principle):
            return SuggestedRequirement(
                principle,
                f"At most half of the others in a group have a value of {facts.name!r} within {epsilon}{unit} of a "
                f"person's; that is about {100 * float(fraction):g} % of the range of the middle nine tenths of the rows",
            )
    return None


def _diversity(table: Table, facts: Facts, k: int) -> SuggestedRequirement | None:
    """Suggest the strongest l-diversity that groups of 2k rows reach on average."""
    # frequency 3-diversity allows a share of one third; half of that leaves a search room to form groups
    if 6 * facts.common <= facts.rows:
        principle: Principle = FrequencyLDiversity(3, on=_on(facts.name))
        if _guaranteed(table, principle):
            return SuggestedRequirement(principle, f"No value of {facts.name!r} makes up more than a third of a group")
    # l = 3 needs, in each group of 2k rows, one row with a value other than the two most frequent ones
    rest = facts.rows - facts.common - facts.second
    for l in (3, 2) if 2 * k * rest >= facts.rows else (2,):
        principle = DistinctLDiversity(l, on=_on(facts.name))
        if _guaranteed(table, principle):
            return SuggestedRequirement(principle, f"Every group contains at least {l} different values of {facts.name!r}")
    return None


def _closeness(facts: Facts) -> SuggestedRequirement:
    """Suggest t-closeness, which is stricter; a person must enable it."""
    ground = "ordered" if facts.kind in (Kind.NUMERIC, Kind.DATE) else "equal"
    reason = f"Stricter: the values of {facts.name!r} are distributed in every group much as in the whole table"
    return SuggestedRequirement(TCloseness("0.3", ground, on=_on(facts.name)), reason, enabled=False)


def _on(name: str) -> str | tuple[str, ...]:
    """Return an attribute by its name; as a list of one if the name alone has another meaning."""
    return (name,) if name in ("each", "whole") else name


def _guaranteed(table: Table, principle: Principle) -> bool:
    """Return whether the table as one group satisfies a principle."""
    try:
        result = feasibility(table, None, principle, nearby=False)
    except SfumatoError:
        return False
    return result.verdict == "guaranteed" and result.certain_as_one_group


def _rounded(value: Decimal) -> str:
    """Return a number with one digit, as a person would write it."""
    return f"{Decimal(f'{value:.0e}').normalize():f}"
