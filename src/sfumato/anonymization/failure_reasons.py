"""Why principles were not reached: what bounds and certificates say, in a sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.anonymization.feasibility import RequirementFeasibility, feasibility
from sfumato.data.table import Table
from sfumato.principles import Principle

_ORDER = ("impossible", "open", "guaranteed")
"""Of several attributes the one that tells most: why it cannot be, before what nobody knows."""


_NO_HELP = ("nothing", "delta up to 0")
"""Nearby wishes that are none: at δ = 0 everything is allowed."""


@dataclass(frozen=True)
class Reason:
    """What is known of why a principle was not reached."""

    text: str
    impossible: bool
    """Whether no grouping at all can satisfy it, so that another method would not help."""


def reasons(table: Table, principles: Sequence[Principle]) -> list[Reason]:
    """For each principle, named once however often, what is known of it on a table; quick, beside finding groups.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [1, 1, 1, 9]}), sf.Schema(sensitive=["x"]))
    >>> print(reasons(table, [sf.Dissimilarity(epsilon=0, delta="0.5", k=2)])[0].text)
    No grouping of these rows can satisfy (ε,δ)^k-dissimilarity (epsilon = 0, delta = 0.5, k = 2): the value 1 makes up 3 of
    the 4 rows (75.0 %); at δ = 0.5 no groups of at least 2 can hold more than 2 such rows (50.0 %). Not ruled out: delta up
    to 0.3333
    """
    unique = {id(principle): principle for principle in principles}.values()
    return [_reason(table, principle) for principle in unique]


def _reason(table: Table, principle: Principle) -> Reason:
    found = feasibility(table, None, principle, nearby="quick")
    told = min(found.attributes, key=lambda result: _ORDER.index(result.verdict))
    on = f" on {told.attribute}" if len(found.attributes) > 1 else ""
    heads = {
        "impossible": f"No grouping of these rows can satisfy {principle.label}{on}",
        "open": f"Whether any grouping of these rows can satisfy {principle.label}{on} is open",
        "guaranteed": f"Groups that satisfy {principle.label}{on} exist",
    }
    text = f"{heads[told.verdict]}: {told.reason}{_nearby(told)}"
    return Reason(text, told.verdict == "impossible")


def _nearby(outlook: RequirementFeasibility) -> str:
    """The nearest wishes in words, if what was wished for is not guaranteed anyway."""
    near = outlook.nearest
    if near is None or outlook.groups > 1:
        return ""
    wishes = {"guaranteed nearby": near.guaranteed.text(), "not ruled out": near.not_excluded.text()}
    told = "; ".join(f"{head}: {text}" for head, text in wishes.items() if text not in _NO_HELP)
    return f". {told[0].upper()}{told[1:]}" if told else ""
