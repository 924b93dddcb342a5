"""Deal the rows of blocks to parts, so that a part takes equally many rows of every block of its unit.

Nothing here knows the quasi-identifiers: the search sees the sensitive values, and the block of each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import borrowing_kernel
from sfumato.kernels.row_order import draw
from sfumato.kernels.search_arrays import apply_change, called_excess_after

_TIE = 1e-9
"""Changes of the excess that differ by less are equal: rounding."""

_PROGRESS = 0.9
"""A sweep makes progress if the excess falls below this share of what it was at the last progress."""

_FIRST_RANDOM = np.uint64(0x2545F4914F6CDD1D)
"""The state of the random numbers with which each unit begins, so that its parts depend on its own rows only."""


@borrowing_kernel
def deal_units(
    shares: Any, limits: Any, conditions: Any, st: Any, block: Any, unit: Any, parts: Any, tries: Any, sweeps: Any,
    patience: Any, random: Any,
) -> None:  # fmt: skip
    """Swap rows of the same block between the parts of each unit, while the excess of the unit falls or stays the same.

    Unit u has the rows from u · `unit` on, in blocks of `block` rows each, and the groups from u · `parts` on. In a sweep,
    each row of a part with excess tries `tries` rows of its block, and swaps with the one that lowers the excess most; of
    equal ones with a random one. A unit is finished without excess, after `sweeps` sweeps, or after `patience` sweeps
    without progress. `random` is scratch. Cost: rows times sweeps times `tries` times the rows of a part.
    """
    for u in range(len(st.group) // unit):
        random[0] = _FIRST_RANDOM
        least, idle = 1e300, 0
        for _ in range(sweeps):
            total = 0.0
            for g in range(u * parts, (u + 1) * parts):
                total += st.excess[g]
            idle += 1
            if total < _PROGRESS * least:
                least, idle = total, 0
            if total <= 0 or idle > patience:
                break
            for a in range(u * unit, (u + 1) * unit):
                here = st.group[a]
                if st.excess[here] <= 0 or st.relief[a] <= 0:
                    continue
                first = a - a % block
                skip = np.int64(draw(random) >> np.uint64(33)) % block
                best, partner, ties = 0.0, np.int64(-1), 0
                excess_here, excess_there = 0.0, 0.0
                for i in range(min(tries, block)):
                    c = first + (skip + i) % block
                    there = st.group[c]
                    if there == here:
                        continue
                    before = st.excess[here] + st.excess[there]
                    bound = best + before + _TIE
                    one = called_excess_after(limits, conditions, st, here, a, c, bound)
                    if one > bound:
                        continue
                    other = called_excess_after(limits, conditions, st, there, c, a, bound - one)
                    change = one + other - before
                    if change > best + _TIE:
                        continue
                    # of `ties` equal changes each is kept with the same probability
                    ties = 1 if change < best - _TIE else ties + 1
                    if ties == 1 or np.int64(draw(random) >> np.uint64(33)) % ties == 0:
                        best, partner, excess_here, excess_there = min(best, change), c, one, other
                if partner >= 0:
                    apply_change(shares, limits, conditions, st, a, st.group[partner], partner, excess_here, excess_there)
