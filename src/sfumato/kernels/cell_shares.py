"""The loss of a published cell: the share of the attribute's domain that it covers."""

from __future__ import annotations

from typing import Any, NamedTuple

from sfumato.kernels.array_records import by_reference
from sfumato.kernels.compile import kernel, subroutine

LINE, TREE, SET = 0, 1, 2
"""How an attribute is published: intervals along a line, nodes of a tree, sets of values."""


@by_reference
class Shares(NamedTuple):
    """The domains of all attributes; attribute j has the places 0 to `size[j]` - 1, and place `size[j]` means missing.

    Arrays over places are as long as the largest domain; what is beyond an attribute's size is not used.
    """

    kind: Any
    """For each attribute LINE, TREE or SET."""
    size: Any
    """For each attribute the number of its places, the missing one not counted."""
    at: Any
    """`at[j, p]` is the position of place p on a line of length 1."""
    least: Any
    """What an interval adds to the distance of its ends: 0 for numbers, one place for ordinal values."""
    above: Any
    """`above[j, level, p]` is the node above place p on a level of a tree; level 0 holds the leaves."""
    wide: Any
    """`wide[j, level, p]` is the share of leaves under that node."""
    first: Any
    """Where an attribute's table begins in `pairs`; -1 for sets, and for domains too large for a table."""
    pairs: Any
    """For each pair of places of a small line or tree, row by row, the share of a cell that covers both."""
    weight: Any
    """The cost of each attribute's `*`, and the factor of its sets; all other arrays are weighted already."""
    total: Any
    """For each attribute the number of values that a set could contain: its places, and leaves that no row has."""


@subroutine
def share(shares: Any, j: Any, low: Any, high: Any, distinct: Any) -> Any:
    """Return the share of attribute j's domain that a cell from place `low` to `high` covers, times its weight.

    `distinct` is the number of distinct values in the cell; only sets use it. Cost: constant; the levels of a large tree.
    """
    if low == high:
        return 0.0
    size = shares.size[j]
    if high == size:  # missing and other values together are published as `*`
        return shares.weight[j]
    first = shares.first[j]
    if first >= 0:
        return shares.pairs[first + low * size + high]
    if shares.kind[j] == LINE:
        return shares.at[j, high] - shares.at[j, low] + shares.least[j]
    if shares.kind[j] == SET:
        return distinct / shares.total[j] * shares.weight[j]
    # places are ordered so that the leaves under a node are adjacent: the common ancestor of the ends is that of all
    level = 1
    while shares.above[j, level, low] != shares.above[j, level, high]:
        level += 1
    return shares.wide[j, level, low]


@kernel
def shares_of(shares: Any, low: Any, high: Any, distinct: Any, out: Any) -> None:
    """Fill `out[g, j]` with the share of the cell of group g and attribute j. Cost: linear in the cells."""
    for g in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[g, j] = share(shares, j, low[g, j], high[g, j], distinct[g, j])
