"""Oracles for attackers who know facts: all ways to give secrets to people, and all facts, enumerated.

A release is a list of groups, each the list of its secrets. Sets of worlds are the bits of an integer. Shares nothing with
the package.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product


def worlds_of(groups):
    """Every way to give each group's secrets to its people; all are equally probable."""
    return list(product(*(sorted(set(permutations(group))) for group in groups)))


def statements(groups):
    """For each group the statements "this person has this value", each as the worlds in which it is true."""
    worlds, values = worlds_of(groups), sorted({value for group in groups for value in group})
    found = []
    for g, group in enumerate(groups):
        pairs = product(range(len(group)), values)
        found.append({sum(1 << w for w, world in enumerate(worlds) if world[g][person] == value) for person, value in pairs})
    return found, (1 << len(worlds)) - 1


def simple_facts(groups):
    """Every fact "if A, then B" about two statements, as the worlds in which it is true."""
    found, everything = statements(groups)
    atoms = set().union(*found)
    return {(everything & ~a) | b for a in atoms for b in atoms}


def basic_facts(groups):
    """Every fact "if some statements, then one of some statements", as the worlds in which it is true."""
    found, everything = statements(groups)
    atoms = set().union(*found)
    premises, conclusions = set(atoms), set(atoms)
    while len(more := premises | {p & a for p in premises for a in atoms}) > len(premises):
        premises = more
    while len(more := conclusions | {c | a for c in conclusions for a in atoms}) > len(conclusions):
        conclusions = more
    return {(everything & ~p) | c for p in premises for c in conclusions}


def disclosures(groups, facts, k):
    """For each group the largest probability of a statement about one of its people, given any k facts that are possible."""
    found, everything = statements(groups)
    known = {everything}
    for chosen in combinations_with_replacement(sorted(facts), k):
        worlds = everything
        for fact in chosen:
            worlds &= fact
        known.add(worlds)
    known.discard(0)
    return [
        max(Fraction((statement & worlds).bit_count(), worlds.bit_count()) for statement in own for worlds in known)
        for own in found
    ]


def disclosure_after_one_fact(group, others):
    """The largest probability of a statement about a person of a group after one fact, case by case.

    A is that a person has the most frequent value. The fact is "if B, then A", where B gives the same person another value,
    another person of the group the same value, or a person of another group the most frequent value there.
    """
    n = len(group)
    counts = sorted((group.count(value) for value in set(group)), reverse=True)
    first, second = [*counts, 0][:2]
    neither = [Fraction(n - first - second, n)]
    if n > 1:
        neither.append(Fraction((n - first) * max(n - 1 - first, 0), n * (n - 1)))
    for other in others:
        top = max(other.count(value) for value in other)
        neither.append(Fraction(n - first, n) * Fraction(len(other) - top, len(other)))
    true = Fraction(first, n)
    return true / (true + min(neither))
