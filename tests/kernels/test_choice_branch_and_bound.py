"""Branch and bound over the choices of one record, against the losses of all of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.choice_branch_and_bound import _times, branch, losses_of
from sfumato.kernels.disclosure_choices import CONSTANT, PRODUCT, SUM

SEEDS = st.integers(0, 2**32 - 1)


class Case:
    """Agreements of one to three dictionaries with a record of up to five candidates, and a sensitivity."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        self.c, self.dictionaries = int(random.integers(1, 6)), int(random.integers(1, 4))
        lists = [np.unique(random.integers(0, 1 << self.c, random.integers(0, 5))) for _ in range(self.dictionaries)]
        self.starts = np.cumsum([0, *map(len, lists)])
        self.agreed = np.concatenate(lists).astype(np.int64)
        self.sizes = random.integers(1, 5, len(self.agreed)).astype(float)
        own = [int(random.choice(some)) if len(some) and random.random() < 0.3 else -1 for some in lists]
        self.own, self.own_weight = np.array(own), np.where(np.array(own) < 0, 1.0, 0.5)
        self.agreements = self.agreed, self.sizes, self.starts, self.own, self.own_weight
        self.form = int(random.choice([SUM, PRODUCT, CONSTANT]))
        self.cells, self.scale = random.choice([0, 0.5, 1, 2], self.c), float(random.choice([0, 1, 2]))
        self.pairs = np.triu(random.choice([0, 0, 1.5], (self.c, self.c)), 1)
        self.threes = [three for three in itertools.combinations(range(self.c), 3) if random.random() < 0.3]
        masks = np.array([sum(1 << j for j in three) for three in self.threes], np.int64)
        self.triples = masks, random.choice([0.5, 1.5], len(masks))
        self.mix = np.eye(self.dictionaries) if random.random() < 0.5 else np.full((1, self.dictionaries), 0.5)
        self.false_harm = float(random.choice([0, 0, 0.5, 1, 3]))
        self.random = random

    def loss(self, choice):
        chosen = [j for j in range(self.c) if (choice >> j) & 1]
        total = sum(self.cells[j] for j in chosen)
        total += self.scale * sum(self.pairs[j, h] for j in chosen for h in chosen if j < h)
        both = zip(self.threes, self.triples[1], strict=True)
        total += sum(weight for three, weight in both if set(three) <= set(chosen))
        phi = {SUM: total, PRODUCT: math.exp(total), CONSTANT: self.scale}[self.form]
        chances = []
        for d in range(self.dictionaries):
            mine = range(self.starts[d], self.starts[d + 1])
            weight = sum(self.sizes[a] for a in mine if self.agreed[a] & choice == choice)
            right = choice & self.own[d] == choice and weight > 0
            chance = self.own_weight[d] / weight if right else 0.0
            chances.append(chance + self.false_harm * (1 - chance) if weight > 0 else 0.0)
        return phi * (self.mix @ np.array(chances))

    def search(self, prices, forced, size, budget, room=64):
        order = np.lexsort((np.arange(self.c), (forced >> np.arange(self.c)) & 1 == 0))
        found, values, bound = unset(room, np.int64), unset((len(self.mix), room)), unset(len(self.mix))
        count = branch(
            self.agreements, self.mix, self.false_harm, self.form, self.cells, self.pairs, self.triples, self.scale, prices,
            order, forced, size, budget, found, values, bound,
        )  # fmt: skip
        return count, found, values, bound


@given(SEEDS)
def test_losses_of(seed):
    case = Case(seed)
    every = np.arange(1 << case.c)
    out = unset((len(case.mix), len(every)))
    losses_of(
        case.agreements, case.mix, case.false_harm, case.form, case.cells, case.pairs, case.triples, case.scale, every, out
    )
    for choice in every.tolist():
        assert out[:, choice] == pytest.approx(case.loss(choice))


@given(SEEDS, st.booleans())
def test_branch_finds_what_no_choice_dominates(seed, free):
    """Every row's least value is found, no choice that was found dominates another, and the bound is reached."""
    case = Case(seed)
    size = -1 if free else int(case.random.integers(0, case.c + 1))
    prices = case.random.choice([-0.5, 0, 0.5], case.c) if free else np.zeros(case.c)
    forced = int(case.random.integers(0, 1 << case.c)) if free else 0
    count, found, values, bound = case.search(prices, forced, size, 10**9)

    def value(choice):
        return case.loss(choice) - sum(prices[j] for j in range(case.c) if (choice >> j) & 1)

    allowed = [x for x in range(1 << case.c) if x & forced == forced and size in (-1, x.bit_count())]
    wanted = {choice: value(choice) for choice in allowed}
    assert count > 0
    for at in range(count):
        assert values[:, at] == pytest.approx(wanted[int(found[at])])
    for choice in allowed:
        assert any((values[:, at] <= wanted[choice] + 1e-9).all() for at in range(count)), choice
    assert bound == pytest.approx(np.min(list(wanted.values()), axis=0))
    if count > 1:
        assert case.search(prices, forced, size, 10**9, room=1)[0] == -1


@given(SEEDS)
def test_a_search_that_stops_early_has_a_bound(seed):
    case = Case(seed)
    size = int(case.random.integers(0, case.c + 1))
    count, _, values, bound = case.search(np.zeros(case.c), 0, size, 0)
    least = np.min([case.loss(x) for x in range(1 << case.c) if x.bit_count() == size], axis=0)
    assert (bound <= least + 1e-9).all()
    assert (values[:, :count].min(axis=1) >= least - 1e-9).all()


def test_nothing_times_infinity_is_nothing():
    assert [_times(0.0, math.inf), _times(math.inf, 0.0), _times(2.0, 3.0), _times(2.0, math.inf)] == [0, 0, 6, math.inf]
