"""What a published cell tells nothing of: its share of the domain."""

from __future__ import annotations

from typing import Any, NamedTuple

from sfumato.kernels.compile import kernel

LINE, TREE, SET = 0, 1, 2
"""How an attribute is published: intervals along a line, nodes of a tree, sets of values."""


class Shares(NamedTuple):
    """The domains of all attributes; attribute j has the places 0 to `size[j]` - 1, and `size[j]` means missing."""

    kind: Any
    """For each attribute LINE, TREE or SET."""
    size: Any
    at: Any
    """Place p of a line stands at `at[j, p]`."""
    least: Any
    """The share of two places of a line that touch."""
    above: Any
    """Above place p of a tree stands, on each level, the node `above[j, level, p]`."""
    wide: Any
    """What that node covers: `wide[j, level, p]`."""
    first: Any
    """Where an attribute's pairs begin in `pairs`; -1 for sets, and for domains that are too large for pairs."""
    pairs: Any
    """For each pair of places of a small line or tree the share of a cell that covers both."""


@kernel
def share(shares: Any, j: Any, low: Any, high: Any, distinct: Any) -> Any:
    """The share of attribute j's domain that a cell from place `low` to `high` covers, `distinct` values if it is a set.

    Cost: constant; the levels of a large tree.
    """
    if low == high:
        return 0.0
    size = shares.size[j]
    if high == size:  # missing together with something else
        return 1.0
    first = shares.first[j]
    if first >= 0:
        return shares.pairs[first + low * size + high]
    if shares.kind[j] == LINE:
        return shares.at[j, high] - shares.at[j, low] + shares.least[j]
    if shares.kind[j] == SET:
        return distinct / size
    level = 1
    while shares.above[j, level, low] != shares.above[j, level, high]:
        level += 1
    return shares.wide[j, level, low]


@kernel
def shares_of(shares: Any, low: Any, high: Any, distinct: Any, out: Any) -> None:
    """Fill in the share of every cell: of each group (row) and attribute (column). Cost: linear in the cells."""
    for g in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[g, j] = share(shares, j, low[g, j], high[g, j], distinct[g, j])
