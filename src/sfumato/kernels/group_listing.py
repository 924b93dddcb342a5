"""List sets of rows that cost little more than their rows are charged.

The cost of a set is its number of rows times the loss of its cells, the *loss* below. Besides charges there are *cuts*: a
cut is a set of rows S with a part m and a penalty, and a group with p rows of S costs ⌊p/m⌋ penalties more. The *excess* of
a set is its cost and penalties, less the charges of its rows.

A set is built up from a first row. Of the rows that would raise its loss, one is chosen to be the farthest: it joins, and
rows that would raise the loss more are left out. This ends when no row outside the cells is chosen; then any rows inside
them may join, at the same loss. Every set is reached in one way, and its loss is nearly known after two or three rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato.kernels.array_records import by_reference
from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.compile import inlined, kernel, subroutine
from sfumato.kernels.neighbour_bitset import popcount

GROUPS, STEPS = 0, 1
"""What `state` counts: the listed groups, and the steps; one step looks at one row that may be added to a set."""

MEMBERS, SIZE, CROWDS, AVAILABLE, INSIDE, FARTHER, NEXT = range(7)
"""Columns of `GroupPath.count`: rows and crowds as bits, the length of each list of rows, and which farther row is next."""

LOSS, CHARGED, PENALTY, ROOF, FLOOR = range(5)
"""Columns of `GroupPath.value`: the loss, the sum of charges, the penalties, and what the loss of a group must be within."""


@by_reference
class ListedRows(NamedTuple):
    """The rows, and what principles demand of groups."""

    places: Any
    bit: Any
    """`bit[i, j]` is a bit for the value of row i in attribute j."""
    near: Any
    """`near[l, i]` has the bits of the rows near row i under limit l, without its own."""
    allowed: Any
    """`allowed[l, s]` is how many of them a set of s rows may contain; the largest of these after the number of rows."""
    crowd: Any
    """`crowd[c, i]` is the number of row i's crowd in division c of the rows into crowds, below 64."""
    crowds: Any
    """For each division, of at least how many crowds the rows of a group are. A search is guided by the first one."""
    least: Any
    """No group has fewer rows."""
    most: Any
    """No group need have more rows."""


@by_reference
class GroupPrices(NamedTuple):
    """What groups are compared with, and what their losses must be within."""

    charge: Any
    order: Any
    """The rows by descending charge."""
    roof: Any
    """The loss of the group of row i is at most `roof[i]`,"""
    floor: Any
    """and at least `floor[i]`."""
    cut: Any
    """For each cut the bits of its rows,"""
    part: Any
    """of how many of them a group has one penalty,"""
    penalty: Any
    """and the penalty."""


@by_reference
class GroupPath(NamedTuple):
    """Scratch: what is known at each depth, where a set has one row more than at the depth before."""

    low: Any
    high: Any
    seen: Any
    """The extent of the set: its lowest and highest places, and the bits of its values."""
    extended: Any
    """`extended[d, i]` is the loss if row i joins."""
    available: Any
    """The rows that may still join, by descending charge,"""
    inside: Any
    """those that do not raise the loss,"""
    farther: Any
    """and those that do, ascending by the loss."""
    rank: Any
    """Where each available row is among the farther ones; -1 if it is inside."""
    count: Any
    value: Any
    chosen: Any
    """For each depth of a subset of rows inside: which row is next, and the set as bits."""
    excess: Any
    """The excess of that set."""
    sums: Any
    """What the first rows inside add to the excess together."""


@inlined
def _ones(bits: Any) -> Any:
    """Return the number of bits that are set."""
    return np.int64(popcount(np.uint64(bits)))


@inlined
def _extended_loss(shares: Any, rows: Any, path: Any, depth: Any, row: Any) -> Any:
    """Return the loss of the cells of a set if a row joins it."""
    loss = 0.0
    for j in range(rows.places.shape[1]):
        place = int(rows.places[row, j])
        distinct = _ones(path.seen[depth, j] | rows.bit[row, j]) if shares.kind[j] == SET else 0
        loss += share(shares, j, min(path.low[depth, j], place), max(path.high[depth, j], place), distinct)
    return loss


@inlined
def _within_limits(rows: Any, members: Any, size: Any) -> Any:
    """Return whether no row of a set has more neighbours in it than each limit allows."""
    for limit in range(rows.near.shape[0]):
        if rows.allowed[limit, size] < 0:
            return False
        left = members
        while left:
            row = _ones((left & -left) - 1)
            left &= left - 1
            if _ones(rows.near[limit, row] & members) > rows.allowed[limit, size]:
                return False
    return True


@inlined
def _may_join(rows: Any, members: Any, row: Any) -> Any:
    """Return whether the limits of a set of some size allow a row to join; `members` themselves are within them."""
    for limit in range(rows.near.shape[0]):
        most = rows.allowed[limit, rows.allowed.shape[1] - 1]
        left = rows.near[limit, row] & members
        if _ones(left) > most:
            return False
        while left:
            other = _ones((left & -left) - 1)
            left &= left - 1
            if _ones(rows.near[limit, other] & members) >= most:
                return False
    return True


