"""Oracles of the attack on unmade swaps: groups as lists of rows or values, every pair and every deal one by one."""

from __future__ import annotations

from itertools import permutations, product
from math import prod


def lowering_swaps(groups, cost, least=1e-9):
    """Return the pairs of rows whose swap lowers the loss; `cost(rows)`: that of a group's cells, for each of its rows.

    `groups`: the rows of each group.
    """

    def loss(rows):
        return cost(rows) * len(rows)

    found = {}
    for i, one in enumerate(groups):
        for other in groups[i + 1 :]:
            for a, b in product(one, other):
                after = loss([b if row == a else row for row in one]) + loss([a if row == b else row for row in other])
                saving = loss(one) + loss(other) - after
                if saving > least:
                    found[min(a, b), max(a, b)] = saving
    return found


def swapped(group, out, into):
    """Return the values of a group after one of them is exchanged for another."""
    rest = list(group)
    rest.remove(out)
    return [*rest, into]


def breaks(one, other, u, v, holds):
    """Return whether a swap of the secrets u of the one group and v of the other makes either of them fail."""
    return u != v and not (holds(swapped(one, u, v)) and holds(swapped(other, v, u)))


def marginals(groups, factors):
    """Return for each group and person how likely each secret is, over all deals of the secrets within their groups.

    `groups`: the secrets of each group. `factors`: pairs of two people, each as (group, number), and a function of their two
    secrets that returns a likelihood.
    """
    totals = [[dict.fromkeys(sorted(set(group)), 0.0) for _ in group] for group in groups]
    whole = 0.0
    for deal in product(*(set(permutations(group)) for group in groups)):
        weight = prod(likelihood(deal[a[0]][a[1]], deal[b[0]][b[1]]) for a, b, likelihood in factors)
        whole += weight
        for group, secrets in enumerate(deal):
            for person, secret in enumerate(secrets):
                totals[group][person][secret] += weight
    return [[{secret: part / whole for secret, part in person.items()} for person in group] for group in totals]


def predicted(clue, near):
    """Return how many positions are within a distance of what a clue says, ascending or descending."""
    last = len(clue) - 1
    up = sum(abs(guess - position) <= near for position, guess in enumerate(clue))
    return max(up, sum(abs(last - guess - position) <= near for position, guess in enumerate(clue)))


def rank_correlation(one, other):
    """Return the correlation of ranks, equal values with the mean of theirs; 0 if either is constant."""

    def ranks(values):
        return [sum(w < v for w in values) + (sum(w == v for w in values) - 1) / 2 for v in values]

    x, y = ranks(one), ranks(other)
    middle = (len(x) - 1) / 2
    both = sum((a - middle) * (b - middle) for a, b in zip(x, y, strict=True))
    scale = sum((a - middle) ** 2 for a in x) * sum((b - middle) ** 2 for b in y)
    return both / scale**0.5 if scale > 0 else 0.0
