"""Beliefs: exact where swaps form a tree and groups are small; groups always keep their secrets."""

from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_swaps import marginals
from sfumato.kernels.swap_beliefs import group_beliefs, pass_messages


class Groups:
    """Groups of secrets as the kernels take them."""

    def __init__(self, groups):
        self.groups = groups
        self.counts = [sorted(Counter(group).items()) for group in groups]
        self.first = np.concatenate([[0], np.cumsum([len(counts) for counts in self.counts])])
        self.count = np.array([count for counts in self.counts for _, count in counts])
        self.size = np.array([len(group) for group in groups])
        lengths = self.size * np.diff(self.first)
        self.at = np.cumsum(lengths) - lengths
        self.evidence, self.weight, self.belief = (np.zeros(int(lengths.sum())) for _ in range(3))

    def place(self, group, person):
        return int(self.at[group]) + person * len(self.counts[group])

    def settle(self, states=4096):
        group_beliefs(
            self.first, self.count, self.size, self.at, self.evidence, self.weight, self.belief, np.zeros(states),
            np.zeros(states), np.zeros(8, np.int64),
        )  # fmt: skip

    def beliefs(self):
        return [
            [{value: self.belief[self.place(g, i) + u] for u, (value, _) in enumerate(counts)} for i in range(self.size[g])]
            for g, counts in enumerate(self.counts)
        ]


def same(found, expected, tolerance=1e-6):
    for mine, theirs in zip(found, expected, strict=True):
        for person, other in zip(mine, theirs, strict=True):
            assert person == pytest.approx(other, abs=tolerance)


secrets = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5)


@given(secrets, st.integers(0, 2**31))
def test_the_deals_of_a_group_are_weighted_by_the_evidence(group, seed):
    case, draw = Groups([group]), np.random.default_rng(seed)
    case.evidence[:] = np.log(draw.random(len(case.evidence)) + 0.01)
    person = {i: dict(zip(sorted(set(group)), case.evidence[case.place(0, i) :], strict=False)) for i in range(len(group))}
    factors = [((0, i), (0, i), lambda u, _, i=i: np.exp(person[i][u])) for i in range(len(group))]
    case.settle()
    same(case.beliefs(), marginals([group], factors))


@given(st.lists(secrets, min_size=1, max_size=3), st.integers(0, 2**31))
def test_scaled_groups_keep_their_secrets(groups, seed):
    case, draw = Groups(groups), np.random.default_rng(seed)
    case.evidence[:] = np.log(draw.random(len(case.evidence)) + 0.05)
    case.settle(states=1)
    for group, beliefs in zip(groups, case.beliefs(), strict=True):
        for value, count in Counter(group).items():
            assert sum(person[value] for person in beliefs) == pytest.approx(count, abs=1e-3)
        assert all(sum(person.values()) == pytest.approx(1) for person in beliefs)


def test_without_evidence_everybody_has_the_share_of_the_group():
    case = Groups([["a", "a", "b"], ["c"]])
    case.settle()
    same(case.beliefs(), [[{"a": 2 / 3, "b": 1 / 3}] * 3, [{"c": 1.0}]])


@given(st.lists(secrets, min_size=3, max_size=3), st.integers(0, 2**31))
def test_beliefs_are_exact_if_swaps_form_a_tree(groups, seed):
    """A chain: a person of each group and the next one; both swaps of the middle group may be of one person."""
    case, draw, spare = Groups(groups), np.random.default_rng(seed), 0.05
    ends = [((g, int(draw.integers(len(groups[g])))), (g + 1, int(draw.integers(len(groups[g + 1]))))) for g in (0, 1)]
    widths = [(len(case.counts[a]), len(case.counts[b])) for (a, _), (b, _) in ends]
    tables = [draw.random(width) < 0.5 for width in widths]
    table = np.cumsum([0, *(one.size for one in tables)])[:-1]
    ones, others = (np.array([width[side] for width in widths]) for side in (0, 1))
    one, other = (np.array([case.place(*end[side]) for end in ends]) for side in (0, 1))
    message = np.zeros(int((ones + others).sum()))
    for number in range(40):
        case.settle()
        pass_messages(
            one, other, ones, others, table, np.full(2, spare), np.concatenate([part.ravel() for part in tables]),
            case.belief, np.cumsum(ones + others) - ones - others, 0.5 if number else 1.0, message, case.evidence,
            np.zeros((2, 8)), np.zeros((2, 8)),
        )  # fmt: skip
    case.settle()
    values = [[value for value, _ in counts] for counts in case.counts]

    def factor(k):
        (a, _), (b, _) = ends[k]
        return lambda u, v: 1.0 if tables[k][values[a].index(u), values[b].index(v)] else spare

    same(case.beliefs(), marginals(groups, [(*ends[k], factor(k)) for k in (0, 1)]))


def test_a_message_is_the_logarithm_of_a_likelihood():
    """The other person has a or b evenly; only a pair of different secrets would have broken the requirement."""
    case = Groups([["a", "b"], ["a", "b"]])
    case.settle()
    message = np.zeros(4)
    two, start = np.array([2]), np.array([0])
    pass_messages(
        start, np.array([case.place(1, 0)]), two, two, start, np.array([0.1]), np.array([False, True, True, True]),
        case.belief, start, 1.0, message, case.evidence, np.zeros((2, 2)), np.zeros((2, 2)),
    )  # fmt: skip
    assert message.tolist() == pytest.approx([log(0.55), 0.0, log(0.55), 0.0])
