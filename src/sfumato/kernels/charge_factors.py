"""How far the charges of rows can be raised so that no possible group costs less than its rows are charged.

A charge is the part of the total loss that a row is known to bear. `anonymization.loss_bounds` proves why this works.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato.kernels.array_records import by_reference
from sfumato.kernels.compile import inlined, kernel
from sfumato.kernels.selection import sort


@by_reference
class CoveringArrays(NamedTuple):
    """Distinct rows, ascending by their position on a line, and the classes that cover every cell of the other attributes.

    An attribute has several options. Each is a partition of its places into classes with a cost: whatever cell covers a
    place, it is part of that place's class under an option that costs no more.
    """

    options: Any
    """For each attribute the number of its options."""
    label: Any
    """`label[j, o, p]` is the class of place p of attribute j under option o."""
    cost: Any
    """`cost[j, o, p]` is the cost of that class."""
    place: Any
    """`place[i, j]` is the place of row i in attribute j."""
    at: Any
    """For each row its position on the line, from 0 to 1; 2 if it is missing there."""
    step: Any
    """What an interval of the line costs beyond the distance of its ends."""
    count: Any
    """For each row how many rows of the table it stands for."""
    crowd: Any
    """For each row the number of its crowd: rows that are all near one another."""
    size: Any
    """No group has fewer rows."""
    unit: Any
    """Rows are counted in units, so that shares of them are whole numbers: the units of a row."""
    room: Any
    """How many units of `size` rows may be of one crowd."""
    limit: Any
    """How many steps the search may take; one step looks at one row."""


@inlined
def _insert(top: Any, filled: Any, total: Any, charge: Any, count: Any, size: Any) -> Any:
    """Add `count` charges to the `size` largest, `top[:filled]` ascending; return how many there are, and their sum."""
    for _ in range(min(count, size)):
        if filled < size:
            q = filled
            filled += 1
            total += charge
            while q > 0 and top[q - 1] > charge:
                top[q] = top[q - 1]
                q -= 1
            top[q] = charge
        elif charge > top[0]:
            total += charge - top[0]
            q = 0
            while q < size - 1 and top[q + 1] < charge:
                top[q] = top[q + 1]
                q += 1
            top[q] = charge
        else:
            break
    return filled, total


@inlined
def _enter(rows: Any, row: Any, inside: Any) -> Any:
    """Add a row to those inside; return by how many units there are more that a group can have."""
    if rows.room >= rows.size * rows.unit:
        return rows.count[row] * rows.unit
    crowd = rows.crowd[row]
    before = min(rows.room, inside[crowd])
    inside[crowd] += rows.count[row] * rows.unit
    return min(rows.room, inside[crowd]) - before


@inlined
def _fullest(rows: Any, order: Any, start: Any, stop: Any, charge: Any, factor: Any, inside: Any, top: Any) -> Any:
    """Return whether `order[start:stop]` can contain a group, the most that one is charged, and the largest factor."""
    filled, total, usable, widest, needed = 0, 0.0, 0, 0.0, rows.size * rows.unit
    for i in range(start, stop):
        usable += rows.count[order[i]] * rows.unit
        if charge[order[i]] > 0.0:
            widest = max(widest, factor[order[i]])
    if usable < needed or widest == 0.0:
        return False, 0.0, 0.0
    if rows.room < needed:
        usable = 0
        for i in range(start, stop):
            usable += _enter(rows, order[i], inside)
        for i in range(start, stop):
            inside[rows.crowd[order[i]]] = 0
    for i in range(start, stop):
        row = order[i]
        if charge[row] > 0.0 and (filled < rows.size or charge[row] > top[0]):
            filled, total = _insert(top, filled, total, charge[row], rows.count[row], rows.size)
    return usable >= needed, total, widest


@inlined
def _lower_along_line(
    rows: Any, order: Any, start: Any, stop: Any, base: Any, charge: Any, factor: Any, inside: Any, top: Any, value: Any,
    fullest: Any, widest: Any,
) -> Any:  # fmt: skip
    """Lower the factors of `order[start:stop]` to what windows of the line allow; return the number of steps.

    A window that costs `base` and its width contains every group whose ends it has. The fullest group that it can contain
    has the `size` largest charges.
    """
    steps = stop - start
    for i in range(start, stop):
        first = rows.at[order[i]]
        if i > start and rows.at[order[i - 1]] == first:
            continue
        filled, total, usable, reach = 0, 0.0, 0, i
        for j in range(i, stop):
            row = order[j]
            width = rows.at[row] - first
            price = base + (0.0 if width == 0.0 else min(1.0, width + rows.step))
            if price * rows.size >= widest * fullest:
                break
            usable += _enter(rows, row, inside)
            if charge[row] > 0.0 and (filled < rows.size or charge[row] > top[0]):
                filled, total = _insert(top, filled, total, charge[row], rows.count[row], rows.size)
            last = j + 1 == stop or rows.at[order[j + 1]] > rows.at[row]
            fits = last and total > 0.0 and usable >= rows.size * rows.unit
            value[j] = price * rows.size / total if fits else np.inf
            reach = j + 1
        steps += reach - i
        lowest = np.inf
        for j in range(reach - 1, i - 1, -1):
            row = order[j]
            inside[rows.crowd[row]] = 0
            lowest = min(lowest, value[j])
            factor[row] = min(factor[row], lowest)
    return steps


@inlined
def _divide(rows: Any, before: Any, after: Any, start: Any, stop: Any, j: Any, option: Any, keys: Any) -> None:
    """Write `before[start:stop]` to `after`, the rows of each class of attribute j adjacent, otherwise in their order."""
    low, high = 1 << 60, -1
    for i in range(start, stop):
        label = rows.label[j, option, rows.place[before[i], j]]
        low, high = min(low, label), max(high, label)
    if high - low < min(stop - start, len(keys) - 1):  # few classes: count the rows of each
        for label in range(high - low + 2):
            keys[label] = 0
        for i in range(start, stop):
            keys[rows.label[j, option, rows.place[before[i], j]] - low + 1] += 1
        for label in range(high - low):
            keys[label + 1] += keys[label]
        for i in range(start, stop):
            label = rows.label[j, option, rows.place[before[i], j]] - low
            after[start + keys[label]] = before[i]
            keys[label] += 1
        return
    count = before.shape[0]
    for i in range(start, stop):
        keys[i - start] = rows.label[j, option, rows.place[before[i], j]] * count + i
    sort(keys, stop - start)
    for i in range(stop - start):
        after[start + i] = before[keys[i] % count]


@kernel
def lower_factors(
    rows: Any, charge: Any, factor: Any, buffers: Any, frames: Any, base: Any, inside: Any, top: Any, keys: Any, value: Any
) -> int:
    """Lower each row's factor to the least of cost / charges over the classes and windows that can contain its group.

    All combinations of options are tried, attribute by attribute, as far as a class can contain a group and could lower a
    factor of one of its rows. `buffers[j]` holds the rows divided by the first j attributes; `frames[j]` where the current
    class begins and ends, its option, and where the next class of that option begins, -1 if the option is to be chosen.
    Returns how many steps of the limit are left; if that is negative, not all were tried, and the factors mean nothing.
    Cost: linear in the rows for each combination.
    """
    attributes, steps, depth = len(rows.options), 0, 0
    frames[0, 0], frames[0, 1], frames[0, 2], frames[0, 3] = 0, buffers.shape[1], -1, -1
    while depth >= 0 and steps <= rows.limit:
        start, stop, option, following = frames[depth, 0], frames[depth, 1], frames[depth, 2], frames[depth, 3]
        if following < 0:
            option += 1
            frames[depth, 2] = option
            if depth == attributes or option >= rows.options[depth]:
                if attributes == 0:  # the line is the only attribute
                    _, fullest, widest = _fullest(rows, buffers[0], start, stop, charge, factor, inside, top)
                    steps += _lower_along_line(
                        rows, buffers[0], start, stop, 0.0, charge, factor, inside, top, value, fullest, widest
                    )
                depth -= 1
                continue
            _divide(rows, buffers[depth], buffers[depth + 1], start, stop, depth, option, keys)
            frames[depth, 3] = start
            steps += stop - start
            continue
        if following >= stop:
            frames[depth, 3] = -1
            continue
        order = buffers[depth + 1]
        place = rows.place[order[following], depth]
        label, end = rows.label[depth, option, place], following
        while end < stop and rows.label[depth, option, rows.place[order[end], depth]] == label:
            end += 1
        frames[depth, 3] = end
        price = base[depth] + rows.cost[depth, option, place]
        possible, fullest, widest = _fullest(rows, order, following, end, charge, factor, inside, top)
        if not possible or price * rows.size >= widest * fullest:
            continue
        if depth + 1 == attributes:
            steps += _lower_along_line(
                rows, order, following, end, price, charge, factor, inside, top, value, fullest, widest
            )
            continue
        depth += 1
        frames[depth, 0], frames[depth, 1], frames[depth, 2], frames[depth, 3] = following, end, -1, -1
        base[depth] = price
    return int(rows.limit - steps)
