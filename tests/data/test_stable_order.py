"""The order of numbers is that of a stable sort, whether or not a number and its position fit into one integer."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.groups import stable_order

LARGEST = (1 << 63) - 1


@given(st.sampled_from([1, 3, 1 << 20, 1 << 58, LARGEST]), st.integers(0, 2), st.data())
def test_equal_numbers_keep_their_order(span, least, data):
    numbers = data.draw(st.lists(st.integers(0, min(span, 4) - 1) | st.integers(0, span - 1), min_size=least, max_size=40))
    expected = sorted(range(len(numbers)), key=numbers.__getitem__)  # sorted is stable
    given_numbers = np.array(numbers, np.int64)
    assert stable_order(given_numbers, span).tolist() == expected
    assert given_numbers.tolist() == numbers


def test_the_largest_numbers_that_fit_beside_their_positions():
    for count in (1, 2, 3, 4, 7, 8):
        span = (1 << 63) >> count.bit_length()
        for largest in (span - 1, span, min(2 * span - 1, LARGEST)):
            numbers = np.full(count, largest, np.int64)
            assert stable_order(numbers, largest + 1).tolist() == list(range(count))
