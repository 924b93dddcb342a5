"""From the name of a method in a config to the method, and the choice that "auto" makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.anonymization.methods.method import Method, check_method_class
from sfumato.errors import ParameterError
from sfumato.principles import Principle
from sfumato.registry import METHODS, build
from sfumato.resistance import RESISTING_METHODS, method_problem, resisting_method

AUTO = "auto"
"""The name that leaves the choice to sfumato."""


def default_method(principles: Sequence[Principle], resist: Sequence[str] = ()) -> Method:
    """Return the method that "auto" means for some principles: Glaze, or Mondrian if Glaze cannot serve one of them.

    `resist`: attacks that the groups must withstand; the method is then the one that withstands them.

    >>> from sfumato.principles import KAnonymity, NTCloseness
    >>> default_method([KAnonymity(5)]), default_method([NTCloseness(n=100, t="0.2")])
    (Glaze(effort=1), Mondrian(relaxed=False))
    """
    needed = resisting_method(resist)
    if needed is not None:
        withstanding: type[Method] = METHODS[needed]
        return withstanding()
    kind: type[Method] = METHODS["glaze" if all(principle.searchable for principle in principles) else "mondrian"]
    return kind()


def refuse_other_method(method: Method, resist: Sequence[str]) -> None:
    """Raise an error if a method does not withstand an attack that its groups must withstand."""
    problem = method_problem(resist, method.name)
    needed = resisting_method(resist)
    if problem is None and needed is not None and not isinstance(method, METHODS[needed]):
        attack = next(name for name in resist if RESISTING_METHODS.get(name) == needed)
        problem = f"the class {type(method).__qualname__} does not resist {attack!r}"
    if problem is not None:
        raise ParameterError(
            problem,
            remedy='Use that method, leave method at "auto", or remove resist.',
            key="resist",
            value=method.name,
        )


def method_of(name: str, parameters: Mapping[str, Any]) -> Method:
    """Return the method of a name with its parameters, as a config states them; "auto" is Glaze.

    >>> method_of("mondrian", {"relaxed": True})
    Mondrian(relaxed=True)
    """
    kind: type[Method] = METHODS.find("glaze" if name == AUTO else name)
    check_method_class(kind)
    return build(kind, f"the method {name}", parameters)
