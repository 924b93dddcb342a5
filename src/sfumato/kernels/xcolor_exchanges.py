"""Exchanges between classes of rows that lower the number of neighbours within classes (Wang & Liu, 2010).

The rows of class c are `members[offsets[c]:offsets[c + 1]]`. An exchange moves rows between slots, so sizes never change.
`own[row]` is the number of neighbours that a row has in its class, and `allowed[c]` how many it may have there; a row with
more is a violation. The potential is half the sum of `own`: the number of edges of the neighbour graph within classes (the
monochromatic edges, if a class is a colour). Every exchange lowers it, so the search ends. Arrays that belong together are
passed as a tuple:

    by        the arguments of `neighbour_lookup.near`
    shares    the argument of `cell_shares.share`
    table     values, places, profile: the sensitive value of each row, its places, and a number for each combination of
              places
    classes   offsets, members, of_row, own, allowed
    ledger    ends, losses, saves, spare, seen: for each class its lowest and highest places (see `group_extent.ends_of`)
              and the loss of a cell; for each row what its departure saves; for each class the largest of these; scratch to
              count distinct places, whose last entry is a clock

Neighbourhoods are symmetric here, so one count serves both ends of an edge.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import kernel
from sfumato.kernels.exchange_cycles import find_cycle
from sfumato.kernels.group_extent import ends_of
from sfumato.kernels.neighbour_lookup import near

SWAPS, CYCLES, BEFORE, AFTER, LOOKS, TESTS, LONGEST = range(7)
"""The figures of `exchanges`: swaps, cycles, the potential before and after, looks at classes, tests for cycles, and the
rows of the longest cycle."""


@kernel
def count_own(by: Any, values: Any, members: Any, offsets: Any, own: Any) -> Any:
    """Fill `own` with every row's neighbours in its class, and return the sum. Cost: the pairs within classes."""
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
    """Return the loss of a row of a class, summed over the attributes, if row `out` left and row `into` came (-1: none).

    Cost: the attributes; for those published as sets the rows of the class too.
    """
    total = 0.0
    for j in range(places.shape[1]):
        # the extent after the change
        low, high = ends[c, j, 0], ends[c, j, 2]
        if out >= 0 and places[out, j] == low:
            low = ends[c, j, 1]
        if out >= 0 and places[out, j] == high:
            high = ends[c, j, 3]
        if into >= 0:
            low, high = min(low, places[into, j]), max(high, places[into, j])
        if low >= high:  # a single value, or no row at all
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
def _note_neighbours(
    kind: int, rank: Any, low: Any, high: Any, bits: Any, values: Any, offsets: Any, members: Any, v: int, c: int,
    value: int, memo: Any,
) -> None:  # fmt: skip
    """Store for a value the number of rows of class c that are near it, and whether v is.

    `memo[value]` holds the search for which the entry was computed, the number, and the bit. The last row of `memo` holds
    the current search, so entries of earlier searches need not be cleared. Cost: the rows of the class.
    """
    count = 0
    for i in range(offsets[c], offsets[c + 1]):
        if near(kind, rank, low, high, bits, value, values[members[i]]):
            count += 1
    memo[value, 0], memo[value, 1] = memo[-1, 0], count
    memo[value, 2] = 1 if near(kind, rank, low, high, bits, value, values[v]) else 0


