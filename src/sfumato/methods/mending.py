"""Mend what blending left: deal rows anew around bad groups, exchange where that is promised to end well, merge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.pack import crowding, pack
from sfumato.methods.canvas import DEAR, Canvas
from sfumato.methods.xcolor import exchange, guarantee, initialize
from sfumato.principles import Dissimilarity

_PART = 32
"""Parts of an order are dealt from so many groups on."""

_TAKEN_BACK = (0, 1, 2, 4, 8)
"""How many rows of groups are taken back, for each row left over."""

_PASSED_UP = 6
"""What a row costs that is left to the part above, in rows of which nothing is told."""

_FEW = 200
"""So many bad rows are few in any table."""

_IDLE = 3
"""Merging ends after so many rounds that left no fewer rows bad: for limits on neighbours larger groups may not help."""

_CROWD = 2_000
"""Neighbours are counted pair by pair: groups of more rows are not merged further for their sake."""

_WIDEST = 65_536
"""No more rows than this are dealt in one go."""


def mend(canvas: Canvas, effort: int) -> None:
    """Try everything, from the cheapest to the surest, until no group has excess."""
    shake(canvas)
    if canvas.excess > 0 and canvas.can_be_dealt:
        if canvas.bad_rows <= canvas.rows // 10:
            deal_around(canvas)
        exchange_if_promised(canvas)
    before, bad = canvas.labels.copy(), canvas.bad_rows
    least, idle = bad, 0
    while canvas.excess > 0 and len(canvas.state.size) > 1 and idle < _IDLE:
        if canvas.limits.crowds and canvas.state.size.max() > _CROWD:
            break
        merge(canvas)
        if canvas.bad_rows < canvas.rows // 10:
            canvas.focus(4 * effort, window=200)
        idle = 0 if canvas.bad_rows < least or not canvas.limits.crowds else idle + 1
        least = min(least, canvas.bad_rows)
    if canvas.bad_rows > bad:
        canvas.regroup(before)  # as little as possible is to fail


def shake(canvas: Canvas) -> None:
    """Look for partners of the last bad rows in the whole table, with heat, so that what cannot be mended here moves on."""
    bad = canvas.bad_rows
    if not 0 < bad <= max(_FEW, canvas.rows // 100):
        return
    for _ in range(8):
        canvas.new_order()
        canvas.turn(int(min(canvas.rows, 200_000 // bad + 1)), canvas.rows, 2.0, DEAR, focus=True)
        if canvas.excess <= 0:
            return


def deal_around(canvas: Canvas) -> None:
    """Deal the rows of each bad group and of the groups around it anew, in circles that double until it works."""
    canvas.good_order()
    position = np.empty(canvas.rows, np.int64)
    position[canvas.order] = np.arange(canvas.rows)
    labels = canvas.labels.copy()
    count = int(labels.max()) + 1
    at = np.bincount(labels, weights=position, minlength=count) / np.bincount(labels, minlength=count)
    line = np.argsort(at, kind="stable")
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


def exchange_if_promised(canvas: Canvas) -> None:
    """Start from equitable groups and exchange, as XColor does, if its bound says that this ends without excess."""
    if canvas.excess <= 0 or not any(isinstance(principle, Dissimilarity) for principle in canvas.task.principles):
        return
    everyone, near = np.arange(canvas.rows), np.empty(canvas.rows, np.int64)
    crowding(canvas.crowds, everyone, everyone, near)
    start, crowd = initialize(near - 1, canvas.dealt_size), canvas.limits.crowds[0]
    if near.max() - 1 < guarantee(np.bincount(start), crowd.allowed):
        found = exchange(start, crowd.values, crowd.nearness, crowd.allowed, canvas.place, canvas.shares)
        canvas.regroup(found.of_row)


def deal(canvas: Canvas) -> None:
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

    def __init__(self, canvas: Canvas) -> None:
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


def _dealt(canvas: Canvas, rows: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """A group for each of these rows, none with excess; -1 for those that dealing finds no group for."""
    out = np.empty(len(rows), np.int64)
    pack(canvas.crowds, rows, canvas.dealt_size, min(groups, len(rows) // canvas.dealt_size), out)
    return out


def merge(canvas: Canvas) -> None:
    """Merge every bad group with the one beside it along a good order that costs least."""
    canvas.good_order()
    position = np.empty(canvas.rows, np.int64)
    position[canvas.order] = np.arange(canvas.rows)
    labels = canvas.labels.copy()
    count = int(labels.max()) + 1
    at = np.bincount(labels, weights=position, minlength=count) / np.maximum(1, np.bincount(labels, minlength=count))
    line = np.argsort(at, kind="stable")
    into = np.arange(count)
    used = np.zeros(count, bool)
    for i, group in enumerate(line):
        if canvas.state.excess[group] <= 0 or used[group]:
            continue
        beside = [line[j] for j in (i - 1, i + 1) if 0 <= j < count]
        if not beside:
            continue
        free = [other for other in beside if not used[other]] or beside
        other = min(free, key=lambda g: (canvas.state.excess[g] > 0, canvas.joined_cost(int(group), int(g))))
        into[group] = into[other]
        used[group] = used[other] = True
    _, labels = np.unique(into[labels], return_inverse=True)
    canvas.regroup(labels)
