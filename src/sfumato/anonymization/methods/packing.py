"""Deal rows into groups without a neighbour too many: the whole table, or around bad groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.search_state import SearchState
from sfumato.kernels.group_packing import crowding, pack

_PART = 32
"""Parts of an order are dealt from so many groups on."""

_TAKEN_BACK = (0, 1, 2, 4, 8)
"""How many rows of groups are taken back, for each row left over."""

_PASSED_UP = 6
"""What a row costs that is left to the part above, in rows of which nothing is told."""

_WIDEST = 65_536
"""No more rows than this are dealt in one go."""


def deal(canvas: SearchState) -> None:
    """Deal the whole table anew: small parts of a good order first, what no group takes then in ever larger parts.

    On the way up, groups that were dealt below may be taken back and dealt again with the rows left over, those first
    that are least crowded by them: as many as pay, weighed against leaving rows to the part above. What is left in the
    end forms groups as it comes; they are bad, and the search goes on from there.
    """
    canvas.good_order()
    labels = Dealer(canvas).labels_of_all()
    _, labels = np.unique(labels, return_inverse=True)
    canvas.regroup(labels)


class Dealer:
    """Deals a table part by part."""

    def __init__(self, canvas: SearchState) -> None:
        self.canvas = canvas
        self.order = canvas.order
        self.size = canvas.dealt_size
        self.labels = np.full(canvas.rows, -1, np.int64)
        self.made = 0
        # a row that is passed up costs a few rows in which nothing is told
        self.passed_up = _PASSED_UP * len(canvas.task.domains)

    def labels_of_all(self) -> NDArray[np.int64]:
        """A group for every row."""
        left = self.order[self.deal(0, self.canvas.rows)]
        groups_made = np.unique(self.labels[self.labels >= 0])
        if len(left) < self.size and len(groups_made):
            self.labels[left] = groups_made[np.arange(len(left)) % len(groups_made)]
        else:
            groups = len(left) // self.size
            self.labels[left] = self.made + np.arange(len(left)) * groups // len(left)
        return self.labels

    def deal(self, start: int, stop: int) -> NDArray[np.int64]:
        """Deal a part of the order; return the positions that are left."""
        half = _split(self.canvas.coarse, start, stop, self.size) if stop - start > 2 * _PART * self.size else None
        if half is None:
            at = np.arange(start, stop)
            return self._take(at, self._dealt(at))
        at = np.concatenate([self.deal(start, half), self.deal(half, stop)])
        if len(at) < self.size:
            return at
        best, least = None, np.inf
        cost = self.canvas.stretch(self.order[start:stop])
        ranked, group_at = self._least_crowded(at, start, stop)
        for share in _TAKEN_BACK:
            again = ranked[: share * len(at) // self.size]
            back = start + np.flatnonzero(np.isin(group_at, again)) if len(again) else at[:0]
            both = np.sort(np.concatenate([at, back]))
            if len(both) > _WIDEST:
                break
            dealt = self._dealt(both)
            left = int((dealt < 0).sum())
            score = (len(both) - left) * cost + left * self.passed_up
            if score < least:
                best, least = (both, dealt), score
            if left == 0 or len(again) == len(ranked):
                break
        return at if best is None else self._take(*best)

    def _dealt(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        return _dealt(self.canvas, self.order[at], len(at) // self.size)

    def _take(self, at: NDArray[np.int64], dealt: NDArray[np.int64]) -> NDArray[np.int64]:
        """Take what was dealt; return the positions that are left."""
        self.labels[self.order[at]] = np.where(dealt >= 0, self.made + dealt, -1)
        self.made += int(dealt.max(initial=-1)) + 1
        return at[dealt < 0]

    def _least_crowded(self, at: NDArray[np.int64], start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The groups of a part, those first whose rows have the fewest neighbours among what is left; each row's group."""
        rows = self.order[start:stop]
        group_at = self.labels[rows]
        inside = np.flatnonzero(group_at >= 0)
        groups, index = np.unique(group_at[inside], return_inverse=True)
        met = np.empty(len(inside), np.int64)
        crowding(self.canvas.crowds, rows[inside], self.order[at], met)
        score = np.bincount(index, weights=met) / np.bincount(index)
        return groups[np.argsort(score, kind="stable")], group_at


def _split(coarse: NDArray[np.int64], start: int, stop: int, least: int) -> int | None:
    """Where to split a part of the order: at its coarsest cut that is not near an end."""
    margin = max(2 * least, (stop - start) // 5)
    if stop - start < 2 * margin:
        return None
    inner = coarse[start + margin : stop - margin + 1]
    return start + margin + int(np.argmax(inner))


def _dealt(canvas: SearchState, rows: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """A group for each of these rows, none with excess; -1 for those that dealing finds no group for."""
    out = np.empty(len(rows), np.int64)
    pack(canvas.crowds, rows, canvas.dealt_size, min(groups, len(rows) // canvas.dealt_size), out)
    return out


def deal_around(canvas: SearchState) -> None:
    """Deal the rows of each bad group and of the groups around it anew, in circles that double until it works."""
    line, position = canvas.in_line()
    labels, count = canvas.labels.copy(), len(line)
    where = np.empty(count, np.int64)
    where[line] = np.arange(count)
    mended = np.zeros(count, bool)
    for group in np.flatnonzero(canvas.state.excess > 0):
        if mended[group]:
            continue
        circle = 2
        while True:
            start = max(0, int(where[group]) - circle)
            pool = line[start : start + 2 * circle + 1]
            rows = np.flatnonzero(np.isin(labels, pool))
            if len(rows) > _WIDEST:
                break
            rows = rows[np.argsort(position[rows], kind="stable")]
            dealt = _dealt(canvas, rows, len(pool))
            if (dealt >= 0).all():
                labels[rows] = pool[dealt]
                mended[pool] = True
                break
            if len(pool) == count:
                break
            circle *= 2
    _, labels = np.unique(labels, return_inverse=True)
    canvas.regroup(labels)
