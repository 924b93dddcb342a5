"""Which published cells cover a value, written from the documentation of the release format alone."""

from __future__ import annotations

from fractions import Fraction


def covers(cell, value, tree):
    """Whether a cell covers a value: `tree` maps each leaf to its path, for columns that are published as nodes."""
    if cell == "*":
        return True
    if value is None or not cell:
        return value is None and not cell
    if tree is not None:
        return cell in tree[value]
    if cell.startswith("["):
        low, high = cell[1:-1].split(", ")
        return Fraction(low) <= Fraction(value) <= Fraction(high)
    if cell.startswith("{"):
        return str(value) in cell[1:-1].split("; ")
    return cell == str(value)


def fitting_groups(groups, row, trees):
    """The numbers of the groups whose cells cover every value of a row; `groups` maps a number to its cells."""
    return {
        number
        for number, cells in groups.items()
        if all(covers(cells[name], value, trees.get(name)) for name, value in row.items())
    }
