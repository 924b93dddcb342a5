"""The kinds of consistency by their names in a config."""

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
"""Every kind of consistency, with its default parameters."""


def consistency_of(declared: str | Mapping[str, Any]) -> Consistency:
    """Return the consistency that a config declares: a kind, or a table with the kind and its parameters.

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
            "a consistency needs a kind" if kind is None else f"unknown consistency {kind!r}",
            remedy=f"Did you mean {close[0]!r}?" if close else f"Expected one of: {', '.join(CONSISTENCIES)}.",
            key="consistency.kind",
            value=kind,
        )
    default = CONSISTENCIES[kind]
    names = [each.name for each in fields(default) if each.name != "kind"]  # type: ignore[arg-type]
    for key, value in parameters.items():
        if key not in names:
            raise ParameterError(
                f"consistency {kind!r} has no parameter {key!r}",
                remedy=f"Its parameters are: {', '.join(names) or 'none'}.",
                key=f"consistency.{key}",
                value=value,
            )
    return replace(default, **parameters) if parameters else default  # type: ignore[type-var]
