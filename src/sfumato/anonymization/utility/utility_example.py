"""Four rows in two groups: the table of the examples in this package's docstrings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.anonymization.recoding import Recoding, recode
from sfumato.data.groups import Groups
from sfumato.data.schema import Schema
from sfumato.data.table import Table


def example() -> tuple[Table, Recoding]:
    """Return a table small enough to check by hand, and the cells of its two groups.

    >>> table, recoding = example()
    >>> for column in recoding.columns:
    ...     print(column.domain.name, column.labels, column.shares.tolist())
    age ('[20, 30]', '60') [0.25, 0.0]
    city ('{Lyon; Nice}', '{Lille; Paris}') [0.5, 0.5]
    """
    data = {"age": [20, 30, 60, 60], "city": ["Lyon", "Nice", "Paris", "Lille"], "income": [10, 20, 20, 40]}
    table = Table(pa.table(data), Schema(["age", "city"], ["income"]))
    return table, recode(table, Groups(np.array([0, 0, 1, 1]), 2, 4))
