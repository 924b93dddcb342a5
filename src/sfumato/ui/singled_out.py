"""How many people the quasi-identifiers single out, with the roles as they are in the config now."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from sfumato.profiling.identifying_combinations import uniqueness_of
from sfumato.ui.screen import Part, Values
from sfumato.ui.session import Session

_NAMED = 6
"""The number of columns that a sentence lists."""


def _key(session: Session, query: Values) -> Hashable:
    return session.key_of("columns", "missing", "data")


def _answer(session: Session, query: Values) -> Mapping[str, Any]:
    table = session.table
    names = table.schema.quasi_identifiers
    return {"found": uniqueness_of(table, names), "names": listed(names), "people": people_word(session)}


def people_word(session: Session) -> str:
    """Return what a row of the table stands for."""
    schema = session.table.schema
    return "rows" if schema.person_id or schema.household_id else "people"


def listed(names: tuple[str, ...]) -> str:
    """Return names for a sentence.

    >>> listed(("age", "sex", "race"))
    'age, sex and race'
    """
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


UNIQUENESS = Part(_key, _answer)
"""The part that says in words how many people are the only one with their values."""
