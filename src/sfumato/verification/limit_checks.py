"""Check that no published cell mixes values that are kept apart, or is coarser than the schema allows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.data.cell_classes import CellClasses, cell_classes
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.releases.cell_coverage import CellReader
from sfumato.verification.checks import Check
from sfumato.verification.row_facts import RowFacts

_AT_ONCE = 1 << 21
"""The number of pairs of a cell and a value that are compared at a time; bounds memory."""


def limits_check(
    facts: RowFacts, original: Table | None, declared: Schema, recodings: Mapping[str, str], reason: str
) -> Check | None:
    """Check the published cells against `never_mix` and `coarsest`; None if the schema declares neither.

    Which values a cell covers is read from its text, and which values occur from the original. `reason`: why the check is
    not made without the original.
    """
    limited = list(dict.fromkeys([*declared.never_mix, *declared.coarsest]))
    if not limited:
        return None
    if original is None:
        return Check("limits", None, reason)
    for name in limited:
        column = original.column(name)
        try:
            classes = cell_classes(column, declared)
        except SfumatoError as error:
            return Check("limits", False, f"the limits on {name!r} do not fit the original: {error.problem}")
        if classes is None:
            continue
        cells = facts.texts(name)
        problem = _problem(cells, CellReader(cells, column, recodings[name]), classes)
        if problem is not None:
            return Check("limits", False, f"the cell {problem} of {name!r}")
    return Check("limits", True, f"no cell mixes values that are kept apart, or is too coarse: {', '.join(limited)}")


def _problem(cells: list[str | None], reader: CellReader, classes: CellClasses) -> str | None:
    """Return the first cell that covers values of two classes, or is a node above the coarsest level, and why."""
    codes = np.arange(len(classes.of_code))
    step = max(1, _AT_ONCE // max(1, len(codes)))
    for start in range(0, len(cells), step):
        numbers = np.arange(start, min(start + step, len(cells)))
        covered = reader.covers(numbers[:, None], codes[None, :])
        low = np.where(covered, classes.of_code, np.iinfo(np.int64).max).min(axis=1)
        high = np.where(covered, classes.of_code, -1).max(axis=1)
        if (low < high).any():
            return f"{cells[start + int(np.argmax(low < high))]!r} mixes values that are kept apart"
    if classes.level is not None:
        coarse = _too_coarse(reader, classes.level, len(cells))
        if coarse.any():
            return f"{cells[int(np.argmax(coarse))]!r} is coarser than level {classes.level}"
    return None


def _too_coarse(reader: CellReader, level: int, cells: int) -> NDArray[np.bool_]:
    """Return which cells are nodes above a level and of no level up to it; a label may occur on several levels."""
    lowest = np.full(cells, -1)
    for at, numbers in reversed(list(enumerate(reader.nodes))):
        lowest[numbers[numbers >= 0]] = at
    return np.asarray((lowest > level) | reader.withheld)
