"""Cycles of rows in different classes whose exchange lowers the number of neighbours within classes.

In a cycle every row takes the place of the next, and the last that of the first. As its classes differ, the change in the
potential (see `xcolor_exchanges`) is a sum over its steps: if row u takes the place of row w, that is u's neighbours in w's
class other than w, less w's neighbours in its class. A sum that is negative stays negative along the whole cycle if one
starts at the right row. So a search from every row with neighbours in its class, which goes on only while the sum is
negative, misses no cycle of any length.

There may be exponentially many paths to search. The first search goes breadth first and continues each row once per start:
its cycles are short, its cost polynomial, and it misses none of three rows that starts with a negative step. If it finds
nothing, a search of all paths decides, within the rest of a budget.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel
from sfumato.kernels.neighbour_lookup import near


@kernel
def _note_returns(by: Any, values: Any, classes: Any, start: int, returns: Any) -> Any:
    """Fill for each row how many neighbours it has in the class of `start`, other than `start`; return the tests."""
    kind, rank, low, high, bits = by
    offsets, members, of_row = classes[:3]
    mine = of_row[start]
    for w in range(len(values)):
        returns[w] = 0
        for i in range(offsets[mine], offsets[mine + 1]):
            if members[i] != start and near(kind, rank, low, high, bits, values[w], values[members[i]]):
                returns[w] += 1
    return len(values) * (offsets[mine + 1] - offsets[mine])


@kernel
def _breadth_first(
    by: Any, values: Any, classes: Any, returns: Any, start: int, budget: int, ring: Any
) -> tuple[int, int]:  # fmt: skip
    """Search from a row, continuing each other row once; fill the ring, and return its length (0: none) and the tests."""
    kind, rank, low, high, bits = by
    offsets, members, of_row, own, _ = classes
    rows, count = len(values), len(offsets) - 1
    queue, parent, total = np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64)
    reached, used = np.zeros(rows, np.bool_), np.full(count, -1, np.int64)
    queue[0], parent[0], total[0] = start, -1, -own[start]
    head, tail, spent = 0, 1, 0
    while head < tail:
        u = queue[head]
        step = head
        while step >= 0:  # the classes of the path to u
            used[of_row[queue[step]]] = head
            step = parent[step]
        for c in range(count):
            if used[c] == head:
                continue
            spent += offsets[c + 1] - offsets[c]
            if spent > budget:
                return 0, spent
            joins = 0
            for i in range(offsets[c], offsets[c + 1]):
                if near(kind, rank, low, high, bits, values[u], values[members[i]]):
                    joins += 1
            if total[head] + joins - 1 >= 0:
                continue
            for i in range(offsets[c], offsets[c + 1]):
                w = members[i]
                change = total[head] + joins
                if joins and near(kind, rank, low, high, bits, values[u], values[w]):
                    change -= 1
                if change >= 0:
                    continue
                change -= own[w]
                if change + returns[w] < 0:
                    length, step = 0, head
                    while step >= 0:
                        ring[length] = queue[step]
                        length += 1
                        step = parent[step]
                    ring[:length] = ring[:length][::-1].copy()
                    ring[length] = w
                    return length + 1, spent
                if not reached[w]:
                    reached[w] = True
                    queue[tail], parent[tail], total[tail] = w, head, change
                    tail += 1
        head += 1
    return 0, spent


@kernel
def _depth_first(
    by: Any, values: Any, classes: Any, returns: Any, start: int, budget: int, ring: Any
) -> tuple[int, int]:  # fmt: skip
    """Search all paths from a row whose sums stay negative; fill the ring, and return its length (0: none) and the tests."""
    kind, rank, low, high, bits = by
    offsets, members, of_row, own, _ = classes
    rows, count = len(values), len(offsets) - 1
    # of each row of the path: the next slot to look at, the sum up to it, and its neighbours in the class looked at
    at, total, joins = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    used = np.zeros(count, np.bool_)
    ring[0], total[0], used[of_row[start]] = start, -own[start], True
    depth, spent = 0, 0
    while depth >= 0:
        u, i = ring[depth], at[depth]
        if i == rows:
            used[of_row[u]] = False
            depth -= 1
            continue
        w = members[i]
        c = of_row[w]
        if used[c]:
            at[depth] = offsets[c + 1]
            continue
        if i == offsets[c]:
            spent += offsets[c + 1] - i
            if spent > budget:
                return 0, spent
            joins[depth] = 0
            for j in range(i, offsets[c + 1]):
                if near(kind, rank, low, high, bits, values[u], values[members[j]]):
                    joins[depth] += 1
        at[depth] = i + 1
        change = total[depth] + joins[depth]
        if joins[depth] and near(kind, rank, low, high, bits, values[u], values[w]):
            change -= 1
        if change >= 0:
            continue
        depth += 1
        ring[depth], total[depth], at[depth], used[c] = w, change - own[w], 0, True
        if total[depth] + returns[w] < 0:
            return depth + 1, spent
    return 0, spent


@kernel
def find_cycle(by: Any, values: Any, classes: Any, budget: int, ring: Any) -> tuple[int, int]:
    """Find rows in different classes whose cyclic exchange lowers the potential; violations are tried first.

    Fills `ring`, which needs an entry for each class, and returns its length and the tests of pairs. At 0 there is no
    such cycle, of any length, unless the tests exceed the budget.
    """
    of_row, own, allowed = classes[2:]
    returns = np.empty(len(values), np.int64)
    spent = 0
    for every_path in (False, True):
        for violating in (True, False):
            for v in range(len(values)):
                if own[v] == 0 or (own[v] > allowed[of_row[v]]) != violating:
                    continue
                spent += _note_returns(by, values, classes, v, returns)
                if spent > budget:
                    return 0, spent
                if every_path:
                    length, tests = _depth_first(by, values, classes, returns, v, budget - spent, ring)
                else:
                    length, tests = _breadth_first(by, values, classes, returns, v, budget - spent, ring)
                spent += tests
                if length or spent > budget:
                    return length, spent
    return 0, spent
