"""How many people the quasi-identifiers single out, with the roles as they are in the config now."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from sfumato.profiling import SingledOut, singled_out, uniqueness_of
from sfumato.ui.screen import Part, Values
from sfumato.ui.session import Session

_NAMED = 6
"""The number of columns that a sentence lists."""


def roles_key(session: Session, query: Values) -> Hashable:
    """Return a key that changes with the table and with what the config declares about columns."""
    return session.key_of("columns", "missing", "data", "distance", "preserve", "population")


def _answer(session: Session, query: Values) -> Mapping[str, Any]:
    table = session.table
    found = singled_out(table)
    return {
        "found": found,
        "rows": table.rows,
        "small": uniqueness_of(table, found.columns).small,
        "names": listed(found.columns),
        "people": people_word(found),
    }


def people_word(found: SingledOut) -> str:
    """Return what was counted. Where the schema declares no people, every row stands for one."""
    return "people" if found.noun == "rows" else found.noun


def listed(names: Sequence[str]) -> str:
    """Return names for a sentence.

    >>> listed(("age", "sex", "race"))
    'age, sex and race'
    """
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


UNIQUENESS = Part(roles_key, _answer)
"""The part that says in words how many people are the only one with their values."""
