"""Exchanges between classes of rows that lower the number of neighbours within classes.

The rows of class c are `members[offsets[c]:offsets[c + 1]]`; an exchange moves rows between slots, so sizes never change.
`own[row]` is the number of neighbours that a row has in its class, `allowed[c]` how many it may have there. The potential is
half the sum of `own`: the monochromatic edges. What belongs together comes as a tuple of arrays:

    by        those of `nearness.near`
    shares    those of `shares.share`
    table     values, places, profile: each row's sensitive value, its places, and the number of its places as a whole
    classes   offsets, members, of_row, own, allowed
    ledger    ends, losses, saves, spare, seen: each class's first and last places and its loss; what the departure of each
              row saves, and the most that one of the class does; room to count distinct places
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import kernel
from sfumato.kernels.group_extent import ends_of
from sfumato.kernels.neighbour_lookup import near

SWAPS, CYCLES, BEFORE, AFTER, LOOKS, TESTS = range(6)
"""What `exchanges` counts: swaps, cycles, the potential before and after, looks at classes, and tests for cycles."""


@kernel
def count_own(by: Any, values: Any, members: Any, offsets: Any, own: Any) -> Any:
    """Count every row's neighbours in its class, and return their sum. Cost: the pairs within classes."""
    kind, rank, low, high, bits = by
    own[:] = 0
    for c in range(len(offsets) - 1):
        for i in range(offsets[c], offsets[c + 1]):
            for j in range(i + 1, offsets[c + 1]):
                if near(kind, rank, low, high, bits, values[members[i]], values[members[j]]):
                    own[members[i]] += 1
                    own[members[j]] += 1
    return own.sum()


@kernel
def _loss(
    shares: Any, places: Any, offsets: Any, members: Any, ends: Any, seen: Any, c: int, out: int, into: int
) -> float:  # fmt: skip
    """The loss of a cell of a class, summed over the attributes, with one row out and another in (-1: none).

    Cost: the attributes; for those published as sets the rows of the class too.
    """
    total = 0.0
    for j in range(places.shape[1]):
        low, high = ends[c, j, 0], ends[c, j, 2]
        if out >= 0 and places[out, j] == low:
            low = ends[c, j, 1]
        if out >= 0 and places[out, j] == high:
            high = ends[c, j, 3]
        if into >= 0:
            low, high = min(low, places[into, j]), max(high, places[into, j])
        if low >= high:
            continue
        distinct = 0
        if shares.kind[j] == SET:
            seen[-1] += 1
            for i in range(offsets[c], offsets[c + 1]):
                row = into if members[i] == out else members[i]
                if row >= 0 and seen[places[row, j]] != seen[-1]:
                    seen[places[row, j]] = seen[-1]
                    distinct += 1
            if into >= 0 and out < 0 and seen[places[into, j]] != seen[-1]:
                distinct += 1
        total += share(shares, j, low, high, distinct)
    return total


@kernel
def _learn(
    kind: int, rank: Any, low: Any, high: Any, bits: Any, values: Any, offsets: Any, members: Any, v: int, c: int,
    value: int, known: Any,
) -> None:  # fmt: skip
    """Write down for a value how many rows of class c are near it, and whether v is.

    `known` holds for each value the search that last asked, the number, and the bit; its last row the present search.
    Cost: the rows of the class.
    """
    count = 0
    for i in range(offsets[c], offsets[c + 1]):
        if near(kind, rank, low, high, bits, value, values[members[i]]):
            count += 1
    known[value, 0], known[value, 1] = known[-1, 0], count
    known[value, 2] = 1 if near(kind, rank, low, high, bits, value, values[v]) else 0


@kernel
def _settle(shares: Any, table: Any, classes: Any, ledger: Any, c: int) -> None:
    """Write down what a class loses, and what the departure of each of its rows saves.

    Cost: the rows of the class times the attributes.
    """
    places = table[1]
    offsets, members = classes[:2]
    ends, losses, saves, spare, seen = ledger
    start, stop = offsets[c], offsets[c + 1]
    for j in range(places.shape[1]):
        ends[c, j, 0], ends[c, j, 1], ends[c, j, 2], ends[c, j, 3] = ends_of(places, members, start, stop, j)
    losses[c] = _loss(shares, places, offsets, members, ends, seen, c, -1, -1)
    spare[c] = 0.0
    for i in range(start, stop):
        row = members[i]
        left = _loss(shares, places, offsets, members, ends, seen, c, row, -1)
        saves[row] = losses[c] - left
        spare[c] = max(spare[c], saves[row])


