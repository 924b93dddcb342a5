"""Why a requirement was not met: what bounds and certificates show, in one sentence per principle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.anonymization.feasibility import RequirementFeasibility, feasibility
from sfumato.data.table import Table
from sfumato.principles import Principle

_ORDER = ("impossible", "open", "guaranteed")
"""The verdicts by how much they explain; of several attributes the first is reported."""

_NO_HELP = ("nothing", "delta up to 0")
"""Nearby parameters that are useless: at δ = 0 everything is allowed."""


@dataclass(frozen=True)
class Reason:
    """Why a principle was not satisfied, as far as it is known."""

    text: str
    impossible: bool
    """Whether no grouping at all can satisfy it, so that another method would not help."""


def reasons(table: Table, principles: Sequence[Principle]) -> list[Reason]:
    """Return what is known about each distinct principle on a table. Cost: small compared with finding groups.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [1, 1, 1, 9]}), sf.Schema(sensitive=["x"]))
    >>> print(reasons(table, [sf.Dissimilarity(epsilon=0, delta="0.5", k=2)])[0].text)
    No grouping of these rows can satisfy (ε,δ)^k-dissimilarity (epsilon = 0, delta = 0.5, k = 2) on x: the value 1 makes up
    3 of the 4 rows (75.0 %); at δ = 0.5 no groups of at least 2 can hold more than 2 such rows (50.0 %). Not ruled out:
    delta up to 0.3333
    """
    unique = {id(principle): principle for principle in principles}.values()
    return [_reason(table, principle) for principle in unique]


def _reason(table: Table, principle: Principle) -> Reason:
    result = feasibility(table, None, principle, nearby="quick")
    shown = min(result.attributes, key=lambda one: _ORDER.index(one.verdict))
    on = "" if shown.attribute is None else f" on {shown.attribute}"
    heads = {
        "impossible": f"No grouping of these rows can satisfy {principle.label}{on}",
        "open": f"Whether any grouping of these rows can satisfy {principle.label}{on} is open",
        "guaranteed": f"Groups that satisfy {principle.label}{on} exist",
    }
    text = f"{heads[shown.verdict]}: {shown.reason}{_nearby(shown)}"
    return Reason(text, shown.verdict == "impossible")


def _nearby(outlook: RequirementFeasibility) -> str:
    """Return the nearest parameters as text, unless the requested ones are guaranteed anyway."""
    near = outlook.nearest
    if near is None or outlook.groups > 1:
        return ""
    parameters = {"guaranteed nearby": near.guaranteed.text(), "not ruled out": near.not_excluded.text()}
    sentence = "; ".join(f"{head}: {text}" for head, text in parameters.items() if text not in _NO_HELP)
    return f". {sentence[0].upper()}{sentence[1:]}" if sentence else ""
