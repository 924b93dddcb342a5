"""The factors are those that trying every combination of classes and every window of the line gives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.charge_factors import CoveringArrays, lower_factors


class Case:
    """Rows on a line with classes of up to two other attributes, in crowds."""

    def __init__(self, seed, rows, attributes):
        draw = np.random.default_rng(seed)
        places, most = 4, 3
        self.size, self.unit = int(draw.integers(1, 4)), int(draw.integers(1, 4))
        at = np.sort(draw.choice([0.0, 0.0, 0.25, 0.5, 1.0, 2.0], rows)) if draw.integers(4) else np.zeros(rows)
        self.options = draw.integers(1, most + 1, attributes)
        # numbers of classes that are adjacent are counted, others are sorted
        self.label = draw.integers(0, 3, (attributes, most, places)) * int(draw.choice([1, 20]))
        self.cost = draw.integers(0, 9, (attributes, most, places)) / 8
        for j, o, p in np.ndindex(self.cost.shape):  # a class has one cost
            self.cost[j, o, p] = self.cost[j, o, self.label[j, o].tolist().index(self.label[j, o, p])]
        self.rows = CoveringArrays(
            self.options, self.label, self.cost, draw.integers(0, places, (rows, attributes)), at,
            float(draw.choice([0, 0.125])), draw.integers(1, 4, rows), draw.integers(0, 3, rows), self.size, self.unit,
            int(draw.integers(1, self.size * self.unit + 1)), 10**6,
        )  # fmt: skip
        self.charge = draw.integers(0, 9, rows) / 8
        self.before = np.where(self.charge > 0, draw.choice([0.5, 1.5, 4.0], rows), 0.0)

    def lowered(self, limit=10**6):
        count, attributes = len(self.charge), len(self.options)
        buffers = np.zeros((attributes + 1, count), np.int64)
        buffers[0] = np.arange(count)
        factor = self.before.copy()
        left = lower_factors(
            self.rows._replace(limit=limit), self.charge, factor, buffers, np.zeros((attributes + 1, 4), np.int64),
            np.zeros(attributes + 1), np.zeros(3, np.int64), np.zeros(self.size), np.zeros(count + 1, np.int64),
            np.zeros(count),
        )  # fmt: skip
        return left, factor

    def classes(self):
        """Yield the cost and the rows of each combination of classes, one of each attribute."""
        for options in product(*(range(count) for count in self.options)):
            of_row = [
                tuple((self.label[j, o, p], self.cost[j, o, p]) for (j, o), p in zip(enumerate(options), row, strict=True))
                for row in self.rows.place
            ]
            for one in set(of_row):
                yield sum(cost for _, cost in one), [i for i, other in enumerate(of_row) if other == one]

    def windows(self):
        """Yield the cost and the rows of each window of each combination."""
        at = self.rows.at
        for base, inside in self.classes():
            for low, high in product({at[i] for i in inside}, repeat=2):
                if low <= high:
                    width = min(1.0, high - low + self.rows.step) if high > low else 0.0
                    yield base + width, [i for i in inside if low <= at[i] <= high]

    def expected(self):
        factor = self.before.copy()
        for price, inside in self.windows():
            units = dict.fromkeys(range(3), 0)
            for i in inside:
                units[self.rows.crowd[i]] += int(self.rows.count[i]) * self.unit
            charges = sorted(np.repeat(self.charge[inside], self.rows.count[inside]).tolist(), reverse=True)[: self.size]
            # the window contains a group of the least size in which no crowd takes more than its room
            if sum(min(self.rows.room, each) for each in units.values()) >= self.size * self.unit and sum(charges) > 0:
                factor[inside] = np.minimum(factor[inside], price * self.size / sum(charges))
        return factor


@given(st.integers(0, 2**31), st.integers(1, 16), st.integers(0, 2))
def test_factors_are_the_least_ratios(seed, rows, attributes):
    case = Case(seed, rows, attributes)
    left, factor = case.lowered()
    assert left >= 0
    assert factor == pytest.approx(case.expected(), abs=1e-12)


def test_a_search_that_gives_up_says_so():
    assert Case(1, 9, 2).lowered(limit=3)[0] < 0
