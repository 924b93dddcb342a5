"""Bounds on the Jaro similarity, against its definition and a table of common subsequences."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive_consistency as naive
from kernel_inputs import unset
from sfumato.kernels.jaro_bounds import common_subsequence, count_characters, may_be_similar, place_characters

BUCKETS = 4
TEXT = st.text("abcd", max_size=9)
LONG = st.integers(0, 40).flatmap(lambda n: st.text("ab", min_size=4 * n, max_size=4 * n + 3))


def encoded(text):
    return np.array([ord(character) - ord("a") for character in text], np.uint8)


def counted(texts):
    ends = np.cumsum([len(text) for text in texts]).astype(np.int64)
    counts = np.zeros((BUCKETS, len(texts)), np.uint16)
    characters = encoded("".join(texts))
    count_characters(characters, ends, counts)
    return characters, ends, counts


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_count_characters(texts):
    counts = counted(texts)[2]
    assert counts.T.tolist() == [[text.count(character) for character in "abcd"] for text in texts]


@given(TEXT | LONG, TEXT | LONG)
def test_common_subsequence(one, other):
    words = max(1, (len(one) + 63) // 64)
    places, state = np.zeros((BUCKETS, words), np.uint64), np.zeros(words, np.uint64)
    place_characters(encoded(one), words, places)
    for i, character in enumerate(one):
        bit = (int(places[ord(character) - ord("a"), i >> 6]) >> (i & 63)) & 1
        assert bit == 1
    assert common_subsequence(places, words, encoded(other), state) == naive.common_subsequence(one, other)


@given(TEXT, st.lists(TEXT, min_size=1, max_size=6), st.integers(1, 20))
def test_no_similar_text_is_lost(text, others, twentieths):
    others = sorted(others, key=len)
    characters, ends, counts = counted(others)
    limit = twentieths / 20 - 1e-9
    bag = counted([text])[2][:, 0].copy()
    places, state = np.zeros((BUCKETS, 1), np.uint64), np.zeros(1, np.uint64)
    common, out = unset(len(others), np.uint16), unset(len(others), np.int64)
    count = may_be_similar(
        counts, characters, ends, bag, encoded(text), np.full(5, limit), 2**16 - 1, places, state, common, out
    )
    similar = [t for t, other in enumerate(others) if naive.jaro(text, other) >= Fraction(twentieths, 20)]
    assert set(similar) <= set(out[:count].tolist())
