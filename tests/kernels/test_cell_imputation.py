"""Draws of the values behind cells: consistent counts, needed blocks, and the likelihood against all assignments."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.cell_imputation import impute_sweep, make_up_likelihood

ATOMS, OTHERS, PRIOR = 4, 3, 0.5
CELLS = {
    "set": ([0, 1, 3], [0, 1, 2], 3),
    "range": ([0, 1, 2, 3], [0, -1, -1, 1], 2),
    "node": ([0, 1, 2], [0, 0, 1], 2),
    "three children": ([0, 1, 2, 3], [0, 1, 2, 2], 2),
    "free": ([1, 2], [-1, -1], 0),
}


class Model:
    """Groups of one kind of cell, and rows with another column that is exact."""

    def __init__(self, kind, seed, groups=3, rows=4):
        random = np.random.default_rng(seed)
        members, blocks, needed = CELLS[kind]
        self.members, self.blocks, self.needed = members, blocks, needed
        self.groups = np.arange(groups)
        self.row_at = np.arange(groups + 1) * rows
        self.rows = random.permutation(groups * rows)
        self.cells = (
            np.zeros(groups, np.int64), np.array([0, len(members)]), np.array(members),
            random.integers(1, 3, len(members)).astype(float), np.array(blocks), np.array([max(blocks) + 1]),
            np.array([needed]), random.integers(1, 4, ATOMS).astype(float),
        )  # fmt: skip
        self.values = np.zeros(groups * rows, np.int64)
        for group in range(groups):
            mine = self.rows[self.row_at[group] : self.row_at[group + 1]]
            self.values[mine] = np.arange(rows) % len(members)  # all members occur
        self.other = random.integers(0, OTHERS, groups * rows)
        self.joint = np.array(members)[self.values] + ATOMS * self.other
        exact = random.integers(0, ATOMS * OTHERS, 20)  # rows whose value is known
        self.known = np.bincount(exact, minlength=ATOMS * OTHERS).astype(float)
        self.counts = self.known + np.bincount(self.joint, minlength=ATOMS * OTHERS)
        self.totals = self.counts.reshape(OTHERS, ATOMS).sum(axis=0)


@pytest.mark.parametrize("kind", CELLS)
@given(st.integers(0, 2**31), st.sampled_from([0.0, 0.5, 1.0]))
def test_sweeps_keep_counts_and_needed_blocks(kind, seed, gamma):
    model = Model(kind, seed)
    random = np.random.default_rng(seed)
    for _ in range(4):
        impute_sweep(
            random.random(3 * len(model.rows)), model.groups, model.row_at, model.rows, *model.cells, model.values,
            model.joint, 1, model.counts, model.totals, PRIOR, gamma,
        )  # fmt: skip
        atoms = np.array(model.members)[model.values]
        assert (model.joint == atoms + ATOMS * model.other).all()
        assert (model.counts == model.known + np.bincount(model.joint, minlength=ATOMS * OTHERS)).all()
        assert (model.totals == model.counts.reshape(OTHERS, ATOMS).sum(axis=0)).all()
        for group in model.groups:
            mine = model.values[model.rows[model.row_at[group] : model.row_at[group + 1]]]
            assert len({model.blocks[value] for value in mine} - {-1}) >= model.needed


def test_the_only_row_of_a_needed_block_may_have_any_value_of_it():
    """Two rows, one for each block: the one of the first block is drawn among its two values, the other one stays."""
    reached = set()
    for chance in (np.arange(20) + 0.5) / 20:
        model = Model("node", 3, groups=1, rows=2)
        model.values[model.rows] = [0, 2]
        model.joint = np.array(model.members)[model.values] + ATOMS * model.other
        model.counts = model.known + np.bincount(model.joint, minlength=ATOMS * OTHERS)
        model.totals = model.counts.reshape(OTHERS, ATOMS).sum(axis=0)
        impute_sweep(
            np.full(6, chance), model.groups, model.row_at, model.rows, *model.cells, model.values, model.joint, 1,
            model.counts, model.totals, PRIOR, 0.5,
        )  # fmt: skip
        reached.add(tuple(sorted(model.values.tolist())))
    assert reached == {(0, 2), (1, 2)}


def test_a_free_row_is_drawn_by_its_weights():
    """One row, and evenly spaced random numbers: each value is drawn as often as its weight says."""
    model = Model("free", 5, groups=1, rows=1)
    members, width, size = np.array(model.members), model.cells[3], model.cells[7]
    drawn = []
    for chance in (np.arange(400) + 0.5) / 400:
        one = Model("free", 5, groups=1, rows=1)
        impute_sweep(
            np.array([chance, 0.0, 0.0]), one.groups, one.row_at, one.rows, *one.cells, one.values, one.joint, 1,
            one.counts, one.totals, PRIOR, 0.5,
        )  # fmt: skip
        drawn.append(int(one.values[0]))
    known = model.known.reshape(OTHERS, ATOMS)
    given_atom = (known[model.other[0], members] + PRIOR) / (known.sum(axis=0)[members] + PRIOR * OTHERS)
    weights = given_atom * ((known.sum(axis=0)[members] + 0.5) / size[members]) ** 0.5 * width
    assert np.abs(np.bincount(drawn, minlength=2) / 400 - weights / weights.sum()).max() <= 1 / 400


@pytest.mark.parametrize("kind", CELLS)
@given(st.integers(0, 2**31))
def test_the_likelihood_sums_over_all_assignments(kind, seed):
    model = Model(kind, seed, groups=2)
    gammas, found = np.array([0.0, 0.6, 1.0]), unset(3)
    make_up_likelihood(
        model.groups, model.row_at, model.rows, *model.cells, model.joint, model.values, 1, model.counts, model.totals,
        PRIOR, gammas, found,
    )  # fmt: skip
    width, size = model.cells[3], model.cells[7]
    counts = model.counts.reshape(OTHERS, ATOMS)
    for gamma, value in zip(gammas, found, strict=True):
        expected = 0.0
        for group in model.groups:
            mine = model.rows[model.row_at[group] : model.row_at[group + 1]]
            given_all = plain_all = 0.0
            for places in itertools.product(range(len(model.members)), repeat=len(mine)):
                if len({model.blocks[place] for place in places} - {-1}) < model.needed:
                    continue
                plain = joint = 1.0
                for row, place in zip(mine, places, strict=True):
                    atom = model.members[place]
                    density = ((model.totals[atom] + 0.5) / size[atom]) ** gamma * width[place]
                    plain *= density
                    joint *= density * (counts[model.other[row], atom] + PRIOR) / (model.totals[atom] + PRIOR * OTHERS)
                given_all, plain_all = given_all + joint, plain_all + plain
            expected += np.log(given_all / plain_all)
        assert value == pytest.approx(expected, rel=1e-9)