@kernel
def _refresh(shares: Any, table: Any, classes: Any, ledger: Any, c: int) -> None:
    """Recompute what a class loses, and what the departure of each of its rows saves.

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
    by: Any, shares: Any, table: Any, classes: Any, ledger: Any, memo: Any, costs: Any, v: int, some: Any
) -> tuple[int, int]:
    """Return the row of some classes whose exchange with v lowers the potential at the least loss, and by how much.

    Rows of classes in which v would be no violation come first. The loss that v's class gains depends only on the places of
    the row that joins (`costs`, by profile), and its decrease is at most what v's departure saves. The loss of the other
    class rises at least by what taking in v costs, less the most that a departure saves: from a larger class a departure
    saves less, not more, if the class has two rows or more. So most classes are rejected without a look at their rows. Cost:
    at most one look at every row of the classes, and one at every pair of a distinct value in them and a row of v's class.
    """
    kind, rank, low, high, bits = by
    values, places, profile = table
    offsets, members, of_row, own, allowed = classes
    ends, losses, saves, spare, seen = ledger
    mine = of_row[v]
    rows = offsets[mine + 1] - offsets[mine]
    memo[-1, 0] += 1
    ticket = memo[-1, 0]  # identifies this search in `memo` and `costs`
    best, best_change, best_movable, best_loss = -1, 0, False, np.inf
    for c in some:
        if c == mine:
            continue
        there, end = offsets[c], offsets[c + 1]
        # lower bounds on the change in loss, first without and then with the cost of taking in v
        least = -(end - there) * spare[c]
        if best_movable:
            if least - rows * saves[v] >= best_loss:
                continue
            taking = _loss(shares, places, offsets, members, ends, seen, c, -1, v)
            least += (end - there) * (taking - losses[c])
            if least - rows * saves[v] >= best_loss:
                continue
        meets = 0  # the neighbours of v in the class
        for i in range(there, end):
            value = values[members[i]]
            if memo[value, 0] != ticket:
                _note_neighbours(kind, rank, low, high, bits, values, offsets, members, v, mine, value, memo)
            meets += memo[value, 2]
        for i in range(there, end):
            u = members[i]
            value = values[u]
            joined = memo[value, 2]  # 1 if u and v are neighbours: that edge is in neither class afterwards
            # v gains `meets` edges and loses own[v]; u gains its neighbours in v's class and loses own[u]
            change = (meets - joined - own[v]) + (memo[value, 1] - joined - own[u])
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
def _replace(by: Any, shares: Any, table: Any, classes: Any, ledger: Any, c: int, out: int, into: int) -> None:
    """Put row `into` in the slot of row `out` in class c. Cost: the rows of the class times the attributes."""
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
    _refresh(shares, table, classes, ledger, c)


@kernel
def _turn(by: Any, shares: Any, table: Any, classes: Any, ledger: Any, ring: Any, log: Any) -> None:
    """Let every row of a ring take the place of the next, and write the classes that change to `log`.

    Cost: the rows of these classes times the attributes.
    """
    of_row = classes[2]
    for i in range(len(ring)):
        log[i] = of_row[ring[i]]
    for i in range(len(ring)):
        _replace(by, shares, table, classes, ledger, log[i], ring[i], ring[i - 1])


@kernel
def _make_ledger(shares: Any, table: Any, classes: Any) -> Any:
    """Return a ledger of all classes."""
    values, places, _ = table
    count = len(classes[0]) - 1
    ledger = (
        np.empty((count, places.shape[1], 4), np.int32),
        np.empty(count),
        np.empty(len(values)),
        np.empty(count),
        np.zeros((places.max() if places.size else 0) + 2, np.int64),
    )
    for c in range(count):
        _refresh(shares, table, classes, ledger, c)
    return ledger


@kernel
def _with_room(log: Any, steps: int, entries: int) -> Any:
    """Return a log with room for more entries after its steps."""
    if steps + entries <= len(log):
        return log
    longer = np.empty((2 * (steps + entries), log.shape[1]), log.dtype)
    longer[:steps] = log[:steps]
    return longer


@kernel
def exchanges(
    by: Any, shares: Any, table: Any, classes: Any, distinct: int, profiles: int, limit: int, looks: int, budget: int,
    figures: Any,
) -> None:  # fmt: skip
    """Exchange rows until no row has more neighbours in its class than allowed, or no exchange lowers the potential.

    The violation whose departure saves most loss comes first. A violation without a partner waits until the others are
    done, and is then tried only against classes that have changed. When all violations wait, cycles of any length are
    tried, within a budget of tests, and after each cycle the violations again. At most `limit` exchanges are made, with
    about `looks` looks at classes. `distinct` and `profiles` are the numbers of distinct values and profiles. Cost: per
    exchange, that of finding a partner among all rows.
    """
    # Long because the queue, the log and the counters below are the state of one loop.
    values = table[0]
    offsets, members, of_row, own, allowed = classes
    count, rows = len(offsets) - 1, len(values)
    figures[BEFORE] = count_own(by, values, members, offsets, own) // 2
    figures[AFTER] = figures[BEFORE]
    figures[SWAPS] = figures[CYCLES] = figures[LOOKS] = figures[TESTS] = figures[LONGEST] = 0
    made, most = 0, min(limit, figures[BEFORE])  # each exchange lowers the potential by at least 1
    steps = 0  # the entries of the log: a swap has one, a cycle one or more
    ledger = _make_ledger(shares, table, classes)
    saves = ledger[2]
    memo, costs = np.zeros((distinct + 1, 3), np.int64), np.zeros((profiles, 2))
    everywhere = np.arange(count)
    log = np.empty((count, 3), np.int64)  # the classes that each step changed
    changed = np.zeros(count, np.int64)  # the last step that changed a class
    tried = np.full(rows, -1, np.int64)  # the step at which a row last found no partner
    ring, turned = np.empty(max(count, 2), np.int64), np.empty(max(count, 2), np.int64)
    queue = [(0.0, 0)]  # violations by what their departure saves; the element gives numba the type
    queue.pop()
    while made < most and figures[LOOKS] <= looks:
        # queue every violation that has not been tried since the last change
        holds = True
        for v in range(rows):
            if own[v] > allowed[of_row[v]]:
                holds = False
                if tried[v] < steps:
                    heapq.heappush(queue, (-saves[v], v))
        if holds:
            break
        if not queue:  # all violations wait: swaps are stuck
            length, tests = find_cycle(by, values, classes, budget - figures[TESTS], ring)
            figures[TESTS] += tests
            if not length:
                break
            _turn(by, shares, table, classes, ledger, ring[:length], turned)
            # a cycle changes any number of classes: as many entries of three as they need, the last class repeated
            entries = -(-length // 3)
            log = _with_room(log, steps, entries)
            for i in range(3 * entries):
                log[steps + i // 3, i % 3] = turned[min(i, length - 1)]
            steps += entries
            made += 1
            changed[turned[:length]] = steps
            figures[CYCLES] += 1
            figures[LONGEST] = max(figures[LONGEST], length)
            figures[AFTER] = own.sum() // 2
            continue
        while queue and made < most and figures[LOOKS] <= looks:
            save, v = heapq.heappop(queue)
            mine = of_row[v]
            # skip entries that are outdated: no violation any more, tried already, or queued again with another key
            if own[v] <= allowed[mine] or tried[v] == steps or -save != saves[v]:
                continue
            # all classes, if its own changed since it was last tried or if most others did; else those that changed
            if tried[v] < changed[mine] or 3 * (steps - tried[v]) >= count:
                some = everywhere
            else:
                some = log[tried[v] : steps].copy().ravel()
            figures[LOOKS] += len(some)
            u, change = _partner(by, shares, table, classes, ledger, memo, costs, v, some)
            if u < 0:
                tried[v] = steps
                continue
            log = _with_room(log, steps, 1)
            _turn(by, shares, table, classes, ledger, np.array([v, u]), log[steps])
            log[steps, 2] = mine  # a swap changes two classes: the third entry repeats one
            steps += 1
            made += 1
            changed[log[steps - 1]] = steps
            figures[SWAPS] += 1
            figures[AFTER] += change
            # violations of the two classes have new keys
            for c in (mine, of_row[v]):
                for i in range(offsets[c], offsets[c + 1]):
                    if own[members[i]] > allowed[c]:
                        heapq.heappush(queue, (-saves[members[i]], members[i]))
