"""Mend what blending left: deal rows anew around bad groups, exchange where that is promised to end well, merge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.pack import pack
from sfumato.methods.canvas import Canvas

_MANY = 0.05
"""If more than this share of the groups is bad, the whole table is dealt anew."""

_WIDEST = 65_536
"""No more rows than this are dealt in one go."""


def mend(canvas: Canvas, effort: int) -> None:
    """Try everything, from the cheapest to the surest, until no group has excess."""
    if canvas.excess > 0 and len(canvas.limits.crowds) == 1 and not canvas.limits.shapes:
        bad = canvas.state.excess > 0
        if bad.mean() > _MANY:
            deal_down(canvas)
        else:
            deal_around(canvas)
    rounds = 0
    while canvas.excess > 0 and len(canvas.state.size) > 1 and rounds < 40:
        merge(canvas)
        canvas.focus(4 * effort, window=200)
        rounds += 1


def deal_around(canvas: Canvas) -> None:
    """Deal the rows of each bad group and of the groups around it anew, in circles that double until it works."""
    canvas.cut_order_only()
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
            if dealt is not None:
                labels[rows] = pool[dealt]
                mended[pool] = True
                break
            if len(pool) == count:
                break
            circle *= 2
    _, labels = np.unique(labels, return_inverse=True)
    canvas.regroup(labels)


def deal_down(canvas: Canvas) -> None:
    """Deal the whole table anew, in the smallest parts of a good order that can be dealt without a neighbour too many."""
    canvas.cut_order_only()
    order, coarse = canvas.order, canvas.coarse
    labels = np.full(canvas.rows, -1, np.int64)
    next_label = 0

    def settle(start: int, stop: int, dealt: NDArray[np.int64]) -> None:
        nonlocal next_label
        rows = order[start:stop]
        half = _split(coarse, start, stop, canvas.limits.least)
        if half is not None:
            parts = [_dealt(canvas, order[start:half]), _dealt(canvas, order[half:stop])]
            if parts[0] is not None and parts[1] is not None:
                settle(start, half, parts[0])
                settle(half, stop, parts[1])
                return
        labels[rows] = next_label + dealt
        next_label += int(dealt.max()) + 1

    if canvas.rows > _WIDEST:
        return
    whole = _dealt(canvas, order)
    if whole is not None:
        settle(0, canvas.rows, whole)
        _, labels = np.unique(labels, return_inverse=True)
        canvas.regroup(labels)


def _split(coarse: NDArray[np.int64], start: int, stop: int, least: int) -> int | None:
    """Where to split a part of the order: at its coarsest cut that is not near an end."""
    margin = max(2 * least, (stop - start) // 5)
    if stop - start < 2 * margin:
        return None
    inner = coarse[start + margin : stop - margin + 1]
    return start + margin + int(np.argmax(inner))


def _dealt(canvas: Canvas, rows: NDArray[np.int64], groups: int | None = None, ease: float = 1.0) -> NDArray[np.int64] | None:
    """Groups of these rows without excess, or None if dealing finds none."""
    limits = canvas.limits
    size = limits.roomiest(2 * limits.least)
    most = len(rows) // size
    groups = most if groups is None else min(groups, most)
    if groups < 1:
        return None
    out = np.empty(len(rows), np.int64)
    return out if pack(canvas.crowds, rows, size, groups, ease, out) == 0 else None


def merge(canvas: Canvas) -> None:
    """Merge every bad group with the one beside it along a good order that costs least."""
    canvas.cut_order_only()
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
