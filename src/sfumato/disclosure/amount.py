"""How many cells are disclosed: a number, or a share of those that there are."""

from __future__ import annotations

from typing import Any

from sfumato.errors import ParameterProblem, SfumatoError
from sfumato.exact import as_fraction

PER = ("record", "attribute", "table")
"""What a number of cells is counted in: each record (Δ₂), each attribute (Δ₃), or the whole table (Δ₁) of paper 002."""


def cells_of(amount: Any, per: str, records: int, attributes: int) -> int:
    """The number of cells that are disclosed per record, per attribute, or in the whole table.

    A share such as "25%" is of the attributes, the records, or all cells; what it leaves beyond a whole number is dropped.

    >>> cells_of("25%", "record", 100, 22), cells_of(7, "attribute", 100, 22), cells_of("100%", "table", 100, 22)
    (5, 7, 2200)
    """
    if per not in PER:
        raise ParameterProblem(f"per = {per!r} is unknown", remedy=f"Write one of: {', '.join(PER)}.", key="per", value=per)
    most = {"record": attributes, "attribute": records, "table": records * attributes}[per]
    wrong = ParameterProblem(
        f"{amount!r} cells per {per} cannot be disclosed",
        remedy=f'Write a whole number from 0 to {most:,}, or a share such as "50%".',
        key="cells",
        value=amount,
    )
    try:
        text = str(amount).strip()
        found = as_fraction(text[:-1], "cells") * most / 100 if text.endswith("%") else as_fraction(amount, "cells")
    except SfumatoError as error:
        raise wrong from error
    if isinstance(amount, bool) or not 0 <= found <= most or (found.denominator != 1 and not text.endswith("%")):
        raise wrong
    return int(found)
