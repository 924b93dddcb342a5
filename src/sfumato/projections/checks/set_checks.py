"""The original with its sets as bits: what a projected table that holds bits is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from sfumato.data.column import Column
from sfumato.data.table import Table


def with_bits(table: Table, sets: Mapping[str, Sequence[str]], suppressed: bool = False) -> pa.Table | str:
    """The data with a column of 0 and 1 for each item of each set, in place of the set; or what is wrong with the bits.

    If rows were suppressed, items that only those have are not among the bits.

    >>> from sfumato.data.schema import Schema
    >>> people = Table(pa.table({"dx": ["a;b", "a"]}), Schema(sensitive=["dx"], kinds={"dx": "set"}))
    >>> with_bits(people, {"dx": ["dx=a", "dx=b"]}).to_pylist()
    [{'dx=a': '1', 'dx=b': '1'}, {'dx=a': '1', 'dx=b': '0'}]
    """
    data = table.data
    for name, bits in sets.items():
        column = table.column(name)
        items = sorted({item for members in column.sets for item in members})
        if suppressed:
            items = [item for item in items if f"{name}={item}" in bits]
        if sorted(f"{name}={item}" for item in items) != sorted(bits):
            return f"the items of {name!r} are not those that release.json lists"
        data = data.drop_columns([name])
        for item in items:
            data = data.append_column(f"{name}={item}", _bit(column, item))
    return data


def _bit(column: Column, item: str) -> pa.ChunkedArray:
    cells = pa.array([*("1" if item in members else "0" for members in column.sets), None], pa.string())
    return pa.chunked_array([cells.take(pa.array(np.minimum(column.codes, column.size)))])
