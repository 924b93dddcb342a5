"""A partition plan: cuts along quasi-identifiers that divide a table into parts, each of which is searched alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.part_difficulty import Difficulty
from sfumato.anonymization.methods.search_constraints import SearchConstraints
from sfumato.kernels.cell_shares import Shares, shares_of

Integers = NDArray[np.int64]

LEAF = -1
"""The attribute of a node that is not cut."""

_BLOCK = 1 << 20
"""The number of rows that are divided at a time: it bounds the memory of what is computed on the way."""

_BALANCE = 0.25
"""The smaller side of a cut has at least this share of the part size, so that no part is tiny."""

_SHIFT = 0.1
"""A shifted cut has at least this share of the rows between itself and a cut of the first plan, where it can."""

_REPEATED = 0.2
"""The factor of what a cut saves that is not shifted."""

_WORTHWHILE = 0.3
"""The share of what the best cut saves that another cut saves at least, if the best one is refused."""

_LARGER = 4
"""A set that no worthwhile cut divides may be this many times too large."""

_STEPS = 8
"""Along each attribute one cut is tried for every such share of the rows below it."""

_TRIED = 40
"""The number of cuts of a set that are tried."""

_GROUPS = 20
"""A part has room for about this many groups at least."""

_SAMPLED = 100
"""A part has at least this many rows of the sample, if the plan is made from one."""

_MANY = 8
"""A set that no cut divides is dealt out in pieces if it is this many times too large."""


@dataclass(frozen=True, eq=False)
class PartitionPlan:
    """A cut tree over the places of the quasi-identifiers; every leaf is a part, or several pieces of equal rows.

    Node 0 is the root. A node with `attribute` j sends rows with a place of at most `place` to the node `lower`, the others
    to the next one. The arrays are small: a plan is made once and sent to wherever rows are divided.

    >>> plan = PartitionPlan(np.array([0, LEAF, LEAF]), np.array([4, 0, 0]), np.array([1, 0, 0]), np.array([0, 1, 1]))
    >>> plan.count, plan.parts_of(np.array([[3], [4], [5]], np.int32)).tolist()
    (2, [0, 0, 1])
    """

    attribute: Integers
    """For each node the attribute that it cuts; `LEAF` for a leaf."""
    place: Integers
    """For each node the last place of the lower side."""
    lower: Integers
    """For each node the number of the node of the lower side; that of the upper side follows it."""
    pieces: Integers
    """For each node the number of its parts: 0 for a node that is cut, and above 1 where rows are dealt out in turn."""

    @property
    def count(self) -> int:
        """The number of parts."""
        return int(self.pieces.sum())

    def parts_of(self, places: NDArray[np.int32], first_row: int = 0) -> NDArray[np.int32]:
        """Return the part of each row; `first_row` is the number of the first of these rows in the table.

        Cost: rows times the depth of the tree.
        """
        part = np.empty(len(places), np.int32)
        for start in range(0, len(places), _BLOCK):
            part[start : start + _BLOCK] = self._parts_of_block(places[start : start + _BLOCK], first_row + start)
        return part

    def _parts_of_block(self, places: NDArray[np.int32], first_row: int) -> NDArray[np.int32]:
        node = np.zeros(len(places), np.int32)
        active = np.arange(len(places)) if self.attribute[0] != LEAF else np.zeros(0, np.int64)
        while len(active):
            at = node[active]
            upper = places[active, self.attribute[at]] > self.place[at]
            node[active] = self.lower[at] + upper
            active = active[self.attribute[node[active]] != LEAF]
        first = (np.cumsum(self.pieces) - self.pieces).astype(np.int32)
        part = first[node]
        dealt = np.flatnonzero(self.pieces[node] > 1)
        # rows are dealt out by number, so that each piece is a sample of the whole
        part[dealt] += ((dealt + first_row) % self.pieces[node[dealt]]).astype(np.int32)
        return part


def plan_parts(
    places: NDArray[np.int32],
    shares: Shares,
    constraints: SearchConstraints,
    size: int,
    total: int | None = None,
    shifted: PartitionPlan | None = None,
) -> PartitionPlan:
    """Return a plan whose parts have at most about `size` rows each, or more where smaller ones would be hard to solve.

    `places` and `constraints` are those of all rows, or of a sample of `total` rows. Each set of rows is cut where that
    saves most, as in the order of a search (see `kernels.row_order.tree_order`): groups would seldom cross such a cut. A
    side is refused if the principles are hard to satisfy there (see `Difficulty`). With `shifted`, cuts stay away from those
    of another plan. Nothing is random. Cost: rows times attributes times the depth of the tree.
    """
    return _Planner(places, shares, constraints, size, total or len(places), shifted).plan()


class _Planner:
    def __init__(
        self,
        places: NDArray[np.int32],
        shares: Shares,
        constraints: SearchConstraints,
        size: int,
        total: int,
        shifted: PartitionPlan | None,
    ) -> None:
        self.places, self.shares, self.shifted = places, shares, shifted
        groups = max(1, constraints.most_groups(len(places)))
        room = max(size, _GROUPS * len(places) / groups)  # in rows of the table
        self.most = max(room * len(places) / max(total, 1), _SAMPLED if len(places) < total else 0)
        """The size of a part, in rows of the sample."""
        self.difficulty = Difficulty(constraints)
        self.used = [_places_cut(shifted, j) for j in range(places.shape[1])]
        """For each attribute the places at which the other plan cuts it."""
        # `shares_of` for one attribute alone
        self.single = [
            Shares(*(_of_attribute(field, array, j) for field, array in zip(shares._fields, shares, strict=True)))
            for j in range(places.shape[1])
        ]

    def plan(self) -> PartitionPlan:
        """Cut set by set, from the largest down."""
        nodes: list[list[int]] = [[LEAF, 0, 0, 1]]
        pending = [(0, np.arange(len(self.places)))]
        while pending:
            node, rows = pending.pop()
            if len(rows) <= self.most or len(rows) <= self.most * self.difficulty.size_factor(rows):
                continue
            cut = self._best_cut(rows)
            if cut is None:
                if len(rows) > _MANY * self.most:
                    nodes[node][3] = int(len(rows) // (_MANY * self.most))
                continue
            j, place, below, above = cut
            nodes[node] = [j, place, len(nodes), 0]
            pending += [(len(nodes), below), (len(nodes) + 1, above)]
            nodes += [[LEAF, 0, 0, 1], [LEAF, 0, 0, 1]]
        attribute, place, lower, pieces = np.array(nodes, np.int64).T.copy()
        return PartitionPlan(attribute, place, lower, pieces)

    def _best_cut(self, rows: Integers) -> tuple[int, int, Integers, Integers] | None:
        """Return the attribute, the place and both sides of the cut that saves most of those that are allowed."""
        candidates: list[tuple[float, int, int]] = []
        for j in range(self.places.shape[1]):
            candidates += self._candidates(j, self.places[rows, j])
        candidates.sort(key=lambda each: (-each[0], each[1], each[2]))
        # a set that is not much too large is rather left whole than cut where groups would cross the cut
        least = _WORTHWHILE * candidates[0][0] if candidates and len(rows) <= _LARGER * self.most else 0.0
        for saved, j, place in candidates[:_TRIED]:
            if saved <= least:
                break
            lower = self.places[rows, j] <= place
            below, above = rows[lower], rows[~lower]
            if self.difficulty.allows(below) and self.difficulty.allows(above):
                return j, place, below, above
        return None

    def _candidates(self, j: int, column: NDArray[np.int32]) -> list[tuple[float, int, int]]:
        """Return cuts of a set along attribute j: what each saves, the attribute, and the last place of the lower side.

        Of the cuts that leave a similar number of rows below, only the best is a candidate.
        """
        counts = np.bincount(column)
        at = np.flatnonzero(counts)
        left = np.cumsum(counts[at])[:-1]
        rows, seen = len(column), np.arange(1, len(at))
        enough = np.minimum(left, rows - left) >= _BALANCE * min(self.most, rows / 2)
        if not enough.any():
            return []
        low, high = np.full(len(left), at[0]), np.full(len(left), at[-1])
        full = max(float(self._cost(j, at[:1], at[-1:], np.array([len(at)]))[0]), 1e-12)
        below, above = self._cost(j, low, at[:-1], seen), self._cost(j, at[1:], high, len(at) - seen)
        saved = (left * (full - below) + (rows - left) * (full - above)) * full * full
        if len(self.used[j]):
            # the rows up to each place, and up to the nearest cut of the other plan
            up_to = np.concatenate([[0], np.cumsum(counts)])
            used = up_to[np.minimum(self.used[j], len(counts) - 1) + 1]
            apart = np.abs(left[:, None] - used).min(axis=1)
            saved = np.where(apart < _SHIFT * rows, _REPEATED * saved, saved)
        ranked = np.flatnonzero(enough)[np.argsort(-saved[enough], kind="stable")]
        _, first = np.unique(left[ranked] * _STEPS // rows, return_index=True)
        return [(float(saved[i]), j, int(at[i])) for i in ranked[first]]

    def _cost(self, j: int, low: Integers, high: Integers, distinct: Integers) -> NDArray[np.float64]:
        out = np.empty((len(low), 1))
        shares_of(self.single[j], low[:, None].astype(np.int64), high[:, None].astype(np.int64), distinct[:, None], out)
        return out[:, 0]


def _places_cut(plan: PartitionPlan | None, j: int) -> Integers:
    """Return the places at which a plan cuts attribute j."""
    return np.zeros(0, np.int64) if plan is None else np.unique(plan.place[plan.attribute == j])


def _of_attribute(field: str, array: NDArray[np.generic], j: int) -> NDArray[np.generic]:
    return array if field == "pairs" else array[j : j + 1]
