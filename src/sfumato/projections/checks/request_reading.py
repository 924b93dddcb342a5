"""Read the plan and the harmless values that a caller of `verify` passes, without the code that made the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.data.attribute import Attribute
from sfumato.errors import ParameterError
from sfumato.exact.numbers import parse_decimal


def read_plan(plan: Any) -> list[list[str]]:
    """Return the attributes of each table: from nested lists, an object with `blocks`, or a text such as "a,b|c".

    >>> read_plan("job, pay|sex"), read_plan([("job", "pay"), "sex"])
    ([['job', 'pay'], ['sex']], [['job', 'pay'], ['sex']])
    """
    if isinstance(plan, str):
        return [[name.strip() for name in table.split(",") if name.strip()] for table in plan.split("|")]
    # A `Plan` of the makers has `blocks`; reading the attribute avoids importing the class.
    blocks = getattr(plan, "blocks", plan)
    if isinstance(blocks, Mapping) or not isinstance(blocks, Iterable):
        raise _invalid_plan(plan)
    tables = [[block] if isinstance(block, str) else block for block in blocks]
    if not all(isinstance(table, Iterable) and not isinstance(table, Mapping) for table in tables):
        raise _invalid_plan(plan)
    return [[str(name) for name in table] for table in tables]


def _invalid_plan(plan: Any) -> ParameterError:
    remedy = 'List the attributes of each table, such as [["diagnosis", "job"], ["income"]].'
    return ParameterError(f"invalid plan {plan!r}", remedy=remedy, key="project.plan", value=plan)


def plan_problem(plan: Sequence[Sequence[str]], attributes: Sequence[str]) -> str | None:
    """Return why blocks are not a plan over these attributes: each attribute must be in exactly one block.

    >>> plan_problem([["a"], ["b"]], ["a", "b"]), plan_problem([["a"]], ["a", "b"])
    (None, "the plan leaves out 'b'")
    """
    names = [name for block in plan for name in block]
    for name in names:
        if name not in attributes:
            return f"{name!r} is not one of the sensitive attributes"
        if names.count(name) > 1:
            return f"the plan contains {name!r} twice"
    missing = [name for name in attributes if name not in names]
    return f"the plan leaves out {', '.join(map(repr, missing))}" if missing else None


def harmless_labels(attribute: Attribute, declaration: Any) -> set[str | None]:
    """Return the published values among those that are declared harmless: listed, or accepted by a function.

    A listed value that is not published is ignored: only suppressed rows may have had it.
    """
    if callable(declaration):
        accepted = [value for value in range(len(attribute)) if _call(declaration, attribute, value)]
    elif isinstance(declaration, Iterable) and not isinstance(declaration, Mapping):
        accepted = _match(attribute, [declaration] if isinstance(declaration, str) else list(declaration))
    else:
        raise ParameterError(
            f"{declaration!r} is neither a list of harmless values nor a function",
            remedy="List the harmless values, or pass a function that returns whether a value is harmless.",
            key="project.harmless",
            column=attribute.name,
            value=declaration,
        )
    return {attribute.label_or_none(value) for value in accepted}


def _call(function: Callable[[Any], Any], attribute: Attribute, index: int) -> bool:
    value = attribute.value(index)
    remedy = "The function must accept any value of the attribute (None if missing) and return True (harmless) or False."
    try:
        answer = function(value)
    except Exception as error:  # the user's function may raise anything
        raise ParameterError(
            f"the harmless function failed on {value!r}: {error}",
            remedy=remedy,
            key="project.harmless",
            column=attribute.name,
            value=value,
        ) from error
    if not isinstance(answer, bool | np.bool_):
        raise ParameterError(
            f"the harmless function returned {answer!r} for {value!r}",
            remedy=remedy,
            key="project.harmless",
            column=attribute.name,
            value=value,
        )
    return bool(answer)


def _match(attribute: Attribute, values: Sequence[Any]) -> list[int]:
    """Return the indices of the listed values; equal values match however they are written, and labels match."""
    numeric = [column.numbers is not None for column in attribute.columns]
    by_key = {_key(attribute.value(index), numeric): index for index in range(len(attribute))}
    by_label = {attribute.label(index): index for index in range(len(attribute))}
    matches = (by_key.get(_key(v, numeric), by_label.get(v) if isinstance(v, str) else None) for v in values)
    return [index for index in matches if index is not None]


def _key(value: Any, numeric: Sequence[bool]) -> Any:
    """Return a key that is equal for equal values: numbers by value, sets as sets, everything else as text."""
    if len(numeric) > 1:
        parts = value if isinstance(value, tuple | list) else (value,)
        return tuple(_key(part, [kind]) for part, kind in zip(parts, numeric, strict=False))
    if isinstance(value, set | frozenset | list | tuple):
        return frozenset(map(str, value))
    number = parse_decimal(value) if numeric[0] and value is not None else None
    return None if value is None else str(value) if number is None else str(Fraction(number))
