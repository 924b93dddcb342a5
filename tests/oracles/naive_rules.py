"""Best disclosure rules by their definitions: every rule is tried (Lebanon et al. 2006, Section 3, with corrections)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class Book:
    """A dictionary: what individuals have (None: missing), whom the attacker leans to, and whose each record is."""

    held: list
    near: object
    """Whether a record's value of an attribute is consistent with a dictionary's: near(j, value, other)."""
    weights: list | None = None
    own: list | None = None


@dataclass
class Sensitivity:
    """Φ: `sum`, `product` or `constant`, or a function of the record's number and the set of attributes disclosed."""

    form: str
    cells: list
    pairs: dict
    scale: list
    function: object = None
    triples: dict = field(default_factory=dict)
    false: Fraction = Fraction(0)
    """What is lost of Φ if the attacker names somebody else."""

    def of(self, i, shown):
        if self.form == "function":
            return self.function(i, shown)
        if self.form == "constant":
            return self.scale[i]
        total = sum((self.cells[i][j] for j in shown), Fraction(0))
        for j, h in itertools.combinations(sorted(shown), 2):
            total += times(self.pairs.get((j, h), Fraction(0)), self.scale[i])
        for places, weight in self.triples.items():
            if set(places) <= set(shown):
                total += times(weight, self.scale[i])
        if self.form == "product":
            return math.inf if total == math.inf else Fraction(math.exp(total))
        return total


def times(one, other):
    return Fraction(0) if one == 0 or other == 0 else one * other


def chance(records, i, shown, book):
    """How likely the attacker picks the right individual for record i."""
    consistent = [
        v for v, has in enumerate(book.held) if all(has[j] is None or book.near(j, records[i][j], has[j]) for j in shown)
    ]
    if not consistent:
        return Fraction(0)
    if book.weights is None:
        return Fraction(1, len(consistent))
    total = sum(book.weights[v] for v in consistent)
    return book.weights[book.own[i]] / total if book.own[i] in consistent and total else Fraction(0)


def harm(records, i, shown, book, false):
    """What is lost of Φ: all of it if the attacker picks the right individual, a share of it if somebody else."""
    consistent = [
        v for v, has in enumerate(book.held) if all(has[j] is None or book.near(j, records[i][j], has[j]) for j in shown)
    ]
    if not consistent or (book.weights is not None and not sum(book.weights[v] for v in consistent)):
        return Fraction(0)
    right = chance(records, i, shown, book)
    return right + false * (1 - right)


def candidates(records, i):
    return [j for j, value in enumerate(records[i]) if value is not None]


def subsets(items):
    return itertools.chain.from_iterable(itertools.combinations(items, size) for size in range(len(items) + 1))


def loss_table(records, phi, books):
    """For each record and set of its cells, what is lost, dictionary by dictionary."""
    return [
        {
            frozenset(shown): tuple(times(phi.of(i, shown), harm(records, i, shown, book, phi.false)) for book in books)
            for shown in subsets(candidates(records, i))
        }
        for i in range(len(records))
    ]


def rules(records, cells, per):
    """Every rule of a set, as a tuple of sets; what has fewer cells than asked discloses all of them."""
    mine = [candidates(records, i) for i in range(len(records))]
    if per == "record":
        options = [[frozenset(some) for some in itertools.combinations(js, min(cells, len(js)))] for js in mine]
        yield from itertools.product(*options)
        return
    if per == "table":
        every = [(i, j) for i, js in enumerate(mine) for j in js]
        ways = itertools.combinations(every, min(cells, len(every)))
    else:
        attributes = range(max((len(row) for row in records), default=0))
        columns = [[(i, j) for i in range(len(records)) if j in mine[i]] for j in attributes]
        each = [itertools.combinations(column, min(cells, len(column))) for column in columns]
        ways = (itertools.chain.from_iterable(way) for way in itertools.product(*each))
    for way in ways:
        rule = [set() for _ in records]
        for i, j in way:
            rule[i].add(j)
        yield tuple(frozenset(shown) for shown in rule)


def risks(table, rule, books):
    """R of a rule, dictionary by dictionary."""
    return [
        sum((table[i][shown][d] for i, shown in enumerate(rule)), Fraction(0)) / max(len(rule), 1) for d in range(len(books))
    ]


def combined(found, prior):
    """The Bayes risk; without a prior, the worst."""
    return max(found) if prior is None else sum(times(share, risk) for share, risk in zip(prior, found, strict=True))


def least(table, records, books, cells, per, prior):
    return min(combined(risks(table, rule, books), prior) for rule in rules(records, cells, per))