@kernel
def _partner(
    by: Any, shares: Any, table: Any, classes: Any, ledger: Any, known: Any, costs: Any, v: int, some: Any
) -> tuple[int, int]:
    """Find in some classes the row whose exchange with v lowers the potential at the least loss; and by how much.

    Rows of classes that v is movable to come first. What v's class loses depends on the newcomer's places only (`costs`,
    by profile), and it gains at most what v's departure saves. What the other class loses is at least what taking v in
    costs less the most that a departure saves: from a larger class departures save less, not more. So most classes need
    no look at their rows. Cost: at most one look at every row of the classes, and one at every pair of a distinct value
    in them and a row of v's class.
    """
    kind, rank, low, high, bits = by
    values, places, profile = table
    offsets, members, of_row, own, allowed = classes
    ends, losses, saves, spare, seen = ledger
    mine = of_row[v]
    rows = offsets[mine + 1] - offsets[mine]
    known[-1, 0] += 1
    ticket = known[-1, 0]
    best, best_change, best_movable, best_loss = -1, 0, False, np.inf
    for c in some:
        if c == mine:
            continue
        there, end = offsets[c], offsets[c + 1]
        least = -(end - there) * spare[c]
        if best_movable:
            if least - rows * saves[v] >= best_loss:
                continue
            taking = _loss(shares, places, offsets, members, ends, seen, c, -1, v)
            least += (end - there) * (taking - losses[c])
            if least - rows * saves[v] >= best_loss:
                continue
        meets = 0
        for i in range(there, end):
            value = values[members[i]]
            if known[value, 0] != ticket:
                _learn(kind, rank, low, high, bits, values, offsets, members, v, mine, value, known)
            meets += known[value, 2]
        for i in range(there, end):
            u = members[i]
            value = values[u]
            joined = known[value, 2]
            change = (meets - joined - own[v]) + (known[value, 1] - joined - own[u])
            movable = meets - joined <= allowed[c]
            if change >= 0 or (best_movable and not movable):
                continue
            if costs[profile[u], 0] != ticket:
                cost = _loss(shares, places, offsets, members, ends, seen, mine, v, u)
                costs[profile[u], 0], costs[profile[u], 1] = ticket, rows * (cost - losses[mine])
            loss = costs[profile[u], 1]
            if best_movable and loss + least >= best_loss:
                continue
            cost = _loss(shares, places, offsets, members, ends, seen, c, u, v)
            loss += (end - there) * (cost - losses[c])
            if movable > best_movable or (movable == best_movable and loss < best_loss):
                best, best_change, best_movable, best_loss = u, change, movable, loss
    return best, best_change


@kernel
def _cycle(by: Any, values: Any, classes: Any, known: Any, v: int, budget: int) -> tuple[int, int, int, int]:
    """Find rows u and w such that v takes u's place, u takes w's and w takes v's, and the potential falls; and by how much.

    Returns them, the change, and the tests spent; the search ends when they exceed the budget. Cost: every pair of a row
    and a class whose rows might do, times the rows of the class.
    """
    kind, rank, low, high, bits = by
    offsets, members, of_row, own, _ = classes
    mine = of_row[v]
    count = len(offsets) - 1
    known[-1, 0] += 1
    ticket = known[-1, 0]
    meets, least = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for c in range(count):
        for i in range(offsets[c], offsets[c + 1]):
            w = members[i]
            value = values[w]
            if known[value, 0] != ticket:
                _learn(kind, rank, low, high, bits, values, offsets, members, v, mine, value, known)
            meets[c] += known[value, 2]
            least[c] = min(least[c], known[value, 1] - known[value, 2] - own[w])
    spent = (offsets[mine + 1] - offsets[mine]) * len(values)
    for b in range(count):
        if b == mine:
            continue
        for i in range(offsets[b], offsets[b + 1]):
            u = members[i]
            leaving = meets[b] - known[values[u], 2] - own[v] - own[u]
            for c in range(count):
                if c in (mine, b) or leaving + least[c] >= 0:
                    continue
                spent += offsets[c + 1] - offsets[c]
                if spent > budget:
                    return -1, -1, 0, spent
                joins = 0
                for k in range(offsets[c], offsets[c + 1]):
                    if near(kind, rank, low, high, bits, values[u], values[members[k]]):
                        joins += 1
                for k in range(offsets[c], offsets[c + 1]):
                    w = members[k]
                    change = leaving + joins + known[values[w], 1] - known[values[w], 2] - own[w]
                    if change <= 0 and near(kind, rank, low, high, bits, values[u], values[w]):
                        change -= 1
                    if change < 0:
                        return u, w, change, spent
    return -1, -1, 0, spent


