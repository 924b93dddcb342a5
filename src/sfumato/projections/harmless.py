"""Which values of a sensitive attribute harm nobody: where the predicate Sens of paper 004 is false."""

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
from sfumato.projections.plan import unknown_attribute

Harmless = Mapping[str, Iterable[Any] | Callable[[Any], bool]]
"""For each attribute the values that harm nobody, or a function that says so of a value."""


def sensitive_rows(attributes: Sequence[Attribute], harmless: Harmless | None) -> list[int]:
    """For each attribute the number of rows whose value is sensitive."""
    names = [attribute.name for attribute in attributes]
    for name in harmless or ():
        if name not in names:
            problem = "harmless values are given for what is not one of the sensitive attributes"
            raise unknown_attribute(name, names, problem, "harmless")
    counts = []
    for attribute in attributes:
        given = (harmless or {}).get(attribute.name, ())
        counts.append(int(attribute.counts[~harmless_values(attribute, given)].sum()))
    return counts


def listed_harmless(harmless: Any) -> dict[str, list[Any] | Callable[[Any], bool]]:
    """Harmless values as they are given, each listed once: what can be gone through only once is needed again.

    >>> listed_harmless({"pay": (value for value in ["low", "mid"]), "job": "cook"})
    {'pay': ['low', 'mid'], 'job': ['cook']}
    """
    if not isinstance(harmless, Mapping):
        remedy = 'Give for each attribute the values that harm nobody, such as {"income": ["none"]}.'
        problem = f"{harmless!r} says of no attribute which values harm nobody"
        raise ParameterError(problem, remedy=remedy, key="harmless", value=harmless)
    return {name: given if callable(given) else _values(name, given) for name, given in harmless.items()}


def judged(table: Table, harmless: Harmless) -> dict[str, Callable[[Any], bool]]:
    """The same as functions, which can be asked about some of the rows too: a value that none of them has is no error."""
    found = {}
    for name, given in harmless.items():
        attribute = table.attribute(table.schema.components(name), name)
        harms = harmless_values(attribute, given)
        found[name] = frozenset(attribute.value(v) for v in range(len(attribute)) if harms[v]).__contains__
    return found


def harmless_values(attribute: Attribute, given: Iterable[Any] | Callable[[Any], bool]) -> NDArray[np.bool_]:
    """For each value of an attribute whether it harms nobody."""
    return _judged(attribute, given) if callable(given) else _listed(attribute, given)


def _judged(attribute: Attribute, says: Callable[[Any], bool]) -> NDArray[np.bool_]:
    """What a user's function says of each value that occurs."""
    answers = []
    for v in range(len(attribute)):
        value = attribute.value(v)
        try:
            answer = says(value)
        except Exception as error:  # whatever a user's function raises is told with the value that it met
            raise _refused(attribute, value, f"the function of harmless values failed on {value!r}: {error}") from error
        if not isinstance(answer, bool | np.bool_):
            raise _refused(attribute, value, f"the function of harmless values answered {answer!r} to {value!r}")
        answers.append(bool(answer))
    return np.array(answers, bool)


def _refused(attribute: Attribute, value: Any, problem: str) -> ParameterError:
    remedy = "Let it take any value of the attribute (a missing one is None) and answer True (harmless) or False."
    return ParameterError(problem, remedy=remedy, key="harmless", column=attribute.name, value=value)


def _listed(attribute: Attribute, given: Iterable[Any]) -> NDArray[np.bool_]:
    """Which values that occur are among those given; one that the attribute does not have is an error."""
    found = np.zeros(len(attribute), bool)
    wanted = _values(attribute.name, given)
    if not wanted:
        return found
    numeric = [column.numbers is not None for column in attribute.columns]
    known = {_key(attribute.value(v), numeric): v for v in range(len(attribute))}
    labels = {attribute.label(v): v for v in range(len(attribute))}
    declared = attribute.columns[0].texts if len(numeric) == 1 else ()
    for value in wanted:
        v = known.get(_key(value, numeric), labels.get(value) if isinstance(value, str) else None)
        if v is not None:
            found[v] = True
        elif value not in declared:  # an ordinal's order may hold values that no row has
            raise _unknown_value(attribute, value, list(labels))
    return found


def _values(name: str, given: Any) -> list[Any]:
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        remedy = "List the values that harm nobody, or give a function that says so of a value."
        problem = f"{given!r} is neither a list of harmless values nor a function"
        raise ParameterError(problem, remedy=remedy, key="harmless", column=str(name), value=given)
    return [given] if isinstance(given, str) else list(given)


def _key(value: Any, numeric: Sequence[bool]) -> Any:
    """A value such that equal ones are equal: numbers as numbers, however written; sets as sets; all else as text."""
    if len(numeric) > 1:
        parts = value if isinstance(value, tuple | list) else (value,)
        return tuple(_key(part, [kind]) for part, kind in zip(parts, numeric, strict=False))
    if value is None:
        return None
    if isinstance(value, set | frozenset | list | tuple):
        return frozenset(map(str, value))
    number = parse_decimal(value) if numeric[0] else None
    return str(value) if number is None else str(Fraction(number))


def _unknown_value(attribute: Attribute, value: Any, labels: list[str]) -> ParameterError:
    close = get_close_matches(str(value), labels, n=3, cutoff=0.6)
    some = ", ".join(map(repr, labels[:8])) + (", …" if len(labels) > 8 else "")
    hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else f"Its values are: {some}."
    return ParameterError(
        f"{value!r} is given as harmless, and no row has it", remedy=hint, key="harmless", column=attribute.name, value=value
    )
