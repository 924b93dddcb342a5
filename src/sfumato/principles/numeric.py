"""What principles about numeric sensitive values share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.base import Indices, refuse_missing, require
from sfumato.exact import Numbers
from sfumato.kernels.windows import window_counts
from sfumato.principles.view import View
from sfumato.schema import Kind


def numbers_of(view: View, principle: str) -> Numbers:
    """The sensitive column's numbers, by value; anything but one complete numeric column is an error."""
    column = view.attribute.single(principle)
    require(column, (Kind.NUMERIC,), principle)
    refuse_missing(column, principle)
    assert column.numbers is not None
    return column.numbers


def fullest_windows(view: View, low: Indices, high: Indices) -> NDArray[np.int64]:
    """For each group the most tuples that lie in the window of one of its values."""
    h = view.histogram
    near = np.empty(len(h.values), np.int64)
    window_counts(h.offsets, h.values, h.counts, low, high, near)
    return np.maximum.reduceat(near, h.starts)
