"""Oracles of plans: the definitions of Fang, Ashrafi & Ng (2011), implemented naively and independently of the package.

A table is a dict from attribute to the list of its values; a plan is a list of blocks, each a list of attributes.
Probabilities are Fractions, and logarithms have 60 digits: numbers that differ by less than 1e-40 are equal.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations

ZERO = Decimal(0)
SAME = Decimal("1e-40")


WIDE = Context(prec=60)
"""Every operation uses it: the operator - would round to Python's 28 digits."""


@cache
def log2(ratio):
    """Return the logarithm of a positive rational to base 2."""
    if ratio == 1:
        return ZERO
    logs = [WIDE.ln(Decimal(part)) for part in (ratio.numerator, ratio.denominator, 2)]
    return WIDE.divide(WIDE.subtract(logs[0], logs[1]), logs[2])


def times(share, bits):
    return WIDE.divide(WIDE.multiply(Decimal(share.numerator), bits), Decimal(share.denominator))


def less(one, other):
    return WIDE.subtract(one, other)


def total(numbers):
    result = ZERO
    for number in numbers:
        result = WIDE.add(result, number)
    return result


def chances(values):
    return {value: Fraction(values.count(value), len(values)) for value in values}


def entropy(values):
    return total(times(p, log2(1 / p)) for p in chances(values).values())


def information(one, other):
    """Return I(A_i, A_j); exactly 0 if they are independent, which is decided with Fractions."""
    p, q, joint = chances(one), chances(other), chances(list(zip(one, other, strict=True)))
    if all(joint.get((v, w), 0) == p[v] * q[w] for v in p for w in q):
        return ZERO
    return total(times(share, log2(share / (p[v] * q[w]))) for (v, w), share in joint.items())


def exposable(one, other, harmless_one=(), harmless_other=()):
    """Return E(A_i, A_j), case by case, with the last case corrected."""
    h, g, shared = entropy(one), entropy(other), information(one, other)
    joint = chances(list(zip(one, other, strict=True)))
    cases = {
        (False, False): ZERO,
        (True, False): less(h, shared),
        (False, True): less(g, shared),
        (True, True): total([less(h, shared), less(g, shared)]),
    }
    return total(times(p, cases[v not in harmless_one, w not in harmless_other]) for (v, w), p in joint.items())


class Table:
    """A table with the information and the exposure of each pair."""

    def __init__(self, columns, harmless=None):
        self.names = list(columns)
        harmless = harmless or {}
        self.i, self.e = {}, {}
        for a, b in combinations(self.names, 2):
            self.i[a, b] = self.i[b, a] = information(columns[a], columns[b])
            exposed = exposable(columns[a], columns[b], harmless.get(a, ()), harmless.get(b, ()))
            self.e[a, b] = self.e[b, a] = exposed

    def association_loss(self, plan):
        """Return Γ_α."""
        block = {name: at for at, members in enumerate(plan) for name in members}
        pairs = list(combinations(self.names, 2))
        return share(total(self.i[a, b] for a, b in pairs if block[a] != block[b]), total(self.i[pair] for pair in pairs))

    def information_exposure(self, plan):
        """Return Γ_β."""
        every = total(self.e[pair] for pair in combinations(self.names, 2))
        return total(
            times(
                Fraction(len(block), len(self.names)), share(total(self.e[pair] for pair in combinations(block, 2)), every)
            )
            for block in plan
        )

    def average_information(self, block):
        """Return AvgI."""
        pairs = list(combinations(block, 2))
        return times(Fraction(1, len(pairs)), total(self.i[pair] for pair in pairs)) if pairs else ZERO

    def codip(self, beta, reachable=lambda block: True, go_on=True):
        """Run CODIP*; without `go_on` it stops at the first merge that is not allowed, as printed."""
        plan = [[name] for name in self.names]
        while True:
            pairs = sorted(
                combinations(range(len(plan)), 2),
                key=lambda pair: (-round(self.average_information([*plan[pair[0]], *plan[pair[1]]]), 12), pair),
            )
            for u, w in pairs:
                union = sorted([*plan[u], *plan[w]], key=self.names.index)
                merged = [union if at == u else block for at, block in enumerate(plan) if at != w]
                if at_most(self.information_exposure(merged), beta) and reachable(tuple(union)):
                    plan = merged
                    break
                if not go_on:
                    return plan
            else:
                return plan

    def best(self, beta, reachable=lambda block: True):
        """Return the reachable plans within β with the smallest loss; empty if there are none."""
        plans = [
            plan
            for plan in partitions(self.names)
            if at_most(self.information_exposure(plan), beta) and all(reachable(tuple(block)) for block in plan)
        ]
        least = min(map(self.association_loss, plans), default=None)
        return [plan for plan in plans if abs(self.association_loss(plan) - least) < SAME]


def share(part, every):
    """Return a part divided by the total; 0 if the total is 0."""
    return WIDE.divide(part, every) if abs(every) > SAME else ZERO


def at_most(ratio, limit):
    """Return whether a ratio is at most a rational, including equality."""
    return less(ratio, times(limit, Decimal(1))) < SAME


def partitions(names):
    """Return all partitions of names into blocks, in canonical order."""
    if not names:
        return [[]]
    *rest, last = names
    result = []
    for plan in partitions(rest):
        result += [[*plan[:at], [*plan[at], last], *plan[at + 1 :]] for at in range(len(plan))]
        result.append([*plan, [last]])
    return result
