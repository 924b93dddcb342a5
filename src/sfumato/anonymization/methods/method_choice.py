"""From the name of a method in a config to the method, and the choice that "auto" makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.anonymization.methods.method import Method, check_method_class
from sfumato.principles import Principle
from sfumato.registry import METHODS, build

AUTO = "auto"
"""The name that leaves the choice to sfumato."""


def default_method(principles: Sequence[Principle]) -> Method:
    """Return the method that "auto" means for some principles: Glaze, or Mondrian if Glaze cannot serve one of them.

    >>> from sfumato.principles import KAnonymity, NTCloseness
    >>> default_method([KAnonymity(5)]), default_method([NTCloseness(n=100, t="0.2")])
    (Glaze(effort=1), Mondrian(relaxed=False))
    """
    kind: type[Method] = METHODS["glaze" if all(principle.searchable for principle in principles) else "mondrian"]
    return kind()


def method_of(name: str, parameters: Mapping[str, Any]) -> Method:
    """Return the method of a name with its parameters, as a config states them; "auto" is Glaze.

    >>> method_of("mondrian", {"relaxed": True})
    Mondrian(relaxed=True)
    """
    kind: type[Method] = METHODS.find("glaze" if name == AUTO else name)
    check_method_class(kind)
    return build(kind, f"the method {name}", parameters)
