"""The text of a published cell.

Distinct intervals or sets have distinct texts, and `*` always means that the value is withheld: a text that could be
mistaken for something else is put in quotes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.anonymization.recoding.domain import Domain, RecodingKind
from sfumato.data.schema import Kind
from sfumato.releases.cells import WITHHELD, interval_cell, node_cell, set_cell, value_cell


def cell_text(domain: Domain, places: Sequence[int]) -> str | None:
    """Return the text that is published for values at these places; None if all are missing.

    Only the first and the last place are read, unless the column is published as sets.
    """
    low, high = places[0], places[-1]
    if low == domain.size:
        return None
    if high == domain.size:
        return WITHHELD
    if low == high:
        return value_text(domain, low)
    if domain.recoding is RecodingKind.ANCESTOR:
        return node_text(domain, domain.common_level(low, high), low)
    if domain.recoding is RecodingKind.SET:
        return set_cell(map(domain.label, places), _plain(domain))
    return interval_cell(domain.label(low), domain.label(high), _plain(domain))


def value_text(domain: Domain, place: int) -> str:
    """Return the text of the value at a place."""
    return value_cell(domain.label(place), _plain(domain))


def node_text(domain: Domain, level: int, place: int) -> str:
    """Return the text of the node above a place on a level of the hierarchy."""
    return node_cell(domain.node_label(level, place), root=level == len(domain.above) - 1)


def _plain(domain: Domain) -> bool:
    """Return whether the cells contain no free text: numbers, or sets, whose members are quoted already."""
    return domain.column.numbers is not None or domain.column.kind is Kind.SET
