"""Rules of levels by their definitions: every choice of a label for every cell of a record, one by one.

A hierarchy is a list of rows, from a value to the root `*`. What is disclosed of a record is a tuple with a label for each
attribute, and None where it discloses nothing. Weights and shares are fractions; all losses are exact but for e to a power.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from naive_risk import power

WITHHELD = None


def path(rows, value):
    """The labels that stand for a value, from the finest to the coarsest, each once, and then nothing."""
    labels = next(row for row in rows if row[0] == value)[:-1]
    return [*dict.fromkeys(label for label in labels if label != "*"), WITHHELD]


def level(rows, label):
    """The finest level on which a label occurs; the height for nothing."""
    height = len(rows[0]) - 1
    return height if label is WITHHELD else min(row.index(label) for row in rows if label in row[:-1])


def values_below(rows, label):
    return {row[0] for row in rows if label in row[:-1]}


def information(trees, shown):
    return sum(1 - Fraction(level(rows, label), len(rows[0]) - 1) for rows, label in zip(trees, shown, strict=True))


def choices(trees, record):
    """Everything that can be disclosed of a record."""
    paths = [[WITHHELD] if value is None else path(rows, value) for rows, value in zip(trees, record, strict=True)]
    return list(product(*paths))


def coarser(trees, record, shown):
    """What is disclosed if one cell is on the next coarser level, for each cell that is disclosed."""
    for j, label in enumerate(shown):
        if label is not WITHHELD:
            labels = path(trees[j], record[j])
            yield (*shown[:j], labels[labels.index(label) + 1], *shown[j + 1 :])


def minimal(trees, record, cells):
    """The choices with information of at least `cells` values, or of all there are, that have no coarser cell to spare."""
    least = min(cells, sum(value is not None for value in record))
    return [
        shown
        for shown in choices(trees, record)
        if information(trees, shown) >= least
        and all(information(trees, less) < least for less in coarser(trees, record, shown))
    ]


def consistent(trees, shown, individuals):
    """The individuals whose every known value is below the label that is disclosed."""
    return [
        number
        for number, individual in enumerate(individuals)
        if all(
            label is WITHHELD or value is None or value in values_below(rows, label)
            for rows, label, value in zip(trees, shown, individual, strict=True)
        )
    ]


def sensitivity(trees, shares, shown, weights, together, form):
    """Φ: weights of attributes times the shares of their levels; of several together times all of them."""
    if form == "constant":
        return Fraction(2)
    of_cell = [each[level(rows, label)] for rows, each, label in zip(trees, shares, shown, strict=True)]
    total = sum((weight * share for weight, share in zip(weights, of_cell, strict=True)), Fraction(0))
    for places, weight in together.items():
        factor = Fraction(1)
        for place in places:
            factor *= of_cell[place]
        total += weight * factor
    return power(total) if form == "multiplicative" else total


def harm(trees, shown, individuals, false, leanings=None, own=None):
    """The chance of the right name, and a share of that of a wrong one."""
    who = consistent(trees, shown, individuals)
    total = len(who) if leanings is None else sum(leanings[one] for one in who)
    if not total:
        return Fraction(0)
    mine = Fraction(1) if leanings is None else leanings[own] if own in who else Fraction(0)
    right = mine / total
    return right + false * (1 - right)


def pairs_and_triples(attributes):
    return [*combinations(range(attributes), 2), *combinations(range(attributes), 3)]
