"""Which values a published cell covers, and which rows may share one, straight from the definitions."""

from __future__ import annotations

from fractions import Fraction


def covered(cell, values, tree=None):
    """The values that the text of a cell covers; `tree`: for each leaf its ancestors from itself to the root."""
    if cell is None:
        return {None}
    if cell == "*":
        return set(values)
    known = {value for value in values if value is not None}
    if tree is not None and not cell.startswith("{"):
        return {value for value in known if cell in tree[value]}
    if cell.startswith("{"):
        return {value for value in known if str(value) in cell[1:-1].split("; ")}
    if cell.startswith("["):
        low, high = (Fraction(end) for end in cell[1:-1].split(", "))
        return {value for value in known if low <= value <= high}
    return {value for value in known if str(value) == cell}


def class_of(value, listed, level=None, tree=None):
    """What must not be mixed: missing, the position in `never_mix` (a value or a node above it), and the node of a level."""
    if value is None:
        return "missing"
    names = {str(value)} if tree is None else set(tree[value])
    position = next((i for i, group in enumerate(listed) if names & set(map(str, group))), "unlisted")
    return position, None if level is None or tree is None else tree[value][level]


def smallest_cell(one, other, values, recoding, tree=None):
    """The values that the smallest cell over two values covers."""
    if one == other:
        return {one}
    if None in (one, other):
        return set(values)
    known = {value for value in values if value is not None}
    if recoding == "set":
        return {one, other}
    if recoding == "interval":
        return {value for value in known if min(one, other) <= value <= max(one, other)}
    common = next(i for i, (a, b) in enumerate(zip(tree[one], tree[other], strict=True)) if a == b)
    return {value for value in known if tree[value][common] == tree[one][common]}
