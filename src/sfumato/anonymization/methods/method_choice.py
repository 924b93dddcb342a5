"""The dict that names every method, and the way from a config's words to a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from sfumato.anonymization.methods.glaze import Glaze
from sfumato.anonymization.methods.lattice import Lattice
from sfumato.anonymization.methods.method import Method
from sfumato.anonymization.methods.mondrian import Mondrian
from sfumato.anonymization.methods.search_constraints import served
from sfumato.anonymization.methods.xcolor import XColor
from sfumato.errors import ParameterError
from sfumato.principles import Principle
from sfumato.registry import built

METHODS: dict[str, type[Method]] = {method.name: method for method in (Glaze, Lattice, Mondrian, XColor)}
"""Every method under its name in a config."""

AUTO = "auto"
"""What a config says that leaves the choice to sfumato: the default method."""


def suited(principles: Sequence[Principle]) -> Method:
    """The method that "auto" means for some principles: Glaze, but Mondrian where Glaze cannot serve one.

    >>> from sfumato.principles import KAnonymity, NTCloseness
    >>> suited([KAnonymity(5)]), suited([NTCloseness(n=100, t="0.2")])
    (Glaze(effort=1), Mondrian(relaxed=False))
    """
    return Glaze() if all(served(principle) for principle in principles) else Mondrian()


def method_of(name: str, parameters: Mapping[str, Any]) -> Method:
    """Return the method of a name with its parameters, as a config states them; "auto" is Glaze.

    >>> method_of("mondrian", {"relaxed": True})
    Mondrian(relaxed=True)
    """
    kind = Glaze if name == AUTO else METHODS.get(name)
    if kind is None:
        close = get_close_matches(name, METHODS, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"The methods are: {', '.join(METHODS)}."
        raise ParameterError(f"there is no method {name!r}", remedy=hint, key="name", value=name)
    return built(kind, f"the method {name}", parameters)