@kernel
def _replace(by: Any, shares: Any, table: Any, classes: Any, ledger: Any, c: int, out: int, into: int) -> None:
    """Put one row into the slot of another. Cost: the rows of the class times the attributes."""
    kind, rank, low, high, bits = by
    values = table[0]
    offsets, members, of_row, own, _ = classes
    total = 0
    for i in range(offsets[c], offsets[c + 1]):
        row = members[i]
        if row == out:
            members[i] = into
            continue
        if near(kind, rank, low, high, bits, values[row], values[out]):
            own[row] -= 1
        if near(kind, rank, low, high, bits, values[row], values[into]):
            own[row] += 1
            total += 1
    own[into], of_row[into] = total, c
    _settle(shares, table, classes, ledger, c)


@kernel
def _turn(by: Any, shares: Any, table: Any, classes: Any, ledger: Any, ring: Any, log: Any) -> None:
    """Let every row of a ring take the place of the next, and write down the classes that change.

    Cost: the rows of these classes times the attributes.
    """
    of_row = classes[2]
    for i in range(len(ring)):
        log[i] = of_row[ring[i]]
    for i in range(len(ring)):
        _replace(by, shares, table, classes, ledger, log[i], ring[i], ring[i - 1])


@kernel
def exchanges(
    by: Any,
    shares: Any,
    table: Any,
    classes: Any,
    distinct: int,
    profiles: int,
    limit: int,
    looks: int,
    budget: int,
    figures: Any,
) -> None:
    """Exchange rows until nobody has more neighbours in its class than allowed, or nothing lowers the potential.

    The violation whose departure saves most loss comes first; one that finds no partner waits until the others are done,
    and is then asked only about classes that changed. When all wait, cycles of three are looked for, within a budget of
    tests. At most `limit` exchanges are made, with at most about so many `looks` at classes. Cost: per exchange, that of
    finding a partner among all rows.
    """
    values, places, _ = table
    offsets, members, of_row, own, allowed = classes
    count, rows = len(offsets) - 1, len(values)
    figures[BEFORE] = count_own(by, values, members, offsets, own) // 2
    figures[AFTER] = figures[BEFORE]
    figures[SWAPS] = figures[CYCLES] = figures[LOOKS] = figures[TESTS] = 0
    steps, most = 0, min(limit, figures[BEFORE])
    saves = np.empty(rows)
    ledger = (
        np.empty((count, places.shape[1], 4), np.int32),
        np.empty(count),
        saves,
        np.empty(count),
        np.zeros((places.max() if places.size else 0) + 2, np.int64),
    )
    for c in range(count):
        _settle(shares, table, classes, ledger, c)
    known, costs = np.zeros((distinct + 1, 3), np.int64), np.zeros((profiles, 2))
    everywhere = np.arange(count)
    log = np.empty((most + 1, 3), np.int64)  # the classes that each step changed
    changed = np.zeros(count, np.int64)  # the last step that changed a class
    asked = np.full(rows, -1, np.int64)  # the step at which a row last found no partner
    queue = [(0.0, 0)]
    queue.pop()
    while steps < most and figures[LOOKS] <= looks:
        holds = True
        for v in range(rows):
            if own[v] > allowed[of_row[v]]:
                holds = False
                if asked[v] < steps:
                    heapq.heappush(queue, (-saves[v], v))
        if holds:
            break
        if not queue:  # all wait
            v, u, w, change = -1, -1, -1, 0
            for v in range(rows):
                if own[v] > allowed[of_row[v]] and figures[TESTS] < budget:
                    u, w, change, spent = _cycle(by, values, classes, known, v, budget - figures[TESTS])
                    figures[TESTS] += spent
                    if u >= 0:
                        break
            if u < 0:
                break
            _turn(by, shares, table, classes, ledger, np.array([v, u, w]), log[steps])
            steps += 1
            changed[log[steps - 1]] = steps
            figures[CYCLES] += 1
            figures[AFTER] += change
            continue
        while queue and steps < most and figures[LOOKS] <= looks:
            save, v = heapq.heappop(queue)
            mine = of_row[v]
            if own[v] <= allowed[mine] or asked[v] == steps or -save != saves[v]:
                continue
            if asked[v] < changed[mine] or 3 * (steps - asked[v]) >= count:
                some = everywhere
            else:
                some = log[asked[v] : steps].copy().ravel()
            figures[LOOKS] += len(some)
            u, change = _partner(by, shares, table, classes, ledger, known, costs, v, some)
            if u < 0:
                asked[v] = steps
                continue
            _turn(by, shares, table, classes, ledger, np.array([v, u]), log[steps])
            log[steps, 2] = mine
            steps += 1
            changed[log[steps - 1]] = steps
            figures[SWAPS] += 1
            figures[AFTER] += change
            for c in (mine, of_row[v]):
                for i in range(offsets[c], offsets[c + 1]):
                    if own[members[i]] > allowed[c]:
                        heapq.heappush(queue, (-saves[members[i]], members[i]))
