"""Oracles of consistency: who of a dictionary may be a record's person, from raw rows, loop by loop.

A row is a dict from attributes to cells; None is missing. A comparison is a function of two cells. Nothing is shared with
the package.
"""

from __future__ import annotations

from fractions import Fraction


def equal(one, other):
    """Numbers as numbers, all else as it is."""
    return one == other


def rho(record, shown, individuals, comparisons):
    """ρ: the individuals with a consistent value, or none, in every attribute (Lebanon et al. 2006, Definition 6)."""
    found = []
    for v, individual in enumerate(individuals):
        fits = True
        for attribute in shown:
            mine, theirs = record.get(attribute), individual.get(attribute)
            if mine is not None and theirs is not None and not comparisons.get(attribute, equal)(mine, theirs):
                fits = False
        if fits:
            found.append(v)
    return found


def precedes(theta, eta):
    """θ ⪯ η (Lebanon et al. 2006, Definition 8), for dicts from identities to rows."""
    for name, row in theta.items():
        if name not in eta:
            return False
        for attribute, value in eta[name].items():
            if value is not None and row.get(attribute) != value:
                return False
    return True


def jaro(a, b):
    """Jaro's similarity, by its definition."""
    if not a and not b:
        return Fraction(1)
    reach = max(max(len(a), len(b)) // 2 - 1, 0)
    used, pairs = set(), []
    for i, character in enumerate(a):
        for j, other in enumerate(b):
            if other == character and abs(i - j) <= reach and j not in used:
                used.add(j)
                pairs.append((i, j))
                break
    m = len(pairs)
    if m == 0:
        return Fraction(0)
    mine = [a[i] for i, _ in pairs]
    theirs = [b[j] for j in sorted(used)]
    t = sum(x != y for x, y in zip(mine, theirs, strict=True)) // 2
    return (Fraction(m, len(a)) + Fraction(m, len(b)) + Fraction(m - t, m)) / 3


def jaro_winkler(a, b):
    """Nearer by a tenth of what is left for each of up to four common leading characters, above 0.7."""
    similarity, common = jaro(a, b), 0
    while common < min(4, len(a), len(b)) and a[common] == b[common]:
        common += 1
    return similarity + Fraction(common, 10) * (1 - similarity) if similarity > Fraction(7, 10) else similarity


def can_meet(one, other, values):
    """Whether some value is in both of two cells, each a set of values or a test of one."""
    return any(_has(one, value) and _has(other, value) for value in values)


def _has(cell, value):
    return cell(value) if callable(cell) else value in cell


def common_subsequence(a, b):
    """The length of the longest common subsequence."""
    before = [0] * (len(b) + 1)
    for one in a:
        now = [0]
        for j, other in enumerate(b):
            now.append(before[j] + 1 if one == other else max(before[j + 1], now[j]))
        before = now
    return before[-1]
