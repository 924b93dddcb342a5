"""Dealing out values: sums of people and of values, the order of weights, and soft counts."""

from __future__ import annotations

import numpy as np
import pytest

from kernel_inputs import unset
from sfumato.kernels.group_beliefs import Blocks, count_beliefs, deal_values, most_probable


def blocks_of(cells, counts):
    """One block of people with these features and one group with values 0, 1, …."""
    cells, counts = np.array(cells, np.int64), np.array(counts, np.int64)
    people = len(cells)
    return Blocks(
        np.array([0, people]),
        cells,
        np.zeros(people, np.int64),
        np.zeros(1, np.int64),
        np.array([0, len(counts)]),
        np.arange(len(counts)),
        counts,
        np.array([0, people * len(counts)]),
    )


def test_without_knowledge_each_has_the_share_of_the_group():
    out = unset(6)
    deal_values(blocks_of([[0], [0], [0]], [2, 1]), np.zeros((1, 2)), 20, 1e-9, out)
    assert out == pytest.approx([2 / 3, 1 / 3] * 3)


def test_beliefs_sum_to_one_for_a_person_and_to_its_count_for_a_value():
    tables = np.log(np.array([[0.9, 0.1, 0.5, 0.5, 0.2, 0.8]]))
    out = unset(6)
    deal_values(blocks_of([[0], [2], [4]], [1, 2]), tables, 500, 1e-12, out)
    dealt = out.reshape(3, 2)
    assert dealt.sum(axis=1) == pytest.approx([1, 1, 1])
    assert dealt.sum(axis=0) == pytest.approx([1, 2])
    assert dealt[0, 0] > dealt[1, 0] > dealt[2, 0]
    # scaling keeps the odds ratios of the table
    assert dealt[0, 0] * dealt[2, 1] / (dealt[0, 1] * dealt[2, 0]) == pytest.approx(9 * 4)


def test_soft_counts_add_up():
    blocks = blocks_of([[0, 4], [2, 4]], [1, 1])
    counts = np.zeros(6)
    count_beliefs(blocks, np.array([0.25, 0.75, 0.75, 0.25]), counts)
    assert counts.tolist() == [0.25, 0.75, 0.75, 0.25, 1.0, 1.0]


def test_soft_counts_of_several_blocks():
    """Two people of one group, three of another with values 1 and 2; feature f begins at place 3f."""
    cells = np.array([[0, 3], [0, 3], [0, 3], [0, 3], [0, 3]])
    blocks = Blocks(
        np.array([0, 2, 5]), cells, np.zeros(5, np.int64), np.array([0, 1]), np.array([0, 1, 3]), np.array([0, 1, 2]),
        np.array([2, 1, 2]), np.array([0, 2]),
    )  # fmt: skip
    counts = np.zeros(6)
    count_beliefs(blocks, np.array([1.0, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.375, 0.6875]), counts)
    assert counts.tolist() == [2.0, 0.5 + 0.125 + 0.375, 0.25 + 0.0625 + 0.6875] * 2


def test_the_first_of_the_most_probable_values_is_found():
    tables = np.log(np.array([[0.1, 0.9, 0.5, 0.5], [0.9, 0.1, 0.5, 0.5]]))
    out = unset(3, np.int64)
    most_probable(np.array([[0], [0], [2]]), np.array([0, 1, 0]), tables, np.zeros((2, 2)), out)
    assert out.tolist() == [1, 0, 0]
