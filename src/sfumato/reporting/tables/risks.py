"""What the report of a disclosure risk is drawn from, as plain data: the risk, how it is distributed, and its curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.disclosure.curves import RiskByCells, RiskBySize, TrueAgainstEstimated
from sfumato.disclosure.risk import Risk
from sfumato.reporting.tables.losses import distributed, fitting
from sfumato.version import __version__

WORST = 20
"""Records that are named, worst first."""


def risk_content(
    found: Risk,
    cells: RiskByCells | None = None,
    sizes: Sequence[RiskBySize] = (),
    scatter: Sequence[TrueAgainstEstimated] = (),
) -> dict[str, Any]:
    """All that `risk_page` draws. Curves that are left out are said to be missing.

    >>> import pyarrow as pa
    >>> from sfumato import Schema
    >>> from sfumato.disclosure.dictionary import Dictionary
    >>> from sfumato.disclosure.risk import risk
    >>> book = Dictionary(pa.table({"age": [30, 30, 41]}), name="book")
    >>> risk_content(risk(pa.table({"age": [30, 41]}), Schema(), book))["figures"]["fitting"]
    [{'bins': ['0', '1', '2'], 'records': [0, 1, 1]}]
    """
    return {
        "sfumato": __version__,
        **found.to_dict(WORST),
        "figures": {
            "losses": distributed(found.worst.losses),
            "fitting": [fitting(each.sizes) for each in found.dictionaries],
        },
        "curves": {
            "cells": None if cells is None else cells.to_dict(),
            "sizes": [curve.to_dict() for curve in sizes],
            "scatter": [points.to_dict() for points in scatter],
        },
    }
