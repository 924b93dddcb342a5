"""Oracles of exchanges between groups: the potential counted pair by pair, and every cycle of rows one by one."""

from __future__ import annotations

from itertools import combinations, permutations, product


def potential(near, of_row):
    """Return the number of neighbouring pairs within groups; `near[u][v]`: whether two rows are neighbours."""
    return sum(bool(near[u][v]) for u, v in combinations(range(len(of_row)), 2) if of_row[u] == of_row[v])


def turned(of_row, ring):
    """Return the groups after each row of a ring took the place of the next."""
    after = list(of_row)
    for row, following in zip(ring, [*ring[1:], ring[0]], strict=True):
        after[row] = of_row[following]
    return after


def cycles(of_row, most=None):
    """Yield every cycle of two or more rows in different groups, up to a number of rows, each once."""
    members = {}
    for row, group in enumerate(of_row):
        members.setdefault(int(group), []).append(row)
    for length in range(2, min(most or len(members), len(members)) + 1):
        for chosen in combinations(sorted(members), length):
            for rest in permutations(chosen[1:]):
                yield from product(*(members[group] for group in (chosen[0], *rest)))


def lowering_cycles(near, of_row, most=None):
    """Yield the cycles whose exchange leaves fewer neighbouring pairs within groups."""
    before = potential(near, of_row)
    for ring in cycles(of_row, most):
        if potential(near, turned(of_row, ring)) < before:
            yield ring
