"""Tables that know of what original they are parts, for principles that compare published cells with its people."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.original_people import OriginalPeople
from sfumato.data.table import Table
from sfumato.principles.principle import Principle


def with_known_original(table: Table, principles: Sequence[Principle]) -> Table:
    """Return a table that its parts and its published form know as their original, if a principle needs it."""
    if table.original is not None or not any(principle.uses_original for principle in principles):
        return table
    return table.with_original(OriginalPeople(table))
