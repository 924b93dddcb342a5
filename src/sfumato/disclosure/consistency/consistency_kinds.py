"""The kinds of consistency under their names in a config."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from sfumato.disclosure.consistency.consistency import Consistency, EqualityConsistency
from sfumato.disclosure.consistency.containment import ContainmentConsistency
from sfumato.disclosure.consistency.similarity import SimilarityConsistency
from sfumato.errors import ParameterError

CONSISTENCIES: dict[str, Consistency] = {
    each.kind: each
    for each in (
        EqualityConsistency(),
        ContainmentConsistency(),
        SimilarityConsistency("jaro"),
        SimilarityConsistency("jaro-winkler"),
    )
}
"""Every kind of consistency, with its parameters as they are if nothing is said."""


def consistency_of(declared: str | Mapping[str, Any]) -> Consistency:
    """The consistency that a config declares: a kind, or a kind with parameters.

    >>> consistency_of({"kind": "jaro", "threshold": "0.9"}).parameters()
    {'kind': 'jaro', 'threshold': '0.9'}
    >>> consistency_of("equality")
    EqualityConsistency()
    """
    parameters = dict(declared) if isinstance(declared, Mapping) else {"kind": declared}
    kind = parameters.pop("kind", None)
    if not isinstance(kind, str) or kind not in CONSISTENCIES:
        close = difflib.get_close_matches(str(kind), CONSISTENCIES, n=1)
        raise ParameterError(
            "a consistency needs a kind" if kind is None else f"consistency {kind!r} is unknown",
            remedy=f"Did you mean {close[0]!r}?" if close else f"Write one of: {', '.join(CONSISTENCIES)}.",
            key="consistency.kind",
            value=kind,
        )
    usual = CONSISTENCIES[kind]
    known = [each.name for each in fields(usual) if each.name != "kind"]  # type: ignore[arg-type]
    for key, value in parameters.items():
        if key not in known:
            raise ParameterError(
                f"consistency {kind!r} has no parameter {key!r}",
                remedy=f"Its parameters are: {', '.join(known) or 'none'}.",
                key=f"consistency.{key}",
                value=value,
            )
    return replace(usual, **parameters) if parameters else usual  # type: ignore[type-var]
