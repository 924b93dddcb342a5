"""How many cells are disclosed: a number, or a share of those that there are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from sfumato.disclosure.rules.best import SETS
from sfumato.errors import ParameterProblem, SfumatoError
from sfumato.exact import as_fraction


def cells_of(amount: Any, per: str, records: int, attributes: int) -> int:
    """The number of cells that are disclosed per record, per attribute, or in the whole table.

    A share such as "25%" is of the attributes, the records, or all cells, to the nearest whole number.

    >>> cells_of("25%", "record", 100, 22), cells_of(7, "attribute", 100, 22), cells_of("100%", "table", 100, 22)
    (6, 7, 2200)
    """
    if per not in SETS:
        raise ParameterProblem(f"per = {per!r} is unknown", remedy=f"Write one of: {', '.join(SETS)}.", key="per", value=per)
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
    return nearest(found)


def nearest(number: Fraction) -> int:
    """The whole number nearest to a number; of two, the larger.

    >>> nearest(Fraction(11, 2)), nearest(Fraction(7, 3))
    (6, 2)
    """
    return math.floor(number + Fraction(1, 2))
