"""Mend what blending left: deal rows anew around bad groups, exchange where that is promised to end well, merge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.pack import pack
from sfumato.methods.canvas import Canvas

_PART = 64
"""Parts of an order are dealt from so many groups on."""

_WIDEST = 65_536
"""No more rows than this are dealt in one go."""


def mend(canvas: Canvas, effort: int) -> None:
    """Try everything, from the cheapest to the surest, until no group has excess."""
    if canvas.excess > 0 and canvas.can_be_dealt:
        deal_around(canvas)
    rounds = 0
    while canvas.excess > 0 and len(canvas.state.size) > 1 and rounds < 40:
        merge(canvas)
        canvas.focus(4 * effort, window=200)
        rounds += 1


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


def deal(canvas: Canvas) -> None:
    """Deal the whole table anew: in small parts of a good order first, what no group takes then in ever larger ones.

    What is left in the end forms groups as it comes; they are bad, and the search goes on from there.
    """
    canvas.good_order()
    order, coarse, size = canvas.order, canvas.coarse, canvas.dealt_size
    labels = np.full(canvas.rows, -1, np.int64)
    made = 0

    def left_of(start: int, stop: int) -> NDArray[np.int64]:
        nonlocal made
        half = _split(coarse, start, stop, size) if stop - start > 2 * _PART * size else None
        at = np.arange(start, stop)
        if half is not None:
            at = np.concatenate([left_of(start, half), left_of(half, stop)])
        if not size <= len(at) <= _WIDEST:
            return at
        dealt = _dealt(canvas, order[at], len(at) // size)
        labels[order[at]] = np.where(dealt >= 0, made + dealt, -1)
        made += int(dealt.max()) + 1
        return at[dealt < 0]

    left = order[left_of(0, canvas.rows)]
    if len(left) < size and made:
        labels[left] = np.arange(len(left)) % made
    else:
        # mixed, so that no group of them holds one kind alone
        left = left[np.random.default_rng(int(canvas.random[0] >> np.uint64(1))).permutation(len(left))]
        labels[left] = (
            made + np.arange(len(left)) // size
            if len(left) % size == 0
            else made + (np.arange(len(left)) * (len(left) // size) // len(left))
        )
    _, labels = np.unique(labels, return_inverse=True)
    canvas.regroup(labels)


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
