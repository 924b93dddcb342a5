"""Columns that are read batch by batch: the cells are those of the batches, whenever they are looked up."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.schema import Schema
from sfumato.errors import ColumnError
from sfumato.io import stored_columns as module
from sfumato.io.stored_columns import stored_columns
from sfumato.storage import Storage

CELLS = {
    "texts": pa.array(["b", None, "a", "b", "", "c", "a", None, "d"]),
    "floats": pa.array([0.0, -0.0, 1.5, None, 0.0, 1.5, -0.0, float("nan"), 2.5]),
    "halves": pa.array(np.array([0, -0.0, 1, 2, 0, 1, 2, 3, 4], np.float16)),
    "dates": pa.array([datetime.date(2020, 1, day) for day in (1, 2, 1, 3, 4, 2, 5, 1, 6)]),
    "times": pa.array([1, 2, 1, None, 3, 2, 5, 1, 6], pa.timestamp("ns")),
    "amounts": pa.array([Decimal("1.50"), None, *[Decimal("2.25")] * 6, Decimal("1.50")]),
    "flags": pa.array([True, False, None, True, True, False, False, None, True]),
    "twice": pa.DictionaryArray.from_arrays([0, 1, 2, 3, None, 1, 2, 0, 3], ["x", "y", "x", None]),
}


def _batches(size: int) -> list[pa.RecordBatch]:
    return pa.table(CELLS).combine_chunks().to_batches(size)


def _bits(column: pa.ChunkedArray) -> list[object]:
    """Return the cells so that 0.0 and -0.0 differ."""
    return [repr(cell) for cell in column.to_pylist()]


@pytest.mark.parametrize("size", [1, 2, 9])
@pytest.mark.parametrize(
    ("cells", "rows", "space"), [(0, 1, 1), (1, 4, 1 << 20), (3, 100, 1 << 20), (1 << 16, 1 << 21, 1 << 26)]
)
def test_cells_are_those_of_the_batches(
    size: int, cells: int, rows: int, space: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WAITING_CELLS", cells)
    monkeypatch.setattr(module, "_WAITING_ROWS", rows)
    monkeypatch.setattr(module, "_WAITING_BYTES", space)
    batches = _batches(size)
    found = stored_columns(batches, batches[0].schema, None, Storage(tmp_path), None)
    for name, column in CELLS.items():
        assert _bits(found.column(name)) == _bits(pa.chunked_array([column])), name
        distinct = found.column(name).chunk(0).dictionary
        assert len(set(_bits(distinct))) == len(distinct), name


def test_distinct_cells_are_in_the_order_in_which_they_were_read(tmp_path: Path) -> None:
    batches = _batches(2)
    found = stored_columns(batches, batches[0].schema, None, Storage(tmp_path), None)
    assert found.column("texts").chunk(0).dictionary.to_pylist() == ["b", "a", "", "c", "d"]


def test_too_many_distinct_cells_are_an_error_that_names_the_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST", 10)
    batches = pa.table({"text": [f"cell {number}" for number in range(9)]}).to_batches(3)
    with pytest.raises(ColumnError, match="9 distinct values so far") as caught:
        stored_columns(batches, batches[0].schema, Schema(sensitive=["text"]), Storage(tmp_path), "people.csv")
    assert (caught.value.column, caught.value.file) == ("text", "people.csv")
