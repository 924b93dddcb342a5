"""The earth mover's distance between each group's distribution and another, exactly and without visiting all values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.groups import Histogram
from sfumato.data.schema import Kind
from sfumato.distances.distance import refuse_missing
from sfumato.errors import ColumnError
from sfumato.exact import Ratios
from sfumato.exact.ratios import SAFE, Integers

GROUNDS = ("equal", "ordered", "hierarchical")
"""Ground distances: any two values are 1 apart; neighbours in an order are 1/(m − 1) apart; level of the lowest common
ancestor over the hierarchy's height."""


@dataclass(frozen=True)
class TableDistance:
    """A requirement that every group's earth mover's distance from the whole table is at most a limit."""

    limit: Fraction
    ground: str
    """One of `GROUNDS`."""


@dataclass(frozen=True, eq=False)
class Target:
    """The distributions that groups are compared with: target t has `totals[t, v]` rows of value v."""

    totals: NDArray[np.int64]
    of_group: NDArray[np.int64]
    """Each group's target."""


def emd(attribute: Attribute, histogram: Histogram, ground: str, target: Target) -> Ratios:
    """Return the earth mover's distance of each group from its target. Cost: near-linear in the histogram's entries."""
    if ground == "ordered":
        return _ordered(attribute, histogram, target)
    return _apart(histogram, value_levels(attribute, ground), target)


def value_levels(attribute: Attribute, ground: str) -> list[NDArray[np.int64] | None]:
    """Return for each level below the root the node of each value; None for the leaves, which are the values themselves.

    Under the "equal" ground distance all values are 1 apart: there is one level, the leaves.
    """
    if ground == "equal":
        return [None]
    column = attribute.single("a hierarchical ground distance")
    if column.paths is None:
        raise ColumnError(
            "a hierarchical ground distance requires a hierarchy, and the column has none",
            remedy='Declare one, or use ground = "equal".',
            column=column.name,
        )
    paths = column.paths[attribute.parts[:, 0]]
    return [None, *(np.unique(paths[:, level], return_inverse=True)[1] for level in range(1, paths.shape[1] - 1))]


def _apart(h: Histogram, levels: list[NDArray[np.int64] | None], target: Target) -> Ratios:
    """Return Σ over levels and nodes of |p − q| / (2·levels), for the share p of the group and q of the target.

    In a tree whose leaves are all at one depth, the earth moved is half of what each edge must carry; with one level it is
    the total variation. Nodes that a group does not touch contribute q, and all q of a level sum to 1: so the sum runs over
    |p − q| − q for the nodes of the group, plus 1 per level.
    """
    n, whole = h.sizes, target.totals.sum(axis=1)[target.of_group]
    wide = len(levels) * int(n.max()) * int(whole.max()) >= SAFE  # no sum exceeds twice this product
    moved: Integers = _maybe_wide(np.zeros(len(n), np.int64), wide)
    for node in levels:
        above, totals = h, target.totals
        if node is not None:
            above = h.merged(node, int(node.max()) + 1)
            order = np.argsort(node, kind="stable")
            first = np.searchsorted(node[order], np.arange(int(node.max()) + 1))
            totals = np.add.reduceat(totals[:, order], first, axis=1)
        here = totals[target.of_group[above.group], above.values]
        c, t = _maybe_wide(above.counts, wide), _maybe_wide(here, wide)
        expected = t * n[above.group]
        moved = moved + np.add.reduceat(np.abs(c * whole[above.group] - expected) - expected, above.starts)
        moved = moved + _maybe_wide(n, wide) * whole
    return Ratios(moved, _maybe_wide(n, wide) * whole * (2 * len(levels)))


def _ordered(attribute: Attribute, h: Histogram, target: Target) -> Ratios:
    """Return Σ over positions of |P − Q| / (m − 1), for the cumulative distributions P of the group and Q of the target.

    Between two values of a group P is constant and Q ascends, so |P − Q| is summed with prefix sums on both sides of the
    crossing. The order is that of the numbers that occur, or the declared order of an ordinal column.
    """
    column = attribute.single("an ordered ground distance")
    if column.kind not in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL):
        raise ColumnError(
            f"an ordered ground distance requires numbers, dates or an ordinal column, and this one is {column.kind.value}",
            remedy='Declare its order, or use ground = "equal".',
            column=column.name,
        )
    refuse_missing(column, "an ordered ground distance")
    m = column.size
    position = attribute.parts[:, 0]
    if m == 1:
        return Ratios(np.zeros(len(h.sizes), np.int64), np.ones(len(h.sizes), np.int64))
    below = np.zeros((len(target.totals), m), np.int64)
    below[:, position] = target.totals
    below = np.cumsum(below, axis=1)
    whole = below[:, -1]
    prefix = np.concatenate([np.zeros((len(below), 1), np.int64), np.cumsum(below, axis=1)], axis=1)

    # Segments: before a group's first value, and from each value to the next. In them P·n is 0, then the running count.
    running = np.cumsum(h.counts) - np.repeat(np.concatenate([[0], np.cumsum(h.sizes)[:-1]]), h.distinct)
    first, last = position[h.values], np.append(position[h.values][1:], 0)
    last[h.offsets[1:] - 1] = m
    groups = np.arange(len(h.sizes))
    group = np.concatenate([groups, h.group])
    reached = np.concatenate([np.zeros(len(groups), np.int64), running])
    start = np.concatenate([np.zeros(len(groups), np.int64), first])
    stop = np.concatenate([position[h.values[h.starts]], last])

    # In each segment Q·w is below P·w up to `crossing`, and at least P·w from there on: |P − Q| changes its sign once.
    t = target.of_group[group]
    n, w = h.sizes[group], whole[t]
    crossing = np.clip(_first_above(below, t, reached * w // n), start, stop)
    wide = m * int(h.sizes.max()) * int(whole.max()) >= SAFE  # no term exceeds this product, nor does their sum
    p, q = _maybe_wide(reached, wide) * w, _maybe_wide(n, wide)
    before = p * (crossing - start) - q * (prefix[t, crossing] - prefix[t, start])
    after = q * (prefix[t, stop] - prefix[t, crossing]) - p * (stop - crossing)
    moved = _maybe_wide(np.zeros(len(groups), np.int64), wide)
    np.add.at(moved, group, before + after)
    sizes = _maybe_wide(h.sizes, wide)
    return Ratios(moved, sizes * whole[target.of_group] * (m - 1))


def _first_above(below: NDArray[np.int64], target: NDArray[np.int64], limit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each query the first position at which its target's cumulative count is above a limit."""
    # Targets are laid end to end, each lifted above the one before: one ascending array, one search.
    lift = int(below.max()) + 1
    lifted = below + lift * np.arange(len(below))[:, None]
    found = np.searchsorted(lifted.ravel(), limit + lift * target, side="right")
    return np.asarray(found - target * below.shape[1])


def _maybe_wide(integers: Integers, wide: bool) -> Integers:
    """Return integers of any size where 64 bits would overflow."""
    return integers.astype(object) if wide else integers
