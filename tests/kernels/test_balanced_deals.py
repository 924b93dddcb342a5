"""Rows that are dealt: every part keeps its share of every block, the excess falls, and units are independent."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization.methods.cell_share_arrays import share_arrays
from sfumato.anonymization.methods.group_arrays import group_arrays
from sfumato.kernels.balanced_deals import deal_units

NO_CELLS = share_arrays([])


class Case:
    """Units of two blocks each, whose parts take equally many rows of both."""

    def __init__(self, secrets, principles, block, parts):
        table = sf.Table(pa.table({"qi": [0] * len(secrets), "s": secrets}), sf.Schema(["qi"], ["s"]))
        self.constraints = sf.anonymization.Task(table, principles).search_constraints
        self.block, self.unit, self.parts = block, 2 * block, parts
        part = np.arange(block) * parts // block
        units = len(secrets) // self.unit
        self.labels = (np.arange(units)[:, None] * parts + np.tile(part, 2)).ravel()

    def arrays(self, labels, rows):
        some = self.constraints.with_values(self.constraints.values_of(rows))
        limits, conditions = some.neighbour_limit_arrays(len(rows)), some.condition_arrays()
        return limits, conditions, group_arrays(np.zeros((len(rows), 0), np.int32), labels, NO_CELLS, limits, conditions)

    def dealt(self, rows):
        limits, conditions, arrays = self.arrays(self.labels[: len(rows)], rows)
        before = arrays.excess.copy()
        deal_units(
            NO_CELLS, limits, conditions, arrays, self.block, self.unit, self.parts, 8, 10, 3, np.ones(1, np.uint64)
        )  # fmt: skip
        return before, arrays


PRINCIPLES = [
    (sf.FrequencyLDiversity(2),),
    (sf.DistinctLDiversity(2), sf.Dissimilarity(1, "0.5", 3)),
    (sf.TCloseness("0.3"),),
]


@given(st.data(), st.sampled_from(PRINCIPLES), st.sampled_from([(6, 2), (6, 3), (4, 2)]), st.integers(1, 3))
def test_rows_are_dealt_within_their_blocks(data, principles, shape, units):
    block, parts = shape
    secrets = data.draw(st.lists(st.integers(0, 5), min_size=2 * block * units, max_size=2 * block * units))
    case = Case(secrets, principles, block, parts)
    rows = np.arange(len(secrets))
    before, arrays = case.dealt(rows)
    # each part has as many rows of each block as before
    blocks = rows // block
    taken = np.zeros((2, len(secrets) // block, units * parts), int)
    np.add.at(taken[0], (blocks, case.labels), 1)
    np.add.at(taken[1], (blocks, np.asarray(arrays.group)), 1)
    assert (taken[0] == taken[1]).all()
    # the excess is that of the new parts, counted from scratch, and no unit has more of it than before
    fresh = case.arrays(np.asarray(arrays.group), rows)[2]
    assert np.allclose(arrays.excess, fresh.excess)
    assert (arrays.excess.reshape(units, parts).sum(axis=1) <= before.reshape(units, parts).sum(axis=1) + 1e-6).all()
    # a unit alone is dealt in the same way
    for unit in range(units):
        own = rows[unit * case.unit : (unit + 1) * case.unit]
        alone = np.asarray(case.dealt(own)[1].group)
        assert (alone == np.asarray(arrays.group)[own] - unit * parts).all()


def test_what_can_be_dealt_is_dealt():
    """Both blocks have equal secrets side by side, so that the first parts fail and a swap helps."""
    case = Case(["a", "a", "b", "b"] * 2, (sf.DistinctLDiversity(2),), 4, 2)
    before, arrays = case.dealt(np.arange(8))
    assert before.max() > 0 and arrays.excess.max() <= 0
