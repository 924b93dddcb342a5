"""Values of a sensitive attribute that harm nobody: where the predicate Sens of Fang, Ashrafi & Ng (2011) is false."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.exact.numbers import parse_decimal
from sfumato.projections.plans.plan import unknown_attribute

Harmless = Mapping[str, Iterable[Any] | Callable[[Any], bool]]
"""For each attribute the values that harm nobody, or a function that returns whether a value is harmless."""


def count_sensitive_rows(attributes: Sequence[Attribute], harmless: Harmless | None) -> list[int]:
    """Return for each attribute the number of rows whose value is sensitive."""
    names = [attribute.name for attribute in attributes]
    for name in harmless or ():
        if name not in names:
            problem = "harmless values are declared for a column that is not a sensitive attribute"
            raise unknown_attribute(name, names, problem, "harmless")
    counts = []
    for attribute in attributes:
        declaration = (harmless or {}).get(attribute.name, ())
        counts.append(int(attribute.counts[~harmless_mask(attribute, declaration)].sum()))
    return counts


def normalize_harmless(harmless: Any) -> dict[str, list[Any] | Callable[[Any], bool]]:
    """Return harmless values with every iterable as a list: an iterator is needed more than once.

    >>> normalize_harmless({"pay": (value for value in ["low", "mid"]), "job": "cook"})
    {'pay': ['low', 'mid'], 'job': ['cook']}
    """
    if not isinstance(harmless, Mapping):
        remedy = 'List the harmless values of each attribute, such as {"income": ["none"]}.'
        problem = f"harmless is {harmless!r}, not a mapping from attributes to values"
        raise ParameterError(problem, remedy=remedy, key="harmless", value=harmless)
    return {name: each if callable(each) else _value_list(name, each) for name, each in harmless.items()}


def harmless_predicates(table: Table, harmless: Harmless) -> dict[str, Callable[[Any], bool]]:
    """Return the harmless values of a table as functions, which can be applied to a subset of its rows.

    A listed value that the table does not contain is an error; a function accepts a value that the subset lost.
    """
    predicates = {}
    for name, declaration in harmless.items():
        attribute = table.attribute(table.schema.components(name), name)
        mask = harmless_mask(attribute, declaration)
        predicates[name] = frozenset(attribute.value(v) for v in range(len(attribute)) if mask[v]).__contains__
    return predicates


def harmless_mask(attribute: Attribute, declaration: Iterable[Any] | Callable[[Any], bool]) -> NDArray[np.bool_]:
    """Return for each value of an attribute whether it is harmless."""
    return _apply_function(attribute, declaration) if callable(declaration) else _match_list(attribute, declaration)


def _apply_function(attribute: Attribute, predicate: Callable[[Any], bool]) -> NDArray[np.bool_]:
    """Apply the user's function to each value that occurs."""
    answers = []
    for v in range(len(attribute)):
        value = attribute.value(v)
        try:
            answer = predicate(value)
        except Exception as error:  # the user's function may raise anything; report the value that it failed on
            raise _function_error(attribute, value, f"the harmless function failed on {value!r}: {error}") from error
        if not isinstance(answer, bool | np.bool_):
            raise _function_error(attribute, value, f"the harmless function returned {answer!r} for {value!r}")
        answers.append(bool(answer))
    return np.array(answers, bool)


def _function_error(attribute: Attribute, value: Any, problem: str) -> ParameterError:
    remedy = "The function must accept any value of the attribute (None if missing) and return True (harmless) or False."
    return ParameterError(problem, remedy=remedy, key="harmless", column=attribute.name, value=value)


def _match_list(attribute: Attribute, declaration: Iterable[Any]) -> NDArray[np.bool_]:
    """Match listed values with those that occur; a listed value that the attribute does not have is an error."""
    mask = np.zeros(len(attribute), bool)
    values = _value_list(attribute.name, declaration)
    if not values:
        return mask
    numeric = [column.numbers is not None for column in attribute.columns]
    by_key = {_comparison_key(attribute.value(v), numeric): v for v in range(len(attribute))}
    by_label = {attribute.label(v): v for v in range(len(attribute))}
    domain = attribute.columns[0].texts if len(numeric) == 1 else ()
    for value in values:
        v = by_key.get(_comparison_key(value, numeric), by_label.get(value) if isinstance(value, str) else None)
        if v is not None:
            mask[v] = True
        elif value not in domain:  # the order of an ordinal attribute may contain values that no row has
            raise _unknown_value(attribute, value, list(by_label))
    return mask


def _value_list(name: str, declaration: Any) -> list[Any]:
    if isinstance(declaration, Mapping) or not isinstance(declaration, Iterable):
        remedy = "List the harmless values, or pass a function that returns whether a value is harmless."
        problem = f"{declaration!r} is neither a list of harmless values nor a function"
        raise ParameterError(problem, remedy=remedy, key="harmless", column=str(name), value=declaration)
    return [declaration] if isinstance(declaration, str) else list(declaration)


def _comparison_key(value: Any, numeric: Sequence[bool]) -> Any:
    """Return a key that is equal for equal values: numbers by value, however written; sets as sets; the rest as text."""
    if len(numeric) > 1:
        parts = value if isinstance(value, tuple | list) else (value,)
        return tuple(_comparison_key(part, [kind]) for part, kind in zip(parts, numeric, strict=False))
    if value is None:
        return None
    if isinstance(value, set | frozenset | list | tuple):
        return frozenset(map(str, value))
    number = parse_decimal(value) if numeric[0] else None
    return str(value) if number is None else str(Fraction(number))


def _unknown_value(attribute: Attribute, value: Any, labels: list[str]) -> ParameterError:
    similar = get_close_matches(str(value), labels, n=3, cutoff=0.6)
    listing = ", ".join(map(repr, labels[:8])) + (", …" if len(labels) > 8 else "")
    hint = f"Did you mean {' or '.join(map(repr, similar))}?" if similar else f"The values of the attribute are: {listing}."
    return ParameterError(
        f"{value!r} is declared harmless, but no row has this value",
        remedy=hint,
        key="harmless",
        column=attribute.name,
        value=value,
    )
