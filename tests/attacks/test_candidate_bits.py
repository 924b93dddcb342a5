"""Sets of candidates as bits against Python sets, in one piece and in the smallest pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import attribute_inference
from sfumato.attacks import candidate_bits as bits
from sfumato.registry import ATTACKS
from small_releases import small_release

LIMITS = ("_FLAGS", "_CHUNK", "_KEPT", "_RUNS", "_MEMBERS")

labels = st.lists(st.integers(0, 6), min_size=1, max_size=150)
keys = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=9)


def near(one, other):
    return abs(one - other) != 1


@given(labels, keys, st.randoms(use_true_random=False))
def test_meetings_are_intersections(values, queries, random):
    others = [random.randrange(7) for _ in values]
    conditions = [bits.Condition(np.array(values), near), bits.Equality(np.array(others))]
    columns = [np.array(column) for column in zip(*queries, strict=True)]
    weights = np.array([random.randrange(20) for _ in values])
    for part, found in bits.meetings(conditions, columns):
        flags = bits.unpacked(found, len(values))
        listed = bits.members(found)
        for at, (one, other) in enumerate(queries[part]):
            expected = [i for i, value in enumerate(values) if near(one, value) and others[i] == other]
            assert np.flatnonzero(flags[at]).tolist() == expected
            assert bits.counted(found)[at] == len(expected)
            assert bits.ItemWeights(weights).sums(found)[at] == sum(weights[i] for i in expected)
            assert listed[1][listed[0] == at].tolist() == expected
        ascending = np.arange(len(values)) // 3
        lone = [len({i // 3 for i in np.flatnonzero(row)}) == 1 for row in flags]
        assert bits.one_label(found, ascending).tolist() == lone
        again = [int((near(columns[0][part][at], np.array(values)) & row).sum()) for at, row in enumerate(flags)]
        for members in (None, bits.members(found)):
            assert conditions[0].among(found, columns[0][part], members).tolist() == again
            whose = np.sort(weights % 5)
            people = [
                {whose[i] for i in np.flatnonzero(near(columns[0][part][at], np.array(values)) & row)}
                for at, row in enumerate(flags)
            ]
            assert conditions[0].among(found, columns[0][part], members, bits.ItemOwners(whose)).tolist() == [
                len(own) for own in people
            ]


def test_items_with_several_values():
    several = bits.Equality(np.array([5, 6, 5]), np.array([0, 0, 1]))
    assert several.sets(np.array([5, 6, 7])).tolist() == [[3], [1], [0]]


@pytest.fixture(scope="module")
def attacked():
    random = np.random.default_rng(0)
    everybody = [
        {"age": int(age), "town": str(town), "ill": str(ill), "pay": int(pay), "plan": str(plan)}
        for age, town, ill, pay, plan in zip(
            random.integers(1, 40, 160),
            random.choice([*"abc"], 160),
            random.choice([*"xyz"], 160),
            random.integers(1, 60, 160),
            random.choice([*"pq"], 160),
            strict=True,
        )
    ]
    texts = []
    for number, person in enumerate(everybody[:150]):
        low = person["age"] - number % 4
        texts.append({"age": f"[{low}, {low + 6}]", "town": "*" if number % 3 else person["town"]})
    return small_release(everybody, texts, [sf.KAnonymity(2)]).attacked


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", ["linkage", "singling-out", "linkability", "inference"])
def test_the_size_of_pieces_does_not_matter(attacked, name, limit, monkeypatch):
    whole = [result.to_dict() for result in ATTACKS[name]().run(attacked)]
    monkeypatch.setattr(bits, limit, 0)
    monkeypatch.setattr(attribute_inference, "_MEMBERS", 1)
    monkeypatch.setattr(attribute_inference, "_COUNTS", 1)
    assert [result.to_dict() for result in ATTACKS[name]().run(attacked)] == whole


def test_bits_are_counted_without_numpy_2(monkeypatch):
    words = np.random.default_rng(0).integers(0, 1 << 63, (5, 3), np.uint64)
    expected = [sum(int(word).bit_count() for word in row) for row in words]
    assert bits.counted(words).tolist() == expected
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert bits.counted(words).tolist() == expected
