"""The values of a column in parts: as they are, or adjacent ones taken together where there are very many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column


def value_parts(column: Column, most: int) -> tuple[NDArray[np.int64], int]:
    """Return for each code of a column, that of missing values included, its part, and the number of parts.

    Each value is a part of its own if there are at most `most`. Otherwise values that are adjacent in the order of the
    column are taken together, so that each part has about as many rows. Missing values are the part after the last.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> ages = sf.Table(pa.table({"age": [20, 20, 30, 40, 50, None]}), sf.Schema(["age"])).column("age")
    >>> parts, number = value_parts(ages, 2)
    >>> parts.tolist(), number
    ([0, 0, 1, 1, 2], 2)
    """
    if column.size <= most:
        return np.arange(column.size + 1), column.size
    counts = np.bincount(column.codes, minlength=column.size + 1)
    before = np.cumsum(counts[: column.size]) - counts[: column.size]
    part = before * most // max(1, int(counts[: column.size].sum()))
    part = np.unique(part, return_inverse=True)[1]  # parts that no value begins in are left out
    size = int(part.max()) + 1
    return np.append(part, size), size
