"""Costs of pairs of blocks against those of groups, and exchanges that only lower them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from kernel_inputs import unset
from sfumato.anonymization.methods.method import Task
from sfumato.kernels.block_matching import improve_pairs, match_greedily, pair_costs
from sfumato.kernels.cell_shares import share


def naive_cost(task: Task, rows: list[int]) -> float:
    places = task.search_space.places[rows]
    return sum(
        float(share(task.search_space.shares, j, int(column.min()), int(column.max()), len(set(column.tolist()))))
        for j, column in enumerate(places.T)
    )


@given(st.data())
def test_costs_are_those_of_groups_and_exchanges_lower_them(data: st.DataObject):
    block, pairs = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    rows = 2 * block * pairs
    ages = data.draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows))
    sexes = data.draw(st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows))
    task = Task(sf.Table(pa.table({"age": ages, "sex": sexes}), sf.Schema(["age", "sex"])), ())
    shares, places = task.search_space.shares, task.search_space.places
    made = np.arange(2 * pairs).reshape(pairs, 2)
    seen, clock, costs = np.zeros(20, np.int64), np.zeros(1, np.int64), unset(pairs)

    def expected() -> list[float]:
        members = [[b * block + i for b in pair for i in range(block)] for pair in made.tolist()]
        return [naive_cost(task, one) for one in members]

    pair_costs(shares, places, block, made[:, 0].copy(), made[:, 1].copy(), seen, clock, costs)
    assert np.allclose(costs, expected())
    before = costs.sum()
    improve_pairs(shares, places, block, made, np.arange(pairs), 3, seen, clock, costs)
    assert np.allclose(costs, expected()) and costs.sum() <= before + 1e-9
    assert sorted(made.ravel().tolist()) == list(range(2 * pairs))


def test_the_first_pairs_are_matched():
    mate = np.full(4, -1)
    match_greedily(np.array([1, 0, 0]), np.array([2, 1, 3]), mate)
    assert mate.tolist() == [3, 2, 1, 0]
