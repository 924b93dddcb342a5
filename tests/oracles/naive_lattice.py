"""Oracle of full-domain generalization: every transformation tried, in Python's own dicts and fractions.

A hierarchy is a dict from each leaf to its path (leaf, level 1, …, root). A missing value, None, is a node of its own below
the root. Rows are pairs of a tuple of values and a secret. `violates(keys, secrets)` returns the keys of violating groups.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import log2

ROOT = "the root"
MISSING = "nothing"


def node(hierarchy, value, level):
    if level == height(hierarchy):
        return ROOT
    return MISSING if value is None else (level, hierarchy[value][level])


def height(hierarchy):
    return len(next(iter(hierarchy.values()))) - 1


def leaves(hierarchy, value, level, column):
    """Return how many leaves the node above a value leaves open, of how many; a node with a single leaf leaves none open."""
    if level == height(hierarchy) and None in column:
        return len(hierarchy), len(hierarchy)
    if value is None and level < height(hierarchy):
        return 0, len(hierarchy)
    under = sum(level == height(hierarchy) or path[level] == hierarchy[value][level] for path in hierarchy.values())
    return (0 if under == 1 else under), len(hierarchy)


def keys_at(rows, hierarchies, levels):
    return [tuple(node(l, v, at) for l, v, at in zip(hierarchies, values, levels, strict=True)) for values, _ in rows]


def dropped_at(rows, keys, violates):
    """Return for each row whether its group violates a principle."""
    bad = violates(keys, [secret for _, secret in rows])
    return [key in bad for key in keys]


def settled(rows, keys, violates, most):
    """Drop violating groups and measure what is left again, until it holds; None if that drops too many rows."""
    kept = list(range(len(rows)))
    while True:
        bad = violates([keys[i] for i in kept], [rows[i][1] for i in kept])
        if not bad:
            return [i not in set(kept) for i in range(len(rows))]
        kept = [i for i in kept if keys[i] not in bad]
        if len(rows) - len(kept) > most:
            return None


def score(loss, rows, hierarchies, levels, keys, dropped, k):
    """Return the loss by its definition."""
    n, d = len(rows), len(hierarchies)
    columns = [[values[j] for values, _ in rows] for j in range(d)]
    kept = Counter(key for key, gone in zip(keys, dropped, strict=True) if not gone)
    suppressed = sum(dropped)
    if loss == "discernibility":
        return sum(size * size for size in kept.values()) + suppressed * n
    if loss == "class-size":
        return Fraction(n - suppressed, len(kept) * k)
    if loss == "entropy":
        bits = 0.0
        for j, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
            values, nodes = Counter(columns[j]), Counter(node(hierarchy, v, level) for v in columns[j])
            bits -= sum(log2(values[v] / nodes[node(hierarchy, v, level)]) for v in columns[j])
        return bits
    if loss == "group-mean":
        found = {}
        for (values, _), key, gone in zip(rows, keys, dropped, strict=True):
            if not gone:
                found[key] = sum(_cell("mean", hierarchies, columns, levels, values, j) for j in range(d))
        return sum(found.values(), Fraction(0)) / len(found)
    total = Fraction(0)
    for (values, _), gone in zip(rows, dropped, strict=True):
        total += d if gone else sum(_cell(loss, hierarchies, columns, levels, values, j) for j in range(d))
    return total / (n * d)


def _cell(loss, hierarchies, columns, levels, values, j):
    hierarchy, level = hierarchies[j], levels[j]
    if loss == "precision":
        return Fraction(level, height(hierarchy))
    under, size = leaves(hierarchy, values[j], level, columns[j])
    if loss == "mean" or not under:
        return Fraction(under, size)
    return Fraction(under - 1, size - 1) if size > 1 else Fraction(1)


def everything(rows, hierarchies, violates, most, *, settle=False):
    """Return, for each admissible transformation, its keys and the dropped rows."""
    found = {}
    for levels in product(*(range(height(hierarchy) + 1) for hierarchy in hierarchies)):
        keys = keys_at(rows, hierarchies, levels)
        dropped = dropped_at(rows, keys, violates)
        if sum(dropped) > most:
            continue
        if settle:
            dropped = settled(rows, keys, violates, most)
            if dropped is None:
                continue
        found[levels] = keys, dropped
    return found


def groups_of(keys, secrets):
    groups = defaultdict(list)
    for key, secret in zip(keys, secrets, strict=True):
        groups[key].append(secret)
    return groups