@inlined
def _has_crowds(rows: Any, members: Any) -> Any:
    """Return whether a set of rows is of enough crowds in each division."""
    for division in range(len(rows.crowds)):
        crowds, left = 0, members
        while left:
            crowds |= 1 << rows.crowd[division, _ones((left & -left) - 1)]
            left &= left - 1
        if _ones(crowds) < rows.crowds[division]:
            return False
    return True


@inlined
def _added_penalties(prices: Any, members: Any, row: Any) -> Any:
    """Return the penalties that a set has if a row joins it, and not without the row."""
    total = 0.0
    for c in range(len(prices.cut)):
        if prices.cut[c] >> row & 1 and (_ones(prices.cut[c] & members) + 1) % prices.part[c] == 0:
            total += prices.penalty[c]
    return total


@subroutine
def _sort_available(shares: Any, rows: Any, prices: Any, path: Any, depth: Any) -> None:
    """Divide the available rows into those inside the cells of a set and those farther away; drop those that cannot join."""
    count, value = path.count[depth], path.value[depth]
    kept, inside, farther = 0, 0, 0
    for q in range(count[AVAILABLE]):
        row = path.available[depth, q]
        if not _may_join(rows, count[MEMBERS], row):
            continue
        loss = _extended_loss(shares, rows, path, depth, row)
        if loss > min(value[ROOF], prices.roof[row]):
            continue
        path.extended[depth, row] = loss
        path.available[depth, kept] = row
        kept += 1
        if loss <= value[LOSS]:
            path.rank[depth, row] = -1
            path.inside[depth, inside] = row
            inside += 1
        else:
            z = farther
            while z > 0 and path.extended[depth, path.farther[depth, z - 1]] > loss:
                path.farther[depth, z] = path.farther[depth, z - 1]
                z -= 1
            path.farther[depth, z] = row
            farther += 1
    for z in range(farther):
        path.rank[depth, path.farther[depth, z]] = z
    count[AVAILABLE], count[INSIDE], count[FARTHER], count[NEXT] = kept, inside, farther, 0


@subroutine
def _list_inside(
    rows: Any, prices: Any, path: Any, depth: Any, most: Any, best: Any, found: Any, state: Any, steps: Any
) -> Any:
    """List the set with any of the rows inside its cells, if the excess is at most `most`.

    With `best`, each listed set must have a lower excess than the one before. Returns what `most` is then; NaN if there was
    no room, or the steps did not suffice.
    """
    count, loss, inside = path.count[depth], path.value[depth, LOSS], path.inside[depth]
    if path.value[depth, FLOOR] > loss:
        return most
    # rows whose groups must lose more are left out; the others, by descending charge, add ascending amounts
    usable, lowering = 0, 0
    path.sums[0] = 0.0
    for q in range(count[INSIDE]):
        row = inside[q]
        if prices.floor[row] <= loss:
            inside[usable] = row
            usable += 1
            path.sums[usable] = path.sums[usable - 1] + (loss - prices.charge[row])
            lowering += loss <= prices.charge[row]
    members, size = count[MEMBERS], count[SIZE]
    level, path.excess[0] = 0, size * loss - path.value[depth, CHARGED] + path.value[depth, PENALTY]
    path.chosen[0, 0], path.chosen[0, 1] = 0, members
    fresh = True  # the set at this level was not looked at
    while level >= 0:
        members, have, excess = path.chosen[level, 1], size + level, path.excess[level]
        listed = fresh and rows.least <= have <= rows.most and excess <= most
        if listed and _has_crowds(rows, members) and _within_limits(rows, members, have):
            if state[GROUPS] == len(found):
                return np.nan
            found[state[GROUPS]] = members
            state[GROUPS] += 1
            if best:
                most = excess - 1e-9
        fresh = False
        # at least one more row: those that lower the excess most, and as many as a group needs
        q = path.chosen[level, 0]
        more = min(max(lowering - q, rows.least - have, 1), rows.most - have)
        state[STEPS] += 1
        if state[STEPS] > steps:
            return np.nan
        if more < 1 or q >= usable or usable - q < rows.least - have or (
            excess + path.sums[min(q + more, usable)] - path.sums[q] > most
        ):  # fmt: skip
            level -= 1
            continue
        path.chosen[level, 0] = q + 1
        row = inside[q]
        if _may_join(rows, members, row):
            added = loss - prices.charge[row] + _added_penalties(prices, members, row)
            level += 1
            path.chosen[level, 0], path.chosen[level, 1], path.excess[level] = q + 1, members | (1 << row), excess + added
            fresh = True
    return most


