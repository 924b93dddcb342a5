"""What a report says of sensitive columns without a requirement, and of columns that are published unchanged."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.releases.exposure_models import exposure_notes
from sfumato.releases.models import GroupedTable


@dataclass(frozen=True)
class Alert:
    """The red box at the top of a report; none is drawn without warnings."""

    warnings: list[str]
    unique: str
    """How many rows the sensitive values single out."""
    title: str = ""
    """The table that it is about, if there are several."""


def alert(table: GroupedTable, title: str = "") -> Alert:
    """Return what a reader of a table must be warned of."""
    unique = "" if table.coverage is None else _sentence(table.coverage.text(table.rows))
    return Alert([_sentence(warning.text) for warning in table.warnings or []], unique, title)


def notes_on(table: GroupedTable) -> list[str]:
    """Return the figures that are no warnings: what was accepted, and what unchanged columns single out."""
    # with a warning, the uniqueness of the sensitive values is in the red box
    notes = exposure_notes(table.warnings or [], table.coverage, table.unchanged, table.rows)
    return notes[:-1] if table.warnings else notes


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
