"""What is required of a group for the sake of some people or values: k, l, ε and δ, stated beside a rule for whom."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sfumato.data.text_values import text_value
from sfumato.errors import ParameterError

_VALUES = (str, int, float, Decimal, Fraction, date)
"""What a value may be given as."""


def set_rules(principle: Any) -> None:
    """Check the parameter `values` of a principle, which is one rule or several, and replace it by texts."""
    stated = principle.values
    several = stated if isinstance(stated, list | tuple | set | frozenset) else [stated]
    texts = all(isinstance(value, _VALUES) and not isinstance(value, bool) for value in several)
    rules = tuple(dict.fromkeys(text_value(str(value)) for value in several)) if texts else ()
    if not rules or "" in rules:
        raise ParameterError(
            f"{principle.name}: values = {stated!r} names no value",
            remedy='Name one or several values, such as ["HIV"] or ">= 100000".',
            key="values",
            value=stated,
        )
    object.__setattr__(principle, "values", rules[0] if len(rules) == 1 else rules)


def rules_of(principle: Any) -> tuple[str, ...]:
    """Return the parameter `values` of a principle as a tuple."""
    return (principle.values,) if isinstance(principle.values, str) else tuple(principle.values)


def set_protection(principle: Any, whom: str) -> None:
    """Check k, l, ε and δ of a principle, at least one of which must require something; `whom`: for whose sake, in words."""
    principle.set_fraction("l", least=1)
    principle.check_whole("k")
    if principle.epsilon is None and principle.delta is not None:
        raise ParameterError(
            f"{principle.name}: epsilon is missing: delta is about those who are near",
            remedy="Give epsilon too, or leave delta out.",
            key="epsilon",
        )
    if principle.epsilon is not None:
        object.__setattr__(principle, "delta", 1 if principle.delta is None else principle.delta)
        principle.set_fraction("epsilon", least=0)
        principle.set_fraction("delta", least=0, most=1)
    if principle.l == 1 and principle.k == 1 and principle.epsilon is None:
        raise ParameterError(
            f"{principle.name}: nothing is required of groups with these {whom}",
            remedy="Give l above 1, k above 1, or epsilon and delta.",
            key="l",
            value=principle.l,
        )