@subroutine
def _least_excess(rows: Any, prices: Any, path: Any, depth: Any, z: Any, most: Any) -> Any:
    """Return what the excess of a set is at least if farther row `z` joins, and only rows before it do; or less than `most`.

    All rows pay at least the loss with the farther row. Those that are charged more lower the excess; others only join if
    the set needs more rows or crowds. Penalties of rows that join later are not counted. Infinite if no set satisfies all.
    """
    count, value = path.count[depth], path.value[depth]
    row = path.farther[depth, z]
    pays = max(path.extended[depth, row], value[FLOOR], prices.floor[row])
    if pays > min(value[ROOF], prices.roof[row]):
        return np.inf
    size, crowds = count[SIZE] + 1, count[CROWDS] | (1 << rows.crowd[0, row])
    total = size * pays - value[CHARGED] - prices.charge[row]
    total += value[PENALTY] + _added_penalties(prices, count[MEMBERS], row)
    lacking = max(0, rows.crowds[0] - _ones(crowds))
    others, room = max(0, rows.least - size - lacking), rows.most - size
    for q in range(count[AVAILABLE]):
        if room <= 0 or (lacking == 0 and others == 0 and total <= most):
            break
        other = path.available[depth, q]
        if path.rank[depth, other] >= z or prices.roof[other] < pays:
            continue
        adds = pays - prices.charge[other]
        if lacking > 0 and not crowds >> rows.crowd[0, other] & 1:
            crowds |= 1 << rows.crowd[0, other]
            lacking -= 1
        elif others > 0:
            others -= 1
        elif adds >= 0.0:
            if lacking == 0:
                break
            continue
        elif prices.floor[other] > pays:
            # its group loses more; it may join beside as many others as there is room for, which only lowers the sum
            total += min(0.0, prices.floor[other] - prices.charge[other])
            continue
        room -= 1
        total += adds
    return np.inf if lacking > 0 or others > 0 else total


@subroutine
def _begin(rows: Any, prices: Any, path: Any, row: Any, place: Any) -> None:
    """Put one row, the `place`-th by charge, alone at depth 0; those after it are available."""
    for j in range(rows.places.shape[1]):
        path.low[0, j] = path.high[0, j] = rows.places[row, j]
        path.seen[0, j] = rows.bit[row, j]
    count, value, left = path.count[0], path.value[0], len(prices.order) - place - 1
    count[MEMBERS], count[SIZE], count[CROWDS], count[AVAILABLE] = 1 << row, 1, 1 << rows.crowd[0, row], left
    value[LOSS], value[CHARGED], value[PENALTY] = 0.0, prices.charge[row], _added_penalties(prices, 0, row)
    value[ROOF], value[FLOOR] = prices.roof[row], prices.floor[row]
    for q in range(left):
        path.available[0, q] = prices.order[place + 1 + q]


@subroutine
def _join(rows: Any, prices: Any, path: Any, depth: Any, z: Any) -> None:
    """Let farther row `z` join, at the next depth; the rows before it stay available."""
    here, there, row = path.count[depth], path.count[depth + 1], path.farther[depth, z]
    value, deeper = path.value[depth], path.value[depth + 1]
    for j in range(rows.places.shape[1]):
        place = int(rows.places[row, j])
        path.low[depth + 1, j] = min(path.low[depth, j], place)
        path.high[depth + 1, j] = max(path.high[depth, j], place)
        path.seen[depth + 1, j] = path.seen[depth, j] | rows.bit[row, j]
    there[MEMBERS], there[SIZE] = here[MEMBERS] | (1 << row), here[SIZE] + 1
    there[CROWDS] = here[CROWDS] | (1 << rows.crowd[0, row])
    deeper[LOSS], deeper[CHARGED] = path.extended[depth, row], value[CHARGED] + prices.charge[row]
    deeper[PENALTY] = value[PENALTY] + _added_penalties(prices, here[MEMBERS], row)
    deeper[ROOF], deeper[FLOOR] = min(value[ROOF], prices.roof[row]), max(value[FLOOR], prices.floor[row])
    left = 0
    for q in range(here[AVAILABLE]):
        other = path.available[depth, q]
        if path.rank[depth, other] < z:
            path.available[depth + 1, left] = other
            left += 1
    there[AVAILABLE] = left


@kernel
def list_groups(
    shares: Any, rows: Any, prices: Any, path: Any, most: float, best: bool, quota: int, found: Any, state: Any, steps: int
) -> bool:
    """List in `found` the sets that the principles allow, as far as `rows` says, and whose excess is at most `most`.

    With `best`, fewer are listed: of the sets that begin with the same row, each has a lower excess than the one before, and
    at most `quota` are listed, or a few more. Returns whether all were looked at, with room for them and within the steps.
    """
    complete = True
    for place in range(len(prices.order)):
        _begin(rows, prices, path, prices.order[place], place)
        before, limit, depth, fresh = state[GROUPS], most, 0, True
        while depth >= 0:
            count = path.count[depth]
            if fresh:
                fresh = False
                state[STEPS] += count[AVAILABLE]
                _sort_available(shares, rows, prices, path, depth)
                limit = _list_inside(rows, prices, path, depth, limit, best, found, state, steps)
                if np.isnan(limit):
                    return False
                if best and state[GROUPS] - before >= quota:
                    complete = False
                    break
            z = count[NEXT]
            count[NEXT] = z + 1
            if z >= count[FARTHER] or count[SIZE] >= rows.most:
                depth -= 1
                continue
            state[STEPS] += 1
            if _least_excess(rows, prices, path, depth, z, limit) <= limit:
                _join(rows, prices, path, depth, z)
                depth += 1
                fresh = True
    return complete
