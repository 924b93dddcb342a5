"""Random small settings of records and dictionaries, as arrays and as the naive oracle takes them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

import naive_rules as naive
from sfumato.disclosure.matching.matching import Matching
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights

WEIGHTS = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3), math.inf]


class Small:
    """Records, one to three dictionaries over them, and a sensitivity."""

    def __init__(self, seed, records=4, attributes=4, dictionaries=None, form=None, pairs=True):
        random = np.random.default_rng(seed)
        n, m = int(random.integers(1, records + 1)), int(random.integers(1, attributes + 1))
        self.shape = n, m
        self.values = np.where(random.random((n, m)) < random.choice([0, 0.3]), -1, random.integers(0, 4, (n, m)))
        if random.random() < 0.3:
            self.values[-1] = self.values[0]
        self.records = [[None if value < 0 else int(value) for value in row] for row in self.values]
        count = dictionaries or int(random.integers(1, 4))
        weighted = random.random() < 0.25
        both = [self._dictionary(random, weighted) for _ in range(count)]
        self.matchings, self.books = [matching for matching, _ in both], [book for _, book in both]
        form = form or str(random.choice(["sum", "sum", "product", "constant"]))
        self._sensitivity(random, form, pairs)
        self.prior = [Fraction(int(part), 8) for part in random.multinomial(8, [1 / count] * count)]
        self.random = random

    def _dictionary(self, random, weighted):
        n, m = self.shape
        size = int(random.integers(0, 7))
        held = np.where(random.random((size, m)) < random.choice([0, 0.3]), -1, random.integers(0, 4, (size, m)))
        for v in range(size):
            if random.random() < 0.5:  # most individuals resemble a record, so that few choices are inconsistent with all
                like = self.values[random.integers(n)]
                held[v] = np.where(random.random(m) < 0.7, like, held[v])
        loose = random.random() < 0.25
        relation = [np.eye(4, dtype=bool) | (loose & (random.random((4, 4)) < 0.2)) for _ in range(m)]
        more = {}
        if weighted:
            weights = random.integers(0, 4, size)
            own = random.integers(-1, size, n) if size else np.full(n, -1)
            more = {"weights": weights.astype(float), "own": own}
        book = naive.Book(
            [[None if value < 0 else int(value) for value in row] for row in held],
            lambda j, value, other: bool(relation[j][value, other]),
            [Fraction(int(weight)) for weight in more["weights"]] if more else None,
            more["own"].tolist() if more else None,
        )
        near = [np.flatnonzero(relation[j][value]) + 4 * j for j in range(m) for value in range(4)]
        shift = 4 * np.arange(m)
        matching = Matching(
            np.where(self.values >= 0, self.values + shift, -1).astype(np.int32),
            np.where(held >= 0, held + shift, -1).astype(np.int32).reshape(size, m),
            np.cumsum([0, *map(len, near)]).astype(np.int64),
            np.concatenate(near).astype(np.int32),
            **more,
        )
        return matching, book

    def _sensitivity(self, random, form, paired):
        n, m = self.shape
        top = len(WEIGHTS) if random.random() < 0.25 else len(WEIGHTS) - 1  # with infinite ones, or without
        cells = [[WEIGHTS[random.integers(top)] for _ in range(m)] for _ in range(n)]
        if random.random() < 0.5:
            cells = [cells[0]] * n
        scale = [WEIGHTS[random.integers(top)] for _ in range(n)] if random.random() < 0.5 else [Fraction(1)] * n
        pairs = {}
        if paired and random.random() < 0.3:
            pairs = {(j, h): WEIGHTS[random.integers(top)] for j in range(m) for h in range(j + 1, m)}
        triples = {}
        if paired and random.random() < 0.3:
            triples = {three: WEIGHTS[random.integers(top)] for three in itertools.combinations(range(m), 3)}
        false = (
            random.choice([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)]) if random.random() < 0.3 else Fraction(0)
        )
        between = np.zeros((m, m))
        for (j, h), weight in pairs.items():
            between[j, h] = weight
        self.sensitivity = naive.Sensitivity(form, cells, pairs, scale, triples=triples, false=false)
        self.phi = SensitivityWeights(
            form,
            np.array(cells, float).reshape(n, m),
            between,
            np.array(scale, float),
            triples={three: float(weight) for three, weight in triples.items()},
            false_identification=float(false),
        )

    def table(self):
        return naive.loss_table(self.records, self.sensitivity, self.books)

    def sets(self, rule):
        return tuple(frozenset(np.flatnonzero(row).tolist()) for row in rule)
