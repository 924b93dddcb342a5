"""When the risk against one's own dictionary bounds the risk against an attacker's (Lebanon et al. 2006, Theorem 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.disclosure._risk import risk_of
from sfumato.disclosure.dictionaries.order_by_consistency import precedes_for_records
from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.disclosure.setting import Setting
from sfumato.errors import ParameterError
from sfumato.exact import as_fraction, written


@dataclass(frozen=True)
class BoundCondition:
    """A condition of the theorem, whether it holds, and a counter-example if it does not."""

    name: str
    holds: bool
    why: str = ""


@dataclass(frozen=True)
class RiskBound:
    """Whether R(δ, θ) ≤ R(δ, θ̂) is guaranteed for every rule δ, and both risks of the present rule.

    Source: Lebanon et al. (2006), Theorem 1, with the corrections that `upper_bound` lists.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"id": [1, 2], "age": [30, 41]})
    >>> staff = sf.disclosure.Dictionary(people, identity="id", name="staff")
    >>> book = sf.disclosure.Dictionary(pa.table({"id": [1, 2, 3], "age": [30, None, 30]}), identity="id", name="book")
    >>> risk = sf.risk(people, sf.Schema(), [staff, book], identity="id")
    >>> print(risk.bound("staff", "book"))
    the risk against 'book' is at most that against 'staff', whatever is disclosed
    """

    estimate: str
    attacker: str
    estimated: float
    """The risk against the estimate θ̂: the bound, if it is one."""
    true: float
    """The risk against the attacker's dictionary θ."""
    conditions: tuple[BoundCondition, ...]

    @property
    def holds(self) -> bool:
        """Whether every condition holds, so that the estimate bounds the attacker's risk under any rule."""
        return all(condition.holds for condition in self.conditions)

    @property
    def failing(self) -> tuple[BoundCondition, ...]:
        """The conditions that do not hold."""
        return tuple(condition for condition in self.conditions if not condition.holds)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.holds:
            return f"the risk against {self.attacker!r} is at most that against {self.estimate!r}, whatever is disclosed"
        reasons = "; ".join(f"this condition fails: {condition.name}: {condition.why}" for condition in self.failing)
        return f"nothing bounds the risk against {self.attacker!r} by that against {self.estimate!r}: {reasons}"

    def to_dict(self) -> dict[str, Any]:
        """The bound as plain data."""
        return {
            "estimate": self.estimate,
            "attacker": self.attacker,
            "estimated": "inf" if np.isinf(self.estimated) else self.estimated,
            "true": "inf" if np.isinf(self.true) else self.true,
            "holds": self.holds,
            "conditions": [{"name": each.name, "holds": each.holds, "why": each.why} for each in self.conditions],
        }


def upper_bound(setting: Setting, estimate: str, attacker: str, rule: Rule | None = None) -> RiskBound:
    """Check the conditions of Theorem 1 for two dictionaries of a setting, by their names, and measure both risks.

    The theorem, corrected: let identities be unique; let the estimate θ̂ contain every record's own individual, with
    values that are consistent with the record; let θ̂ ⪯ θ; let the attacker pick any consistent individual alike; and let a
    false identification harm at most as much as a correct one, since otherwise more consistent individuals mean more harm.
    Then R(δ, θ) ≤ R(δ, θ̂) under every rule. Proof: an individual who is consistent with a record in θ̂ is also consistent
    with it in θ, where no more is known about the individual, so ρ only grows; and ρ was not empty, since the record's own
    individual is in it. Without unique identities, ρ counts rows, of which θ̂ may have more. Without the own individual, ρ
    may be empty in θ̂, which counts as no loss, and not in θ. Equality of values as numbers is not enough where they are
    compared as texts, so ⪯ is tested with the consistency of each attribute: an individual who fits a record's value in θ̂
    must fit it in θ (`precedes_for_records`).

    >>> import pyarrow as pa
    >>> from sfumato.disclosure.dictionaries.dictionary import Dictionary
    >>> from sfumato.disclosure.setting import setting_of
    >>> from sfumato.data.schema import Schema
    >>> people = pa.table({"id": [1, 2], "age": [30, 41]})
    >>> staff = Dictionary(people, identity="id", name="staff")
    >>> book = Dictionary(pa.table({"id": [1, 2, 3], "age": [30, None, 30]}), identity="id", name="book")
    >>> bound = upper_bound(setting_of(people, Schema(), [staff, book], identity="id"), "staff", "book")
    >>> bound.holds, bound.estimated, round(bound.true, 3)
    (True, 1.0, 0.667)
    """
    mine, theirs = (_place(setting, name, key) for name, key in ((estimate, "estimate"), (attacker, "attacker")))
    risks = risk_of(setting, rule).dictionaries
    if setting.levels:  # whoever fits a node must be compared on every level: a coarser one has values of no record
        setting = setting.over_steps()
    conditions = [_identities(setting, mine, theirs), _uniform(setting, mine, theirs), *_harm(setting)]
    if conditions[0].holds:
        conditions += [_present(setting, mine), _consistent(setting, mine), _order(setting, mine, theirs)]
    return RiskBound(estimate, attacker, risks[mine].risk, risks[theirs].risk, tuple(conditions))


