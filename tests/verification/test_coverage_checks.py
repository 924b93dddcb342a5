"""Which published rows cover an original row of their class, and which are covered, as loops over all pairs find it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.groups import combination_counts
from sfumato.releases import cell_coverage
from sfumato.releases.cell_coverage import CellReader
from sfumato.verification import coverage_checks
from sfumato.verification.coverage_checks import ClassRows, _covered

CELLS = {
    "age": ["[1, 2]", "[2, 4]", "3", "*", "", "[5, 9]", "unknown"],
    "town": ["{a; c}", "b", "*", "", "{b; d}", "{a; d}"],
}
RECODINGS = {"age": "interval", "town": "set"}
PEOPLE = pa.table(
    {"age": pa.array([1, 2, 3, 4, 9, None], pa.int64()), "town": pa.array(["a", "b", "c", "d", "a", None], pa.string())}
)
TABLE = sf.Table(PEOPLE, sf.Schema(["age", "town"]))
READERS = {name: CellReader(CELLS[name], TABLE.column(name), RECODINGS[name]) for name in CELLS}


def distinct(rows, domains):
    parts, counts = combination_counts(list(np.array(rows, np.int32).reshape(-1, len(domains)).T), domains)
    return [np.ascontiguousarray(part) for part in parts.T], counts


@pytest.mark.parametrize("names", [["age", "town"], ["town", "age"], ["town"], []])
@given(data=st.data(), limit=st.sampled_from([0, 3, 10**6]), grid=st.booleans())
def test_covered_rows_are_those_of_loops(names, data, limit, grid):
    """`limit`: classes with more pairs are compared column by column, which finds at least as much."""
    readers = [READERS[name] for name in names]
    sides = []
    for sizes in ([len(reader.low) for reader in readers], [reader.column.domain for reader in readers]):
        row = st.tuples(st.integers(0, 3), *(st.integers(0, size - 1) for size in sizes))
        sides.append(distinct(data.draw(st.lists(row, max_size=12)), [4, *sizes]))
    (left, one), (right, other) = sides
    rows = ClassRows(left, one, right, other, 4)
    covers = np.ones((len(one), len(other)), bool)
    for i in range(len(one)):
        for j in range(len(other)):
            covers[i, j] = left[0][i] == right[0][j] and all(
                reader.covers(left[at][i : i + 1], right[at][j : j + 1])[0] for at, reader in enumerate(readers, 1)
            )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coverage_checks, "_AT_ONCE", 4)
        if not grid:  # then the cells that a value may be in are not narrowed first
            patch.setattr(cell_coverage, "_GRID", 0)
            readers = [CellReader(CELLS[name], TABLE.column(name), RECODINGS[name]) for name in names]
        covering, covered = _covered(rows, readers, limit)
    whole = rows.pairs <= limit
    for found, expected, classes in ((covering, covers.any(axis=1), left[0]), (covered, covers.any(axis=0), right[0])):
        assert found[whole[classes]].tolist() == expected[whole[classes]].tolist()
        assert (found >= expected).all()


def test_the_hull_of_a_cell_has_all_that_it_covers():
    for name, reader in READERS.items():
        first, last = reader.hull
        for number in range(len(CELLS[name])):
            codes = [code for code in range(reader.column.domain) if reader.covers(np.array([number]), np.array([code]))[0]]
            assert (first[number], last[number]) == ((codes[0], codes[-1]) if codes else (0, -1))
