"""What principles about numeric sensitive values share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.base import Indices, refuse_missing
from sfumato.errors import ColumnError
from sfumato.exact import Numbers
from sfumato.kernels.neighbour_windows import window_counts
from sfumato.principles.view import View


def numbers_of(view: View, principle: str) -> Numbers:
    """The sensitive column's numbers, by value; anything but one complete numeric column is an error."""
    column = view.attribute.single(principle)
    if column.numbers is None:
        raise ColumnError(
            f"{principle} needs numbers, and the column is of kind {column.kind.value!r}",
            remedy='Declare kind = "numeric" if it holds numbers, or name another column with `on`.',
            column=column.name,
            value=column.kind.value,
        )
    refuse_missing(column, principle)
    return column.numbers


def fullest_windows(view: View, low: Indices, high: Indices) -> NDArray[np.int64]:
    """For each group the most tuples that lie in the window of one of its values."""
    h = view.histogram
    near = np.empty(len(h.values), np.int64)
    window_counts(h.offsets, h.values, h.counts, low, high, near)
    return np.maximum.reduceat(near, h.starts)
