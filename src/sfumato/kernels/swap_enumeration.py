"""Swaps of two rows between groups that would lower the loss: what a local search has left undone."""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compile import borrowing_kernel
from sfumato.kernels.search_arrays import cell_cost

LEAST_SAVING = 1e-9
"""A swap that saves less than this counts as one that saves nothing, as in `local_search`."""


@borrowing_kernel
def find_swaps(
    shares: Any, st: Any, stratum: Any, rows: Any, order: Any, position: Any, window: Any, partners: Any, most: Any,
    visited: Any, one: Any, other: Any, saving: Any,
) -> Any:  # fmt: skip
    """Fill `one`, `other` and `saving` with swaps that would lower the loss; return their number.

    Each of `rows` is tried with the first `partners` members of each group that has a row at most `window` positions away
    along an order, in which `position` is the place of each row; groups of another `stratum` are left out. At most `most`
    swaps are kept for each row, and as many as fit into the arrays. A swap may be found from both of its rows. `visited` is
    scratch, one entry for each group, all -1. Cost: rows times groups in the window times partners times attributes, most
    of which the bounds avoid.
    """
    count, n = 0, len(order)
    for a in rows:
        here = st.group[a]
        found = 0
        for at in range(max(0, position[a] - window), min(n, position[a] + window + 1)):
            there = st.group[order[at]]
            if visited[there] == a or here == there or stratum[here] != stratum[there]:
                continue
            visited[there] = a
            size_here, size_there = st.size[here], st.size[there]
            before = st.loss[here] + st.loss[there]
            # no swap saves more than both rows gain by leaving
            if st.gain[a] * size_here + st.best_gain[there] <= LEAST_SAVING:
                continue
            for i in range(min(size_there, partners)):
                b = st.member[st.first[there] + i]
                if st.gain[a] * size_here + st.gain[b] * size_there <= LEAST_SAVING:
                    continue
                least = before - LEAST_SAVING  # both groups together must lose less
                new_there = cell_cost(shares, st, there, b, a, least / size_there) * size_there
                if new_there >= least:
                    continue
                new_here = cell_cost(shares, st, here, a, b, (least - new_there) / size_here) * size_here
                if new_here + new_there >= least:
                    continue
                if found == most or count == len(one):
                    break
                one[count], other[count], saving[count] = a, b, before - new_here - new_there
                count += 1
                found += 1
            if found == most or count == len(one):
                break
    return count
