"""The least loss of all groupings of a small table of any columns, in exact fractions, by trying all of them."""

from __future__ import annotations

from fractions import Fraction


def line_share(numbers):
    """The loss of an interval: its width over that of the domain; 1 for missing values with others."""
    present = [number for number in numbers if number is not None]
    width = max(present) - min(present) if present else 0

    def share(cell):
        if len(set(cell)) == 1:
            return Fraction(0)
        return Fraction(1) if None in cell else Fraction(max(cell) - min(cell), width)

    return share


def ordinal_share(values, order):
    """The loss of an interval of ordinal values: the values that it covers, of those of the declared order."""

    def share(cell):
        if len(set(cell)) == 1:
            return Fraction(0)
        places = [order.index(value) for value in cell if value is not None]
        return Fraction(1) if None in cell else Fraction(max(places) - min(places) + 1, len(order))

    return share


def set_share(values):
    """The loss of a set: its values, of those of the column; 1 for missing values with others."""
    total = len(set(values) - {None})

    def share(cell):
        if len(set(cell)) == 1:
            return Fraction(0)
        return Fraction(1) if None in cell else Fraction(len(set(cell)), total)

    return share


def tree_share(paths):
    """The loss of a node: its leaves, of all leaves; `paths` maps a leaf to its nodes from itself up to the root."""

    def share(cell):
        if len(set(cell)) == 1:
            return Fraction(0)
        if None in cell:
            return Fraction(1)
        level = next(k for k in range(len(paths[cell[0]])) if len({paths[leaf][k] for leaf in cell}) == 1)
        node = paths[cell[0]][level]
        return Fraction(sum(path[level] == node for path in paths.values()), len(paths))

    return share


def group_cost(group, columns, shares):
    """The loss of a group's cells, times its rows."""
    return len(group) * sum(share([column[i] for i in group]) for column, share in zip(columns, shares, strict=True))


def best_groupings(columns, shares, fine, dropped=0):
    """Return the least mean loss for each number of suppressed rows up to `dropped`; None where no grouping exists.

    `fine`: whether the rows of a group satisfy the requirements. A suppressed row costs 1 in each column.
    """
    n = len(columns[0])
    cost = {}
    for subset in range(1, 1 << n):
        group = [i for i in range(n) if subset >> i & 1]
        if fine(group):
            cost[subset] = group_cost(group, columns, shares)
    best = [{0: Fraction(0)} for _ in range(dropped + 1)]
    for whole in range(1, 1 << n):
        lowest = whole & -whole
        rest = whole ^ lowest
        for d in range(dropped + 1):
            found = [best[d - 1][rest] + len(columns)] if d and rest in best[d - 1] else []
            part = rest
            while True:
                subset, other = part | lowest, rest ^ part
                if subset in cost and other in best[d]:
                    found.append(cost[subset] + best[d][other])
                if part == 0:
                    break
                part = (part - 1) & rest
            if found:
                best[d][whole] = min(found)
    full = (1 << n) - 1
    return [None if full not in each else each[full] / (n * len(columns)) for each in best]
