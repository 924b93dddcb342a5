"""A naive reading of hierarchies: a list of paths. A node is the set of leaves that share a label on a level."""

from __future__ import annotations


def problems(rows, values):
    """Return why paths are not an unambiguous tree over exactly these values; [] if they are."""
    found = []
    if sorted({row[0] for row in rows}) != sorted(values) or len(rows) != len(set(values)):
        found.append("the leaves are not the values")
    if len({len(row) for row in rows}) != 1:
        found.append("paths of different lengths")
        return found
    depth = len(rows[0])
    if {row[-1] for row in rows} != {"*"}:
        found.append("no single root")
    for level in range(depth - 1):
        for one in rows:
            for other in rows:
                if one[level] == other[level] and one[level + 1] != other[level + 1]:
                    found.append(f"{one[level]!r} on level {level} has two parents")
    meanings = {}
    for level in range(depth):
        for label in {row[level] for row in rows}:
            leaves = frozenset(row[0] for row in rows if row[level] == label)
            if meanings.setdefault(label, leaves) != leaves:
                found.append(f"{label!r} has two meanings")
    return found
