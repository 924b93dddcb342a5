"""All partitions of a small table, their verdicts by definition, and tables whose neighbours form a given graph."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

import naive
import sfumato as sf


def partitions(n):
    """Yield all partitions of 0 … n−1 into groups."""
    if n == 0:
        yield []
        return
    for smaller in partitions(n - 1):
        yield [*smaller, [n - 1]]
        for i, group in enumerate(smaller):
            yield [*smaller[:i], [*group, n - 1], *smaller[i + 1 :]]


@lru_cache
def all_partitions(n):
    return list(partitions(n))


def satisfied(groups, values, near, delta, k):
    return all(len(g) >= k and naive.risk([values[i] for i in g], near) <= 1 - delta for g in groups)


def equitable(groups):
    return max(map(len, groups)) - min(map(len, groups)) <= 1


def degree(v, group, edges):
    return sum((min(v, w), max(v, w)) in edges for w in group if w != v)


def graph_table(n, edges):
    """Return a table of n different values that are near, at ε = 0.5, if they share an edge."""
    pairs = {(min(a, b), max(a, b)) for a, b in edges}

    def distance(x, y):
        a, b = sorted((int(x), int(y)))
        return 0 if a == b else 0.25 if (a, b) in pairs else 1

    return sf.Table(pa.table({"x": range(n)}), sf.Schema(sensitive=["x"], distance=sf.distances.Custom(distance)))


def number_table(values, **schema):
    return sf.Table(pa.table({"x": list(map(str, values))}), sf.Schema(sensitive=["x"], kinds={"x": "numeric"}, **schema))
