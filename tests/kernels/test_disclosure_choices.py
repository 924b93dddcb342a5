"""The losses of all choices at once, against one loop per choice."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.disclosure_choices import (
    CONSTANT,
    PRODUCT,
    SUM,
    add_agreements,
    add_harm,
    agreements,
    least_by_size,
    multiply,
    sensitivities,
    weigh_choices,
    widen_choices,
)

SEEDS = st.integers(0, 2**32 - 1)


def index_of(row, held):
    """An inverted index of a dictionary that is compared by equality with one record; values are 0 to 2."""
    m = len(row)
    near = [[3 * j + a] for j in range(m) for a in range(3)]
    who = [np.flatnonzero(held[:, j] == a) for j in range(m) for a in range(3)]
    absent = [np.flatnonzero(held[:, j] < 0) for j in range(m)]

    def joined(lists):
        return np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(np.int32)

    values = np.where(held >= 0, held + 3 * np.arange(m), -1)
    return np.ascontiguousarray(values.T), *joined(near), *joined(who), *joined(absent)


@given(SEEDS, st.integers(0, 2), st.booleans())
def test_the_weight_of_every_choice(seed, misfits, weighted):
    random = np.random.default_rng(seed)
    m, people = int(random.integers(1, 5)), int(random.integers(1, 7))
    row = np.where(random.random(m) < 0.2, -1, random.integers(0, 3, m))
    held = np.where(random.random((people, m)) < 0.2, -1, random.integers(0, 3, (people, m)))
    weights = random.integers(0, 4, people).astype(float) if weighted else np.zeros(0)
    candidates = np.flatnonzero(row >= 0)
    index, values = index_of(row, held), np.where(row >= 0, row + 3 * np.arange(m), -1)
    common = candidates[: len(candidates) // 2]  # as if many records shared these
    masks = np.array([sum(1 << j for j in range(m) if held[v, j] < 0) for v in range(people)], np.int64)
    add_agreements(index, values, common, masks)
    patterns, pattern_of, sizes = np.unique(masks, return_inverse=True, return_counts=True)
    packed, extra, touched = unset(patterns.shape, patterns.dtype), np.zeros(people, np.int64), unset(people, np.int64)
    places = 1 << np.arange(len(candidates), dtype=np.int64)
    count = agreements(index, values, candidates, places, int((1 << common).sum()), patterns, packed, extra, touched)
    agreed = [sum(1 << b for b, j in enumerate(candidates) if held[v, j] < 0 or held[v, j] == row[j]) for v in range(people)]
    assert (packed[pattern_of] + extra).tolist() == agreed
    table, layers = unset(1 << len(candidates)), unset((misfits, 1 << len(candidates)))
    of_individual, many, radices = pattern_of.astype(np.int32), sizes.astype(float), np.full(len(candidates), 2)
    weigh_choices(of_individual, many, weights, packed, extra, touched, count, radices, layers, table)
    assert not extra.any()
    weight = weights if weighted else np.ones(people)
    for choice in range(len(table)):
        consistent = [v for v in range(people) if (choice & ~agreed[v]).bit_count() <= misfits]
        assert table[choice] == sum(weight[v] for v in consistent)


@given(SEEDS, st.sampled_from([SUM, PRODUCT, CONSTANT]), st.booleans())
def test_sensitivities(seed, form, paired):
    random = np.random.default_rng(seed)
    m = int(random.integers(0, 5))
    cells, scale = random.choice([0, 0.5, 2, np.inf], m), float(random.choice([0, 1, 3]))
    pairs = np.triu(random.choice([0, 1.5, np.inf], (m, m)), 1) if paired else np.zeros((m, m))
    out = unset(1 << m)
    threes = [three for three in itertools.combinations(range(m), 3) if random.random() < 0.5]
    extra = random.choice([1.5, np.inf], len(threes))
    masks = np.array([sum(1 << j for j in three) for three in threes], np.int64)
    sensitivities(form, cells, pairs, (masks, extra), scale, paired, 1 << np.arange(m), np.full(m, 2), out)
    for choice in range(1 << m):
        chosen = [j for j in range(m) if (choice >> j) & 1]
        total = sum(cells[j] for j in chosen)
        if scale:
            total += sum(pairs[j, h] * scale for j in chosen for h in chosen if j < h)
        total += sum(weight for three, weight in zip(threes, extra, strict=True) if set(three) <= set(chosen))
        wanted = {SUM: total, PRODUCT: math.exp(total) if total < 700 else math.inf, CONSTANT: scale}[form]
        assert out[choice] == pytest.approx(wanted)


@given(SEEDS)
def test_choices_of_several_steps(seed):
    """Individuals agree on the coarsest steps of an attribute first; a choice is how many steps of each are disclosed."""
    random = np.random.default_rng(seed)
    steps = random.integers(1, 4, int(random.integers(1, 5)))
    attribute = np.repeat(np.arange(len(steps)), steps)
    depth = np.concatenate([np.arange(1, count + 1) for count in steps])
    m, people = len(attribute), int(random.integers(1, 7))
    reached = random.integers(0, steps + 1, (people, len(steps)))
    held = np.where(depth <= reached[:, attribute], 0, 1)
    held[random.random((people, len(steps)))[:, attribute] < 0.2] = -1  # no value of the attribute: agrees on all steps
    reached = np.stack([((held <= 0) & (attribute == a)).sum(axis=1) for a in range(len(steps))], axis=1)
    radices = steps + 1
    strides = np.cumprod(np.r_[1, radices])[:-1]
    places, candidates = strides[attribute], np.arange(m)
    index, values = index_of(np.zeros(m, int), held), 3 * np.arange(m)
    masks = np.array([sum(1 << j for j in range(m) if held[v, j] < 0) for v in range(people)], np.int64)
    patterns, pattern_of, sizes = np.unique(masks, return_inverse=True, return_counts=True)
    packed, extra, touched = unset(patterns.shape, patterns.dtype), np.zeros(people, np.int64), unset(people, np.int64)
    count = agreements(index, values, candidates, places, 0, patterns, packed, extra, touched)
    assert (packed[pattern_of] + extra).tolist() == (reached @ strides).tolist()
    choices, none = int(radices.prod()), np.zeros(0)
    table, of_individual, many = unset(choices), pattern_of.astype(np.int32), sizes.astype(float)
    weigh_choices(of_individual, many, none, packed, extra, touched, count, radices, unset((0, choices)), table)
    cells, pairs = random.integers(0, 5, m).astype(float), np.triu(random.integers(0, 3, (m, m)), 1).astype(float)
    pairs[attribute[:, None] == attribute] = 0.0
    threes = [three for three in itertools.combinations(range(m), 3) if len({*attribute[list(three)]}) == 3]
    triples = np.array([sum(1 << j for j in three) for three in threes], np.int64), np.ones(len(threes))
    phi = unset(choices)
    sensitivities(SUM, cells, pairs, triples, 1.0, True, depth * places, radices, phi)
    for choice in range(choices):
        digits = choice // strides % radices
        assert table[choice] == (reached >= digits).all(axis=1).sum()
        shown = depth <= digits[attribute]
        together = pairs[np.ix_(shown, shown)].sum() + sum(shown[list(three)].all() for three in threes)
        assert phi[choice] == cells[shown].sum() + together


def test_chances_and_losses():
    table = np.array([4.0, 2.0, 0.0, 1.0])
    chances, masks = np.zeros(4), np.arange(4)
    add_harm(table, masks, -1, 1.0, 0, 0.0, 0.5, chances)
    assert chances.tolist() == [0.125, 0.25, 0, 0.5]
    own = np.zeros(4)
    add_harm(table, masks, 0b01, 3.0, 0, 0.0, 1.0, own)  # the own individual disagrees on the second candidate
    assert own.tolist() == [0.75, 1.5, 0, 0]
    add_harm(table, masks, 0b01, 3.0, 1, 0.0, 1.0, own)  # one misfit is allowed
    assert own.tolist() == [1.5, 3.0, 0, 3.0]
    harm = np.zeros(4)
    add_harm(table, masks, 0b01, 1.0, 0, 0.5, 2.0, harm)  # where anybody is named, half of Φ is lost if it is somebody else
    assert harm.tolist() == [1.25, 1.5, 0, 1.0]
    out = unset(4)
    multiply(np.array([0.0, np.inf, np.inf, 2.0]), chances, out)
    assert out.tolist() == [0, np.inf, 0, 1]


@given(st.integers(0, 6).flatmap(lambda m: st.lists(st.integers(0, 9), min_size=2**m, max_size=2**m)))
def test_least_by_size(losses):
    m = len(losses).bit_length() - 1
    least, choices = unset(m + 1), unset(m + 1, np.int64)
    sizes = np.array([choice.bit_count() for choice in range(1 << m)], np.int32)
    least_by_size(np.array(losses, float), sizes, least, choices)
    for size in range(m + 1):
        mine = [choice for choice in range(len(losses)) if choice.bit_count() == size]
        assert choices[size] == min(mine, key=lambda choice: losses[choice]) and least[size] == losses[choices[size]]


def test_widen_choices():
    out = unset(3, np.int64)
    widen_choices(np.array([0b01, 0b11, -1]), np.array([1, 3]), out)
    assert out.tolist() == [0b0010, 0b1010, -1]
