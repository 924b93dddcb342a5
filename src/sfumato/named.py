"""From a name's parameters, as a config states them, to a value: the same checks for principles and methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from sfumato.errors import ParameterProblem

Value = TypeVar("Value")


def built(kind: type[Value], title: str, parameters: Mapping[str, Any]) -> Value:
    """Make a value of a dataclass; a parameter that it does not have, or that is missing, is an error that says so.

    >>> from sfumato.principles import KAnonymity
    >>> built(KAnonymity, "k-anonymity", {"k": 5})
    KAnonymity(k=5)
    """
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    for key in parameters:
        if key not in known:
            raise ParameterProblem(
                f"{title} has no parameter {key!r}",
                remedy=f"Its parameters are: {', '.join(known) or 'none'}.",
                key=key,
                value=parameters[key],
            )
    for key, field in known.items():
        if key not in parameters and field.default is MISSING and field.default_factory is MISSING:
            raise ParameterProblem(f"{title} needs {key!r}", remedy=f"Write {key} = …", key=key)
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()})
