"""Pack rows into groups in which no row has too many neighbours: the whole table, or around groups with excess."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.search_state import SearchState
from sfumato.kernels.group_packing import crowding, pack

Integers = NDArray[np.int64]

_PART_GROUPS = 32
"""The order is split further while a part has at least twice this many groups."""

_REOPENED = (0, 1, 2, 4, 8)
"""How many rows of packed groups are packed again, for each row left over; tried in this order."""

_DEFERRED_COST = 6
"""The cost of a row that is left to the part above, in rows whose cells are all `*`."""

_MOST_ROWS = 65_536
"""The largest number of rows that are packed at once: the cost grows with rows times distinct values."""

_REPACKED = 16
"""The rows of the largest circles around groups with excess, all together, for each row of the problem."""


def pack_table(state: SearchState) -> None:
    """Pack the whole table: small parts of a good order first, then the rows left over in larger and larger parts.

    On the way up, groups that were packed below may be reopened and packed again together with the rows left over, those
    first whose rows have the fewest neighbours among them: as many as pay, weighed against leaving rows to the part above.
    What is left in the end forms groups as it comes. These have excess, and the search continues from there.
    """
    state.order_rows()
    labels = TablePacking(state).group_all()
    _, labels = np.unique(labels, return_inverse=True)
    state.regroup(labels)


class TablePacking:
    """The packing of a table, part by part.

    A part is a stretch of the order. A position is an index into the order. `labels[row]` is the group of a row, or -1; the
    numbers of reopened groups are not used again, so they have gaps.
    """

    def __init__(self, state: SearchState) -> None:
        self.state = state
        self.order = state.order
        self.size = state.packed_size
        self.labels = np.full(state.rows, -1, np.int64)
        self.made = 0
        """The next unused group number."""
        self.deferred_cost = _DEFERRED_COST * state.problem.columns

    def group_all(self) -> Integers:
        """Return a group for every row."""
        left = self.order[self.pack_part(0, self.state.rows)]
        groups_made = np.unique(self.labels[self.labels >= 0])
        if len(left) < self.size and len(groups_made):
            # too few for a group of their own: spread over the groups that exist
            self.labels[left] = groups_made[np.arange(len(left)) % len(groups_made)]
        else:
            groups = len(left) // self.size
            self.labels[left] = self.made + np.arange(len(left)) * groups // len(left)
        return self.labels

    def pack_part(self, start: int, stop: int) -> Integers:
        """Pack the positions from `start` up to, not including, `stop`; return the positions left over."""
        large = stop - start > 2 * _PART_GROUPS * self.size
        half = _split(self.state.coarse, start, stop, self.size) if large else None
        if half is None:
            at = np.arange(start, stop)
            return self._accept(at, self._pack_positions(at))
        at = np.concatenate([self.pack_part(start, half), self.pack_part(half, stop)])
        if len(at) < self.size:
            return at
        # try to pack what is left with more and more groups reopened, and keep the cheapest
        best, least = None, np.inf
        cost = self.state.cost_of_rows(self.order[start:stop])
        ranked, group_at = self._least_crowded(at, start, stop)
        for share in _REOPENED:
            reopened = ranked[: share * len(at) // self.size]
            back = start + np.flatnonzero(np.isin(group_at, reopened)) if len(reopened) else at[:0]
            both = np.sort(np.concatenate([at, back]))
            if len(both) > _MOST_ROWS:
                break
            packed = self._pack_positions(both)
            left = int((packed < 0).sum())
            score = (len(both) - left) * cost + left * self.deferred_cost
            if score < least:
                best, least = (both, packed), score
            if left == 0 or len(reopened) == len(ranked):
                break
        return at if best is None else self._accept(*best)

    def _pack_positions(self, at: Integers) -> Integers:
        return pack_rows(self.state, self.order[at], len(at) // self.size)

    def _accept(self, at: Integers, packed: Integers) -> Integers:
        """Store the groups of some positions; return the positions left over."""
        self.labels[self.order[at]] = np.where(packed >= 0, self.made + packed, -1)
        self.made += int(packed.max(initial=-1)) + 1
        return at[packed < 0]

    def _least_crowded(self, at: Integers, start: int, stop: int) -> tuple[Integers, Integers]:
        """Return the groups of a part, those with fewest neighbours among the rows left over first; and each row's group."""
        rows = self.order[start:stop]
        group_at = self.labels[rows]
        inside = np.flatnonzero(group_at >= 0)
        groups, index = np.unique(group_at[inside], return_inverse=True)
        met = np.empty(len(inside), np.int64)
        crowding(self.state.neighbour_limits, rows[inside], self.order[at], met)
        score = np.bincount(index, weights=met) / np.bincount(index)
        return groups[np.argsort(score, kind="stable")], group_at


def _split(coarse: Integers, start: int, stop: int, least: int) -> int | None:
    """Return where to split a part of the order: at its coarsest cut that is not near an end; None if it is too small."""
    margin = max(2 * least, (stop - start) // 5)
    if stop - start < 2 * margin:
        return None
    inner = coarse[start + margin : stop - margin + 1]
    return start + margin + int(np.argmax(inner))


def pack_rows(state: SearchState, rows: Integers, groups: int) -> Integers:
    """Return a group for each of these rows, none with excess; -1 for a row that finds no group."""
    out = np.empty(len(rows), np.int64)
    pack(state.neighbour_limits, rows, state.packed_size, min(groups, len(rows) // state.packed_size), out)
    return out


def repack_around(state: SearchState) -> None:
    """Pack the rows of each group with excess again, together with the groups around it, in circles that double.

    The groups around it are those next to it along a good order. A circle that packs without a row left over replaces its
    groups; the circles end at the whole table, at `_MOST_ROWS`, or, if many groups have excess, at an equal share of
    `_REPACKED` times the rows, so that the cost does not grow with their number.
    """
    line, position = state.group_order()
    labels, count = state.labels.copy(), len(line)
    where = np.empty(count, np.int64)  # the position of each group in the line
    where[line] = np.arange(count)
    repaired = np.zeros(count, bool)
    bad = np.flatnonzero(state.arrays.excess > 0)
    most = min(_MOST_ROWS, _REPACKED * state.rows // max(1, len(bad)))
    for group in bad:
        if repaired[group]:
            continue
        circle = 2
        while True:
            start = max(0, int(where[group]) - circle)
            pool = line[start : start + 2 * circle + 1]
            rows = np.flatnonzero(np.isin(labels, pool))
            if len(rows) > most:
                break
            rows = rows[np.argsort(position[rows], kind="stable")]
            packed = pack_rows(state, rows, len(pool))
            if (packed >= 0).all():
                labels[rows] = pool[packed]
                repaired[pool] = True
                break
            if len(pool) == count:
                break
            circle *= 2
    _, labels = np.unique(labels, return_inverse=True)
    state.regroup(labels)