def _place(setting: Setting, name: str, key: str) -> int:
    if name not in setting.names:
        names = ", ".join(map(repr, setting.names))
        raise ParameterError(f"unknown dictionary {name!r}", remedy=f"Expected one of: {names}.", key=key, value=name)
    return setting.names.index(name)


def _identities(setting: Setting, *places: int) -> BoundCondition:
    """A dictionary that declares identities has unique ones; the records must declare theirs too."""
    name = "identities are declared and unique"
    if setting.identity is None:
        return BoundCondition(name, False, "the identity of the records is not declared")
    for dictionary in (setting.dictionaries[place] for place in places):
        if dictionary.identity is None:
            return BoundCondition(
                name, False, f"{dictionary.title} declares no identity, so several rows may be of one individual"
            )
    return BoundCondition(name, True)


def _uniform(setting: Setting, *places: int) -> BoundCondition:
    name = "the attacker picks any consistent individual alike"
    leaning = [place for place in places if len(setting.matchings[place].weights)]
    why = f"{setting.dictionaries[leaning[0]].title} has weights" if leaning else ""
    return BoundCondition(name, not leaning, why)


def _harm(setting: Setting) -> list[BoundCondition]:
    """A condition only if false identifications harm at all."""
    share = as_fraction(setting.sensitivity.false_identification)
    if not share:
        return []
    why = f"false_identification is {written(share)}" if share > 1 else ""
    return [BoundCondition("a false identification harms at most as much as a correct one", share <= 1, why)]


def _present(setting: Setting, mine: int) -> BoundCondition:
    lacking = setting.matchings[mine].own < 0
    why = _example(setting, lacking, "has no individual there") if lacking.any() else ""
    return BoundCondition("the estimate contains every record's individual", not lacking.any(), why)


def _consistent(setting: Setting, mine: int) -> BoundCondition:
    """With everything disclosed: withholding values only makes more individuals consistent."""
    matching: Matching = setting.matchings[mine]
    unlike = ~matching.match(setting.everything)[2] & (matching.own >= 0)
    why = _example(setting, unlike, "is not consistent with its individual in the estimate") if unlike.any() else ""
    return BoundCondition("the records are consistent with their individuals in the estimate", not unlike.any(), why)


def _order(setting: Setting, mine: int, theirs: int) -> BoundCondition:
    order = precedes_for_records(setting, mine, theirs)
    name = "the estimate precedes the attacker's dictionary (⪯), as far as the records reveal"
    return BoundCondition(name, order.holds, "" if order.holds else str(order))


def _example(setting: Setting, which: Any, what: str) -> str:
    row, others = int(np.argmax(which)), int(which.sum()) - 1
    more = f", and {others:,} more" if others else ""
    return f"row {row + 1} ({setting.identity} = {setting.identity_of(row)}) {what}{more}"
