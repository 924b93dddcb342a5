"""Count queries: how many rows match, and how many a reader of the release expects to match.

A query constrains some columns: `low[query, column]` up to, not including, `high[query, column]` are the places that it
accepts, where `mask[query, column]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel


@kernel
def _keep_within(places: Any, low: Any, high: Any, inside: Any) -> None:
    """Clear the flag of every row whose place is not from `low` up to, not including, `high`. Cost: linear."""
    for row in range(len(places)):
        inside[row] &= np.uint8((places[row] >= low) & (places[row] < high))


@kernel
def covered_fractions(offsets: Any, first: Any, stop: Any, low: int, high: int, out: Any) -> None:
    """Fill in, for every cell, the fraction of its places that are from `low` up to, not including, `high`.

    Cell c consists of the stretches `offsets[c]:offsets[c + 1]`, each from `first` up to, not including, `stop`. No cell is
    empty. Cost: linear in the stretches.
    """
    for cell in range(len(offsets) - 1):
        covered, total = 0, 0
        for i in range(offsets[cell], offsets[cell + 1]):
            total += stop[i] - first[i]
            covered += max(0, min(stop[i], high) - max(first[i], low))
        out[cell] = covered / total


@kernel
def count_matches(places: Any, low: Any, high: Any, mask: Any, raw: Any) -> None:
    """Fill `raw[query]` with the number of rows that match; `places[column, row]` are the places of the rows.

    Cost: per query one pass over the rows for every constrained column.
    """
    inside = np.empty(places.shape[1], np.uint8)
    for query in range(len(low)):
        inside[:] = 1
        for column in range(len(places)):
            if mask[query, column]:
                _keep_within(places[column], low[query, column], high[query, column], inside)
        exact = 0
        for row in range(len(inside)):
            exact += inside[row]
        raw[query] = exact


@kernel
def count_queries(
    places: Any, groups: Any, cells: Any, columns: Any, offsets: Any, first: Any, stop: Any,
    low: Any, high: Any, mask: Any, raw: Any, estimate: Any,
) -> None:  # fmt: skip
    """Answer every query twice: exactly on the rows (`raw`), and as expected from what the groups publish (`estimate`).

    `places[column, row]` holds the rows group by group; group g is `groups[g]:groups[g + 1]`. The first columns are
    published as cells: group g publishes `cells[column, g]`, the cells of a column are `columns[column]` up to, not
    including, `columns[column + 1]`, and each consists of stretches (see `covered_fractions`). The other columns are
    published unchanged. Cost: per query one pass over the rows and the cells for every constrained column, and one over
    the groups.
    """
    quasi, count = cells.shape
    rows = places.shape[1]
    inside = np.empty(rows, np.uint8)  # whether a row matches the columns tested so far
    factor = np.empty(count, np.float64)  # the probability that a row of the group matches the published cells
    fraction = np.empty(len(offsets) - 1, np.float64)
    for query in range(len(low)):
        inside[:] = 1
        factor[:] = 1.0
        # columns that are published unchanged: a row matches or does not
        for column in range(quasi, len(places)):
            if mask[query, column]:
                _keep_within(places[column], low[query, column], high[query, column], inside)
        # columns published as cells: all places of a cell are equally likely, columns are independent
        for column in range(quasi):
            if mask[query, column]:
                start, end = columns[column], columns[column + 1]
                covered_fractions(
                    offsets[start : end + 1], first, stop, low[query, column], high[query, column], fraction[start:end]
                )
                for g in range(count):
                    factor[g] *= fraction[cells[column, g]]
        expected = 0.0
        for g in range(count):
            if factor[g] > 0:
                matching = 0
                for row in range(groups[g], groups[g + 1]):
                    matching += inside[row]
                expected += factor[g] * matching
        estimate[query] = expected
        # the exact answer: restrict the matching rows further to the original places of these columns
        for column in range(quasi):
            if mask[query, column]:
                _keep_within(places[column], low[query, column], high[query, column], inside)
        exact = 0
        for row in range(rows):
            exact += inside[row]
        raw[query] = exact
