"""Oracles of the risk: the definitions of Lebanon et al. (2006), written naively, sharing nothing with the package.

A record or an individual is a list of values, None where one is missing; a rule tells for each record which attributes are
disclosed. Numbers are Fractions, or infinity. What e is raised to is taken to 100 digits.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

INF = float("inf")


def times(one, other):
    """A product in which 0·∞ is 0."""
    return Fraction(0) if one == 0 or other == 0 else one * other


def disclosed(record, shown):
    """δ(x): what is left of a record."""
    return [value if show else None for value, show in zip(record, shown, strict=True)]


def rho(record, individuals):
    """The individuals who are consistent with a record: Definition 6."""
    return [
        v
        for v, known in enumerate(individuals)
        if all(x is None or y is None or x == y for x, y in zip(record, known, strict=True))
    ]


def chance(record, individuals, weights=None, own=None):
    """The chance that the attacker picks the right one."""
    who = rho(record, individuals)
    if weights is None:
        return Fraction(1, len(who)) if who else Fraction(0)
    whole = sum((weights[v] for v in who), Fraction(0))
    return Fraction(weights[own], 1) / whole if own in who and whole else Fraction(0)


def harm(record, individuals, false, weights=None, own=None):
    """What is lost of Φ: all of it if the attacker names the right one, `false` of it if somebody else."""
    who = rho(record, individuals)
    if not who or (weights is not None and not sum(weights[v] for v in who)):
        return Fraction(0)
    right = chance(record, individuals, weights, own)
    return right + false * (1 - right)


def linear(record, weights, together):
    """Φ₁ to Φ₄ of a disclosed record: weights[j], and together[j, h] or together[j, h, l], of this record."""
    there = [j for j, value in enumerate(record) if value is not None]
    total = sum((weights[j] for j in there), Fraction(0))
    return total + sum((weight for places, weight in together.items() if set(places) <= set(there)), Fraction(0))


def power(exponent):
    """Φ₅: e to the power of that."""
    if exponent == INF:
        return INF
    with localcontext() as context:
        context.prec = 100
        return Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


def risk(losses):
    """R: the mean loss."""
    return sum(losses, Fraction(0)) / len(losses)


def bayes(prior, risks):
    return sum((times(p, r) for p, r in zip(prior, risks, strict=True)), Fraction(0))


def left_by_joint_matching(lists):
    """For each record whom some assignment of all records to different individuals gives it; None if there is none."""
    left = [set() for _ in lists]

    def go(given):
        if len(given) == len(lists):
            for record, v in enumerate(given):
                left[record].add(v)
            return
        for v in lists[len(given)]:
            if v not in given:
                go([*given, v])

    go([])
    return left if left[0] else None
