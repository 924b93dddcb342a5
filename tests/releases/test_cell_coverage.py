"""How many values cells cover, counted at once, against one comparison for each pair of a cell and a value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.releases import cell_coverage
from sfumato.releases.cell_coverage import CellReader

TREE = sf.Hierarchy.from_rows(
    [["1", "low", "*"], ["2", "low", "*"], ["3", "mid", "*"], ["5", "top", "*"], ["8", "top", "*"], ["9", "9", "*"]]
)
CELLS = {
    "interval": ["*", "", None, "3", "[1, 2]", "[2, 8]", "[1, 9]", "[4, 7]", "unknown"],
    "set": ["*", "", None, "3", "{1; 8}", "{2; 3; 9}", "{7}", "unknown"],
    "ancestor": ["*", "", None, "3", "low", "mid", "top", "9", "unknown"],
}


@given(
    st.sampled_from(list(CELLS)),
    st.lists(st.sampled_from(["1", "2", "3", "5", "8", "9", None]), min_size=1, max_size=12),
    st.integers(0, 2**31),
    st.booleans(),
)
def test_counted_at_once_as_pair_by_pair(recoding, values, seed, text):
    if set(values) == {None}:
        values = [*values, "1"]
    kind = "categorical" if text and recoding != "interval" else "numeric"
    hierarchies = {"q": TREE} if recoding == "ancestor" else {}
    schema = sf.Schema(["q"], kinds={"q": kind}, hierarchies=hierarchies)
    column = sf.Table(pa.table({"q": pa.array(values, pa.string())}), schema).column("q")
    reader = CellReader(CELLS[recoding], column, recoding)
    draw = np.random.default_rng(seed)
    cells = np.flatnonzero(draw.random(len(CELLS[recoding])) < 0.6)
    codes = draw.permutation(np.flatnonzero(draw.random(column.domain) < 0.6))
    covers = {(c, v) for c in cells.tolist() for v in codes.tolist() if reader.covers(np.array([c]), np.array([v]))[0]}
    few = cell_coverage._FEW
    for limit in (0, few):  # all at once, and pair by pair
        cell_coverage._FEW = limit
        try:
            counted = reader.counted(cells, codes)
            whose, what = reader.either(cells, codes)
        finally:
            cell_coverage._FEW = few
        assert counted.tolist() == [sum(c == cell for c, _ in covers) for cell in cells.tolist()]
        assert np.flatnonzero(whose).tolist() == sorted({c for c, _ in covers})
        assert np.flatnonzero(what).tolist() == sorted({v for _, v in covers})
