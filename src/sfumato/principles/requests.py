"""From what a user requests to principles: a principle, a name, or a dict as a config states it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.errors import ParameterError
from sfumato.principles.principle import Principle, check_principle_class
from sfumato.registry import PRINCIPLES, build, required_parameters

PrincipleRequest = Principle | str | Mapping[str, Any]
"""A principle; the name of one without required parameters; or a dict with its `name` and its parameters."""


def principle_of(name: str, parameters: Mapping[str, Any]) -> Principle:
    """Return the principle of a name with its parameters, as a config states them.

    >>> principle_of("k-anonymity", {"k": 5})
    KAnonymity(k=5)
    """
    kind: type[Principle] = PRINCIPLES.find(name)
    check_principle_class(kind)
    return build(kind, name, parameters)


def requested_principles(requested: PrincipleRequest | Sequence[PrincipleRequest]) -> tuple[Principle, ...]:
    """Return the principles of one request or of several; anything else is an error that says what to pass.

    >>> requested_principles({"name": "k-anonymity", "k": 5})
    (KAnonymity(k=5),)
    >>> requested_principles("k-anonymity")
    Traceback (most recent call last):
    ...
    sfumato.errors.ParameterError: k: k-anonymity requires 'k'. Pass sf.KAnonymity(k=3) or {'name': 'k-anonymity', 'k': 3}.
    """
    several = [requested] if isinstance(requested, Principle | str | Mapping | type) else requested
    if not isinstance(several, Sequence):
        raise _no_principle(requested)
    if not several:
        raise ParameterError("no principle is requested", remedy="Name at least one principle.", key="principles")
    return tuple(_principle(each) for each in several)


def _principle(requested: Any) -> Principle:
    if isinstance(requested, Principle):
        check_principle_class(type(requested))
        return requested
    if isinstance(requested, type) and issubclass(requested, Principle):
        check_principle_class(requested)
        raise ParameterError(
            f"the class {requested.__qualname__} is not a principle: its parameters are missing",
            remedy=_call(requested, requested.name),
            key="principles",
        )
    if isinstance(requested, str):
        name, parameters = requested, {}
    elif isinstance(requested, Mapping) and isinstance(requested.get("name"), str):
        parameters = dict(requested)
        name = parameters.pop("name")
    else:
        raise _no_principle(requested)
    kind: type[Principle] = PRINCIPLES.find(name, key="principles")
    check_principle_class(kind)
    missing = [key for key in required_parameters(kind) if key not in parameters]
    if missing:
        raise ParameterError(f"{name} requires {' and '.join(map(repr, missing))}", remedy=_call(kind, name), key=missing[0])
    return build(kind, name, parameters)


def _call(kind: type[Principle], name: str) -> str:
    """Show how a principle is requested, with the parameters of its worked example."""
    example = kind.example()
    required = required_parameters(kind)
    values = {} if example is None else example.principle.parameters()
    shown = {key: values.get(key, "…") for key in required}
    arguments = ", ".join(f"{key}={value!r}" for key, value in shown.items())
    return f"Pass {python_name(kind)}({arguments}) or { ({'name': name} | shown)!r}."


def python_name(kind: type[Principle]) -> str:
    """Return the name under which Python code reaches a principle after `import sfumato as sf`.

    >>> from sfumato.principles import KAnonymity
    >>> python_name(KAnonymity)
    'sf.KAnonymity'
    """
    import sfumato

    if getattr(sfumato, kind.__name__, None) is kind:
        return f"sf.{kind.__name__}"
    own = kind.__module__.startswith("sfumato.principles.")
    return f"sf.principles.{kind.__name__}" if own else f"{kind.__module__}.{kind.__name__}"


def _no_principle(requested: Any) -> ParameterError:
    return ParameterError(
        f"{requested!r} is not a principle",
        remedy="Pass one such as sf.KAnonymity(k=5), or a dict such as {'name': 'k-anonymity', 'k': 5}.",
        key="principles",
    )
