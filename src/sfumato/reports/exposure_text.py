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
    uncovered: bool = False
    """Whether a sensitive column is without a requirement."""
    revealing: bool = False
    """Whether a published column undoes the recoding of a quasi-identifier."""


def alert(table: GroupedTable, title: str = "") -> Alert:
    """Return what a reader of a table must be warned of."""
    unique = "" if table.coverage is None else _sentence(table.coverage.text(table.rows, _unit(table)))
    warnings = table.warnings or []
    kinds = {warning.kind for warning in warnings}
    texts = [_sentence(warning.text) for warning in warnings]
    return Alert(texts, unique, title, "uncovered" in kinds, "revealing" in kinds)


def notes_on(table: GroupedTable) -> list[str]:
    """Return the figures that are no warnings: what was accepted, and what unchanged and sensitive values single out."""
    notes = exposure_notes(table.warnings or [], table.coverage, table.unchanged, table.rows, _unit(table))
    if table.coverage is None or not table.warnings:
        return notes
    unique = table.coverage.text(table.rows, _unit(table))
    return [note for note in notes if note != unique]  # it is in the red box


def _unit(table: GroupedTable) -> str | None:
    return None if table.units is None else table.units.counted


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
