"""The text of a published cell.

Distinct intervals or sets have distinct texts, and `*` always means that nothing is told: a text that could be taken for
something else stands in quotes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.anonymization.recoding.domain import Domain, RecodingKind
from sfumato.data.schema import Kind
from sfumato.data.table import as_member, in_quotes

WITHHELD = "*"
"""A cell that tells nothing."""


def cell_text(domain: Domain, places: Sequence[int]) -> str | None:
    """What is published for values at these places; only the first and last are looked at unless it is a set."""
    low, high = places[0], places[-1]
    if low == domain.size:
        return None
    if high == domain.size:
        return WITHHELD
    if low == high:
        return value_text(domain, low)
    if domain.recoding is RecodingKind.ANCESTOR:
        return node_text(domain, domain.common_level(low, high), low)
    member = domain.label if _plain(domain) else lambda place: as_member(domain.label(place))
    if domain.recoding is RecodingKind.SET:
        return "{" + "; ".join(map(member, places)) + "}"
    return f"[{member(low)}, {member(high)}]"


def value_text(domain: Domain, place: int) -> str:
    """The value at a place."""
    label = domain.label(place)
    return label if _plain(domain) or not (label in ("", WITHHELD) or label[0] in '{["') else in_quotes(label)


def node_text(domain: Domain, level: int, place: int) -> str:
    """The node above a place on a level of the hierarchy."""
    label = domain.node_label(level, place)
    root = level == len(domain.above) - 1
    return in_quotes(label) if label[:1] in ("", '"') or (label == WITHHELD and not root) else label


def _plain(domain: Domain) -> bool:
    """Whether no text of anyone's choice stands in the cells."""
    return domain.column.numbers is not None or domain.column.kind is Kind.SET
