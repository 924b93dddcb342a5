"""What principles about numeric sensitive values share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.distance import Indices, Windows, refuse_missing
from sfumato.distances.neighbour_graph import NeighbourWindows
from sfumato.errors import ColumnError
from sfumato.exact import Numbers
from sfumato.principles.view import View


def numbers_of(view: View, principle: str) -> Numbers:
    """Return the sensitive column's numbers, ascending; anything but one complete numeric column is an error."""
    column = view.attribute.single(principle)
    if column.numbers is None:
        raise ColumnError(
            f"{principle} requires numbers, and the column is of kind {column.kind.value!r}",
            remedy='Declare kind = "numeric" if it contains numbers, or name another column with `on`.',
            column=column.name,
            value=column.kind.value,
        )
    refuse_missing(column, principle)
    return column.numbers


def fullest_windows(view: View, neighbours: NeighbourWindows) -> NDArray[np.int64]:
    """Return for each group the largest number of its rows, or units, that lie in the window of one of its values."""
    return np.maximum.reduceat(view.near_counts(neighbours), view.histogram.starts)


def windows_by_value(low: Indices, high: Indices) -> Windows:
    """Return windows over values that are numbered in ascending order: value v is near the values low[v] to high[v] - 1."""
    return Windows(np.arange(len(low)), low, high)
