"""From a name, as a config states it, to what it names: a value with its parameters, or a user's own function."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from sfumato.errors import ParameterError

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
            raise ParameterError(
                f"{title} has no parameter {key!r}",
                remedy=f"Its parameters are: {', '.join(known) or 'none'}.",
                key=key,
                value=parameters[key],
            )
    for key, field in known.items():
        if key not in parameters and field.default is MISSING and field.default_factory is MISSING:
            raise ParameterError(f"{title} needs {key!r}", remedy=f"Write {key} = …", key=key)
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()})


def function_named(name: str) -> Callable[..., Any]:
    """The function that a text "module:function" names.

    >>> function_named("math:sqrt")(9)
    3.0
    """
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise _no_function(f"the module {module!r} cannot be imported: {error}", name) from error
    except (AttributeError, ValueError, TypeError) as error:
        raise _no_function(f"{name!r} names no function of a module", name) from error
    if not callable(found):
        raise _no_function(f"{name!r} is not a function", name)
    return found  # type: ignore[no-any-return]


def _no_function(problem: str, name: str) -> ParameterError:
    remedy = 'Write "module:function"; the module is looked for beside the config and where Python looks.'
    return ParameterError(problem, remedy=remedy, key="function", value=name)
