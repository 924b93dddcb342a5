"""Oracles of the attacks on projected tables: dictionaries of counts and exact fractions, person by person.

A table is {attribute: list of values}; views is a list of (attributes, group of each row, None if the row is not published).
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import prod


def largest_share(values):
    return Fraction(max(Counter(values).values()), len(values))


def background(table, attributes, groups, known, target):
    """Return the confidence of each published person before and after, as lists."""
    before, after = [], []
    for row, group in enumerate(groups):
        if group is None:
            continue
        mates = [i for i, other in enumerate(groups) if other == group]
        alike = [i for i in mates if all(table[name][i] == table[name][row] for name in known)]
        before.append(largest_share([table[target][i] for i in mates]))
        after.append(largest_share([table[target][i] for i in alike]))
    return before, after


def confidence(shares):
    """Return the largest and the mean share, and how many are 1."""
    return max(shares), sum(shares) / len(shares), sum(share == 1 for share in shares)


def largest_products(table, views, p):
    """Return each person's largest confidence in values joined from p tables, over every choice; 0 if there is none."""
    share = {
        (name, group): largest_share([table[name][i] for i, other in enumerate(groups) if other == group])
        for attributes, groups in views
        for name in attributes
        for group in set(groups)
    }
    best = []
    for row in range(len(next(iter(table.values())))):
        there = [(attributes, groups[row]) for attributes, groups in views if groups[row] is not None]
        joins = [
            prod(share[name, group] for name, (_, group) in zip(names, chosen, strict=True))
            for chosen in combinations(there, p)
            for names in product(*(attributes for attributes, _ in chosen))
        ]
        best.append(max(joins, default=Fraction(0)))
    return best


def posteriors(table, target, groups, helper, helper_groups):
    """Yield for each person in both tables the probabilities of the target's values before and after, and the true value."""
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


def joint_posteriors(table, views, names, target):
    """Yield for each person in all tables of some attributes the probabilities of the target's values, and the true value.

    Every combination of values of the whole table is weighted with its share in each of the person's groups, relative to its
    share in the whole.
    """
    rows = range(len(table[target]))
    parts = [([name for name in names if name in attributes], groups) for attributes, groups in views]
    parts = [(inside, groups) for inside, groups in parts if inside]

    def values(row, chosen):
        return tuple(table[name][row] for name in chosen)

    joint = Counter(values(row, names) for row in rows)
    for row in rows:
        if any(groups[row] is None for _, groups in parts):
            continue
        weights = Counter()
        for combination, count in joint.items():
            weight = Fraction(count)
            for inside, groups in parts:
                here = tuple(combination[names.index(name)] for name in inside)
                mates = [i for i in rows if groups[i] == groups[row]]
                share = Fraction(sum(values(i, inside) == here for i in mates), len(mates))
                weight *= share / Fraction(sum(values(i, inside) == here for i in rows), len(rows))
            weights[combination[names.index(target)]] += weight
        total = sum(weights.values())
        yield {value: weight / total for value, weight in weights.items() if weight}, table[target][row]
