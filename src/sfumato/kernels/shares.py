"""What a published cell tells nothing of: its share of the domain."""

from __future__ import annotations

from typing import Any

from sfumato.kernels.compile import kernel

LINE, TREE, SET = 0, 1, 2
"""How an attribute is published: intervals along a line, nodes of a tree, sets of values."""


@kernel
def share(
    kind: Any, size: Any, at: Any, least: Any, above: Any, wide: Any, j: int, low: int, high: int, distinct: int
) -> Any:
    """The share of attribute j's domain that a cell from place `low` to `high` covers, `distinct` values if it is a set.

    Place p of a line stands at `at[j, p]`, and `least[j]` is the share of two that touch; above place p of a tree stands
    the node `above[j, level, p]`, which covers `wide[j, level, p]`. Cost: constant, the levels for a tree.
    """
    if low == high:
        return 0.0
    if high == size[j]:  # missing together with something else
        return 1.0
    if kind[j] == LINE:
        return at[j, high] - at[j, low] + least[j]
    if kind[j] == TREE:
        level = 1
        while above[j, level, low] != above[j, level, high]:
            level += 1
        return wide[j, level, low]
    return distinct / size[j]


@kernel
def shares_of(
    kind: Any, size: Any, at: Any, least: Any, above: Any, wide: Any, low: Any, high: Any, distinct: Any, out: Any
) -> None:
    """Fill in the share of every cell: of each group (row) and attribute (column). Cost: linear in the cells."""
    for g in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[g, j] = share(kind, size, at, least, above, wide, j, low[g, j], high[g, j], distinct[g, j])
