"""Count queries: exact answers and expected ones, against a loop over rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.query_counts import count_matches, count_queries, covered_fractions

PLACES = 5


def random_cells(draw, count):
    """Return cells as sets of places, and as stretches: offsets, first and stop."""
    cells = [set(draw.choice(PLACES, draw.integers(1, PLACES + 1), replace=False).tolist()) for _ in range(count)]
    stretches = [[(place, place + 1) for place in sorted(cell)] for cell in cells]
    offsets = np.cumsum([0, *map(len, stretches)])
    flat = np.array([stretch for cell in stretches for stretch in cell])
    return cells, offsets, flat[:, 0].copy(), flat[:, 1].copy()


@given(st.integers(0, 2**31), st.integers(1, 5))
def test_fractions_of_cells(seed, count):
    draw = np.random.default_rng(seed)
    cells, offsets, first, stop = random_cells(draw, count)
    low, high = sorted(draw.integers(0, PLACES + 1, 2).tolist())
    out = unset(count)
    covered_fractions(offsets, first, stop, low, high, out)
    assert out.tolist() == [sum(low <= place < high for place in cell) / len(cell) for cell in cells]


@given(st.integers(0, 2**31), st.integers(1, 15), st.integers(1, 3), st.integers(1, 4))
def test_answers(seed, rows, quasi, groups):
    draw = np.random.default_rng(seed)
    columns, queries = quasi + 1, 6
    places = draw.integers(0, PLACES, (columns, rows)).astype(np.int32)
    sizes = np.bincount(draw.integers(0, groups, rows), minlength=groups)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    cells, offsets, first, stop = random_cells(draw, 3 * quasi)
    published = np.stack([3 * j + draw.integers(0, 3, groups) for j in range(quasi)])
    low = draw.integers(0, PLACES, (queries, columns)).astype(np.int32)
    high = (low + draw.integers(1, 3, low.shape)).astype(np.int32)
    mask = draw.random(low.shape) < 0.6
    raw, estimate, exact = unset(queries, np.int64), unset(queries), unset(queries, np.int64)
    count_queries(
        places, ends, published, np.arange(0, 3 * quasi + 1, 3), offsets, first, stop, low, high, mask, raw, estimate
    )
    count_matches(places, low, high, mask, exact)
    for q in range(queries):

        def accepts(column, place, q=q):
            return not mask[q, column] or low[q, column] <= place < high[q, column]

        assert raw[q] == exact[q] == sum(all(accepts(c, places[c, r]) for c in range(columns)) for r in range(rows))
        expected = 0.0
        for g in range(groups):
            chance = 1.0
            for j in range(quasi):
                cell = cells[published[j, g]]
                chance *= sum(accepts(j, place) for place in cell) / len(cell)
            expected += chance * sum(accepts(quasi, places[quasi, r]) for r in range(ends[g], ends[g + 1]))
        assert estimate[q] == pytest.approx(expected)
