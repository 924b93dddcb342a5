"""The attacks that a release can be made to withstand, and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.errors import ParameterError

RESISTING_METHODS = {"minimality": "deal"}
"""For each attack on the groups the method that withstands it: docs/resisting.md has the proof."""

ENDS = "ends"
"""The attack on the ends of intervals, which nodes of public grids withstand, whatever the method."""

WITHSTOOD = (*RESISTING_METHODS, ENDS)
"""All attacks that a release can be made to withstand."""


def check_resist(resist: Any) -> tuple[str, ...]:
    """Return the attacks that a release must withstand; an unknown one is an error.

    >>> check_resist(["minimality"])
    ('minimality',)
    """
    names = [resist] if isinstance(resist, str) else resist
    known = ", ".join(map(repr, WITHSTOOD))
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            f"invalid resist {resist!r}: it must be a list of names", remedy=f"The names are: {known}.", key="resist"
        )
    for name in names:
        if name not in WITHSTOOD:
            raise ParameterError(f"no method resists {name!r}", remedy=f"The names are: {known}.", key="resist", value=name)
    return tuple(dict.fromkeys(names))


def resisting_method(resist: Sequence[str]) -> str | None:
    """Return the method that withstands what is requested; None if every method does.

    >>> resisting_method(["ends", "minimality"]), resisting_method(["ends"])
    ('deal', None)
    """
    return next((RESISTING_METHODS[name] for name in resist if name in RESISTING_METHODS), None)


def method_problem(resist: Sequence[str], method: str) -> str | None:
    """Return why a method does not withstand what is requested; None if it does.

    >>> method_problem(["minimality"], "glaze")
    "the method glaze does not resist 'minimality'; the method deal does"
    """
    for name in resist:
        if name not in WITHSTOOD:
            return f"no method resists {name!r}"
        needed = RESISTING_METHODS.get(name, method)
        if method != needed:
            return f"the method {method} does not resist {name!r}; the method {needed} does"
    return None
