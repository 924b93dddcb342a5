"""The largest sets of near rows in each group, of several shapes: cliques, connected components, blocks and balls.

All kernels share these arguments. Set g consists of the entries `offsets[g]` to `offsets[g + 1]` - 1. Entry i stands for
`counts[i]` rows with the value `values[i]`, and bit w of row v of `bits` says that the values v and w are near. If units are
counted, entries with the same `owner` from 0 on are different values of one unit, of which only one may be chosen; the owner
of other entries is -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel, subroutine
from sfumato.kernels.neighbour_bitset import popcount

ONE = np.uint64(1)


@subroutine
def _is_near(bits: Any, v: Any, w: Any) -> Any:
    """Return whether two values are near. Cost: constant."""
    return (bits[v, w >> 6] >> np.uint64(w & 63)) & ONE != np.uint64(0)


@subroutine
def _lowest(word: Any) -> Any:
    """Return the place of the lowest bit of a word that is not 0."""
    return np.int64(popcount((word & (~word + ONE)) - ONE))


@kernel
def _adjacency(bits: Any, values: Any, owner: Any, start: Any, size: Any) -> Any:
    """Return which entries of a set may be chosen together, as bits; none with itself. Cost: the square of the size."""
    near = np.zeros((size, (size + 63) >> 6), np.uint64)
    for i in range(size):
        for j in range(i):
            same = owner[start + i] >= 0 and owner[start + i] == owner[start + j]
            if not same and _is_near(bits, values[start + i], values[start + j]):
                near[i, j >> 6] |= ONE << np.uint64(j & 63)
                near[j, i >> 6] |= ONE << np.uint64(i & 63)
    return near


@kernel
def _colour(near: Any, weight: Any, inside: Any, order: Any, bound: Any) -> int:
    """Order the candidates `inside` by colours, and return how many there are.

    Candidates of one colour are not near one another, so a clique has at most one of each. `bound[i]` is the most that a
    clique of the candidates `order[:i + 1]` can weigh: the heaviest of each colour, summed. Cost: candidates times words,
    times colours.
    """
    words = len(inside)
    left, free = inside.copy(), np.empty(words, np.uint64)
    count, before = 0, 0
    while True:
        for word in range(words):
            free[word] = left[word]
        heaviest, found = 0, False
        for word in range(words):
            while free[word] != np.uint64(0):
                v = (word << 6) + _lowest(free[word])
                found = True
                left[word] &= ~(ONE << np.uint64(v & 63))
                free[word] &= ~(ONE << np.uint64(v & 63))
                for other in range(word, words):
                    free[other] &= ~near[v, other]
                heaviest = max(heaviest, weight[v])
                order[count], bound[count] = v, before + heaviest
                count += 1
        if not found:
            return count
        before += heaviest


@kernel
def _heaviest_clique(near: Any, weight: Any, steps: Any) -> Any:
    """Return the weight of the heaviest clique, and an upper bound on it: the same, unless `steps` do not suffice.

    Branch and bound: at each depth the candidates are those near all chosen entries, the last colour first.
    """
    size, words = near.shape
    order, bound = np.empty((size + 1, size), np.int32), np.empty((size + 1, size), np.int64)
    inside = np.zeros((size + 1, words), np.uint64)
    at, held = np.empty(size + 1, np.int64), np.zeros(size + 1, np.int64)
    for v in range(size):
        inside[0, v >> 6] |= ONE << np.uint64(v & 63)
    at[0] = _colour(near, weight, inside[0], order[0], bound[0]) - 1
    best, depth, taken = 0, 0, 0
    root = bound[0, at[0]]
    while depth >= 0:
        if at[depth] < 0 or held[depth] + bound[depth, at[depth]] <= best:
            depth -= 1  # no candidate left here can lead to a heavier clique
            continue
        taken += 1
        if taken > steps:
            return best, root
        v = order[depth, at[depth]]
        at[depth] -= 1
        inside[depth, v >> 6] &= ~(ONE << np.uint64(v & 63))
        some = False
        for word in range(words):
            inside[depth + 1, word] = inside[depth, word] & near[v, word]
            some = some or inside[depth + 1, word] != np.uint64(0)
        held[depth + 1] = held[depth] + weight[v]
        best = max(best, held[depth + 1])
        if some:
            depth += 1
            at[depth] = _colour(near, weight, inside[depth], order[depth], bound[depth]) - 1
    return best, best


@kernel
def heaviest_cliques(
    bits: Any, offsets: Any, values: Any, counts: Any, owner: Any, largest: Any, steps: Any, least: Any, most: Any
) -> None:
    """Fill `least[g]` and `most[g]` with bounds on the rows of the heaviest clique of each set; equal if it is known.

    Sets of more than `largest` entries are only bounded: from above by the entry that is near most rows, from below by the
    entry with most rows. So are those that take more than `steps` branches.
    """
    for g in range(len(offsets) - 1):
        start, size = offsets[g], offsets[g + 1] - offsets[g]
        star, single = 0, 0
        for i in range(start, start + size):
            single = max(single, counts[i])
            near_rows = 0
            for j in range(start, start + size):
                same = i != j and owner[i] >= 0 and owner[i] == owner[j]
                if not same and _is_near(bits, values[i], values[j]):
                    near_rows += counts[j]
            star = max(star, near_rows)
        least[g], most[g] = single, star
        if single < star and size <= largest:
            near = _adjacency(bits, values, owner, start, size)
            found, bound = _heaviest_clique(near, counts[start : start + size], steps)
            least[g], most[g] = max(single, found), min(star, bound)


@kernel
def largest_components(bits: Any, offsets: Any, values: Any, counts: Any, out: Any) -> None:
    """Fill `out[g]` with the rows of the largest connected component of each set. Cost: the square of the size.

    The entries of a set are kept in `line`: first those of the component that have been looked at, then those of it that
    have not, then all others.
    """
    for g in range(len(offsets) - 1):
        start, size = offsets[g], offsets[g + 1] - offsets[g]
        line = np.arange(start, start + size)
        done, reached, held, best = 0, 0, 0, 0
        while done < size:
            if done == reached:  # the component is complete: begin another
                held, reached = counts[line[done]], done + 1
            v = values[line[done]]
            for i in range(reached, size):
                if _is_near(bits, v, values[line[i]]):
                    held += counts[line[i]]
                    line[i], line[reached] = line[reached], line[i]
                    reached += 1
            best = max(best, held)
            done += 1
        out[g] = best


@kernel
def largest_blocks(bits: Any, offsets: Any, values: Any, counts: Any, out: Any) -> None:
    """Fill `out[g]` with the rows of the largest block of each set: no row of a block is the only link between two others.

    Two near rows are a block, and so is a single row. Tarjan's depth-first search. An entry of several rows is two vertices,
    which stand for all of them: with two, as with more, none of them is the only link. Cost: the square of the size.
    """
    # Not split: the search from one vertex shares its six arrays with all others.
    for g in range(len(offsets) - 1):
        start, stop = offsets[g], offsets[g + 1]
        size = 0
        for i in range(start, stop):
            size += min(counts[i], 2)
        value, weight = np.empty(size, np.int64), np.empty(size, np.int64)
        n = 0
        for i in range(start, stop):
            value[n], weight[n] = values[i], counts[i]
            n += 1
            if counts[i] > 1:
                value[n], weight[n], weight[n - 1] = values[i], 1, counts[i] - 1
                n += 1
        number, low = np.full(size, -1), np.empty(size, np.int64)
        parent, following = np.full(size, -1), np.zeros(size, np.int64)
        stack, top = np.empty(size, np.int64), 0  # the vertices whose block is not complete
        best, reached = 0, 0
        for root in range(size):
            if number[root] >= 0:
                continue
            best = max(best, weight[root])
            number[root] = low[root] = reached
            reached += 1
            v = root
            stack[top] = v
            top += 1
            while v >= 0:
                if following[v] < size:
                    w = following[v]
                    following[v] += 1
                    if w == v or w == parent[v] or not _is_near(bits, value[v], value[w]):
                        continue
                    if number[w] >= 0:
                        low[v] = min(low[v], number[w])
                        continue
                    parent[w] = v
                    number[w] = low[w] = reached
                    reached += 1
                    stack[top] = w
                    top += 1
                    v = w
                    continue
                above = parent[v]
                if above >= 0:
                    low[above] = min(low[above], low[v])
                    if low[v] >= number[above]:
                        # the vertices above v on the stack, v itself, and its parent are a block
                        held = weight[above]
                        while True:
                            top -= 1
                            held += weight[stack[top]]
                            if stack[top] == v:
                                break
                        best = max(best, held)
                v = above
            top = 0
        out[g] = best


@kernel
def fullest_balls(bits: Any, offsets: Any, values: Any, counts: Any, owner: Any, out: Any) -> None:
    """Fill `out[g]` with the rows of each set that are near one value, the most of any value that has a row of `bits`.

    The entries of an owner are consecutive. Cost: for each entry the values near it, and the words of a row.
    """
    held = np.zeros(len(bits), np.int64)
    last = np.full(len(bits), -1)  # the owner that was counted last at each centre
    for g in range(len(offsets) - 1):
        best = 0
        for i in range(offsets[g], offsets[g + 1]):
            for word in range(bits.shape[1]):
                centres = bits[values[i], word]
                while centres != np.uint64(0):
                    centre = (word << 6) + _lowest(centres)
                    centres &= centres - ONE
                    if owner[i] < 0 or last[centre] != owner[i]:
                        held[centre] += counts[i]
                        last[centre] = owner[i]
                        best = max(best, held[centre])
        out[g] = best
        for i in range(offsets[g], offsets[g + 1]):
            for word in range(bits.shape[1]):
                centres = bits[values[i], word]
                while centres != np.uint64(0):
                    centre = (word << 6) + _lowest(centres)
                    centres &= centres - ONE
                    held[centre], last[centre] = 0, -1


@kernel
def fullest_boxes(offsets: Any, x: Any, y: Any, of_class: Any, counts: Any, side: Any, out: Any, corner: Any) -> None:
    """Fill `out[g]` with the rows of each set in the fullest square of a side, its sides along the axes, within one class.

    The entries of a set ascend by class, then by y. `corner[g]` receives the entries at its left and its lower side. Some
    fullest square has entries on both. For each entry at the left, a window of the entries right of it moves up. Cost: the
    square of the size.
    """
    for g in range(len(offsets) - 1):
        best = 0
        first = offsets[g]
        while first < offsets[g + 1]:
            stop = first
            while stop < offsets[g + 1] and of_class[stop] == of_class[first]:
                stop += 1
            for left in range(first, stop):
                # the window is the entries from `low` to `i` between the two sides
                low, held = first, 0
                for i in range(first, stop):
                    if x[i] < x[left] or x[i] - x[left] > side:
                        continue
                    held += counts[i]
                    while y[i] - y[low] > side:
                        if x[low] >= x[left] and x[low] - x[left] <= side:
                            held -= counts[low]
                        low += 1
                    if held > best:
                        best = held
                        corner[g, 0], corner[g, 1] = left, low
            first = stop
        out[g] = best
