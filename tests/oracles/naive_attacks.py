"""Oracles of the attacks on projected tables: dictionaries of counts, exact fractions, person by person.

A table is {attribute: list of values}; seen is a list of (attributes, group of each row, None if it is not published).
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import prod


def share_of_commonest(values):
    return Fraction(max(Counter(values).values()), len(values))


def background(table, attributes, groups, known, target):
    """(confidence before, after) of each person published, as lists."""
    before, after = [], []
    for row, group in enumerate(groups):
        if group is None:
            continue
        mates = [i for i, other in enumerate(groups) if other == group]
        alike = [i for i in mates if all(table[name][i] == table[name][row] for name in known)]
        before.append(share_of_commonest([table[target][i] for i in mates]))
        after.append(share_of_commonest([table[target][i] for i in alike]))
    return before, after


def confidence(shares):
    """Largest, mean, certain."""
    return max(shares), sum(shares) / len(shares), sum(share == 1 for share in shares)


def linked(table, seen, p):
    """The confidence of each person in the likeliest value joined from p tables, every choice tried; none: 0."""
    share = {
        (name, group): share_of_commonest([table[name][i] for i, other in enumerate(groups) if other == group])
        for attributes, groups in seen
        for name in attributes
        for group in set(groups)
    }
    best = []
    for row in range(len(next(iter(table.values())))):
        there = [(attributes, groups[row]) for attributes, groups in seen if groups[row] is not None]
        joins = [
            prod(share[name, group] for name, (_, group) in zip(names, chosen, strict=True))
            for chosen in combinations(there, p)
            for names in product(*(attributes for attributes, _ in chosen))
        ]
        best.append(max(joins, default=Fraction(0)))
    return best


def combined(table, target, groups, helper, helper_groups):
    """For each person in both: the belief over the target's values before and after, and the true value."""
    rows = range(len(table[target]))
    joint = Counter(zip(table[target], table[helper], strict=True))
    alone, beside = Counter(table[target]), Counter(table[helper])
    for row in rows:
        if groups[row] is None or helper_groups[row] is None:
            continue
        mates = Counter(table[target][i] for i in rows if groups[i] == groups[row])
        others = Counter(table[helper][i] for i in rows if helper_groups[i] == helper_groups[row])
        weights = Counter()
        for (a, m), (b, n) in product(mates.items(), others.items()):
            weights[a] += Fraction(m * n * joint[a, b], alone[a] * beside[b])
        total = sum(weights.values())
        before = {a: Fraction(m, sum(mates.values())) for a, m in mates.items()}
        yield before, {a: weight / total for a, weight in weights.items()}, table[target][row]
