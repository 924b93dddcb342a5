"""Distinct cells are counted piece by piece as at once."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.io import cell_counts
from sfumato.io.cell_counts import CellCounts

KINDS = {
    "numbers": (pa.int64(), st.integers(-3, 3)),
    "texts": (pa.string(), st.sampled_from(["", "a", "A", " a", "ä"])),
    "truth": (pa.bool_(), st.booleans()),
}


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_pieces_are_counted_as_the_whole(kind, data):
    arrow, cells = KINDS[kind]
    pieces = data.draw(st.lists(st.lists(st.none() | cells, max_size=8), min_size=1, max_size=6))
    waiting = cell_counts._WAITING_CELLS
    cell_counts._WAITING_CELLS = 3
    try:
        counts = CellCounts("x")
        for piece in pieces:
            counts.add(pa.array(piece, arrow))
        found, rows = counts.result()
    finally:
        cell_counts._WAITING_CELLS = waiting
    expected = Counter(cell for piece in pieces for cell in piece)
    assert dict(zip(found.to_pylist(), rows.tolist(), strict=True)) == expected
    present = [cell for cell in found.to_pylist() if cell is not None]
    assert present == sorted(present), "whatever the order of the pieces"


def test_floats_that_are_equal_are_different_cells():
    counts = CellCounts("x")
    counts.add(pa.array([0.0, -0.0, math.nan, None]))
    counts.add(pa.array([-0.0, 1.5]), np.array([3, 2]))
    found, rows = counts.result()
    assert {str(cell): count for cell, count in zip(found.to_pylist(), rows.tolist(), strict=True)} == {
        "0.0": 1, "-0.0": 4, "nan": 1, "1.5": 2, "None": 1,
    }  # fmt: skip
