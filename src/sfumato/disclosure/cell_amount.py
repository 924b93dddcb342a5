"""How many cells are disclosed: a number, or a share of those that there are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from sfumato.disclosure.matching import Rule
from sfumato.disclosure.rules.rule_request import SETS
from sfumato.errors import ParameterError, SfumatoError
from sfumato.exact import as_fraction


def amount_of(amount: Any, per: str, present: Rule) -> int:
    """The number of values that are disclosed per record, per attribute, or in the whole table.

    A share such as "25%" is of the attributes, of the records, or of all the values that there are; what is left beyond a
    whole number is not disclosed. `present`: which values there are.

    >>> import numpy as np
    >>> every = np.ones((100, 22), bool)
    >>> amount_of("25%", "record", every), amount_of(7, "attribute", every), amount_of("100%", "table", every)
    (5, 7, 2200)
    """
    if per not in SETS:
        raise ParameterError(f"per = {per!r} is unknown", remedy=f"Write one of: {', '.join(SETS)}.", key="per", value=per)
    records, attributes = present.shape
    most = {"record": attributes, "attribute": records, "table": records * attributes}[per]
    wrong = ParameterError(
        f"{amount!r} cells per {per} cannot be disclosed",
        remedy=f'Write a whole number from 0 to {most:,}, or a share such as "50%".',
        key="cells",
        value=amount,
    )
    text = str(amount).strip()
    try:
        found = as_fraction(text[:-1], "cells") / 100 if text.endswith("%") else as_fraction(amount, "cells")
    except SfumatoError as error:
        raise wrong from error
    if text.endswith("%"):
        found *= int(present.sum()) if per == "table" else most
    elif found.denominator != 1:
        raise wrong
    if isinstance(amount, bool) or not 0 <= found <= most:
        raise wrong
    return math.floor(found)


def nearest(number: Fraction) -> int:
    """The whole number nearest to a number; of two, the larger.

    >>> nearest(Fraction(11, 2)), nearest(Fraction(7, 3))
    (6, 2)
    """
    return math.floor(number + Fraction(1, 2))
