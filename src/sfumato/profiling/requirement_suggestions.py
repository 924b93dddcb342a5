"""Principles to start from: such as suit the sensitive attributes, and are known beforehand to be within reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sfumato.anonymization.feasibility import feasibility
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
from sfumato.profiling.identifying_combinations import together

K = 5
"""The k that is asked for in tables of at least twice as many rows."""

_FRACTIONS = ("0.1", "0.05", "0.02", "0.01")
"""ε as a fraction of the width that the middle nine tenths of the rows take up; the largest that is guaranteed stands."""

_DELTA = "0.5"
"""At least half of a group's other values must not be near."""

_MANY = 20
"""Numbers with more distinct values than this have a distance that means something."""

_RICH = 3
"""A further attribute is asked about at once if no value makes up more than one row in so many: it costs little then."""

_MOST = 3
"""Attributes that are asked about at once."""


@dataclass(frozen=True)
class Wish:
    """A principle to ask for, why, and whether it is asked for at once or left to a person."""

    principle: Principle
    reason: str
    asked: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "name": self.principle.name,
            "parameters": self.principle.parameters(),
            "asked": self.asked,
            "reason": self.reason,
        }


def wishes(table: Table, sensitive: Sequence[Facts]) -> tuple[Wish, ...]:
    """Principles for a table whose schema has roles; its sensitive attributes in the order of what hurts most.

    Each that is asked for is guaranteed with the table as one group, so that all together are.

    >>> import pyarrow as pa
    >>> from sfumato.profiling.column_facts import facts_of
    >>> from sfumato.data.schema import Schema
    >>> data = pa.table({"age": [20, 30] * 10, "ill": ["flu", "gout", "cold", "flu"] * 5})
    >>> table = Table(data, Schema(["age"], ["ill"]))
    >>> [(wish.principle, wish.asked) for wish in wishes(table, [facts_of(table, "ill")])][:2]
    [(KAnonymity(k=5), True), (DistinctLDiversity(l=3, on='ill'), True)]
    """
    k = K if table.rows >= 2 * K else 2
    found = [Wish(KAnonymity(k), f"Every person is one of at least {k} that cannot be told apart")]
    asked = 0
    for position, facts in enumerate(sensitive):
        wish = _near(table, facts, k) or _diverse(table, facts, k)
        if wish is None:
            continue
        rich = _RICH * facts.common <= facts.rows and not _told(table, sensitive[0], facts)
        now = asked < _MOST and (position == 0 or asked == 0 or rich)
        found.append(Wish(wish.principle, wish.reason, now))
        asked += now
        if position == 0:
            found.append(_close(facts))
    return tuple(sorted(found, key=lambda wish: not wish.asked))


def _told(table: Table, main: Facts, facts: Facts) -> bool:
    """Whether the main attribute tells another in every row: what protects the one protects the other well enough."""
    return together(table, [main.name, facts.name]).groups == main.distinct + (main.missing > 0)


def _near(table: Table, facts: Facts, k: int) -> Wish | None:
    """(ε,δ)^k-dissimilarity with the largest sensible ε that is guaranteed."""
    if facts.kind is not Kind.NUMERIC or facts.distinct <= _MANY or facts.spread <= 0:
        return None
    for fraction in _FRACTIONS:
        epsilon = _rounded(Decimal(repr(facts.spread)) * Decimal(fraction))
        wish = Dissimilarity(epsilon=epsilon, delta=_DELTA, k=k, on=_on(facts.name))
        if _guaranteed(table, wish):
            return Wish(
                wish,
                f"Of {facts.name!r}, at most half of the others in a group lie within {epsilon} of a person's value; that "
                f"is about {100 * float(fraction):g} % of the width that nine tenths of the rows take up",
            )
    return None


def _diverse(table: Table, facts: Facts, k: int) -> Wish | None:
    """The strongest l-diversity that groups of twice k rows reach on average."""
    if 6 * facts.common <= facts.rows:
        wish: Principle = FrequencyLDiversity(3, on=_on(facts.name))
        if _guaranteed(table, wish):
            return Wish(wish, f"No value of {facts.name!r} is held by more than a third of a group")
    rest = facts.rows - facts.common - facts.second
    for l in (3, 2) if 2 * k * rest >= facts.rows else (2,):
        wish = DistinctLDiversity(l, on=_on(facts.name))
        if _guaranteed(table, wish):
            return Wish(wish, f"Every group holds at least {l} different values of {facts.name!r}")
    return None


def _close(facts: Facts) -> Wish:
    ground = "ordered" if facts.kind is Kind.NUMERIC else "equal"
    wish = TCloseness("0.3", ground, on=_on(facts.name))
    return Wish(
        wish, f"Stricter: the values of {facts.name!r} are spread in every group much as in the whole table", asked=False
    )


def _on(name: str) -> str | tuple[str, ...]:
    """An attribute by its name; in brackets if the name alone would mean something else."""
    return (name,) if name in ("each", "whole") else name


def _guaranteed(table: Table, principle: Principle) -> bool:
    try:
        found = feasibility(table, None, principle, nearby=False)
    except SfumatoError:
        return False
    return found.verdict == "guaranteed" and found.certain_as_one_group


def _rounded(value: Decimal) -> str:
    """A number to one digit, as a person would write it."""
    return f"{Decimal(f'{value:.0e}').normalize():f}"
