"""Arrays that are sent compactly come back as they were: the same numbers, type, shape and layout."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sfumato.spark.compact_arrays import compact_pickle

KINDS = st.sampled_from(["i1", "i4", "i8", "u1", "u4", "u8", "f8", "?"])


@given(arrays.arrays(KINDS, arrays.array_shapes(min_side=0, max_dims=2, max_side=80)))
def test_what_is_sent_comes_back(values):
    back, (known, none) = pickle.loads(compact_pickle((values, [values[:0], None])))
    for sent, received in ((values, back), (values[:0], known)):
        assert received.dtype == sent.dtype and received.shape == sent.shape
        assert received.tobytes() == sent.tobytes()
        assert received.flags.writeable and received.flags.c_contiguous, "kernels are compiled for such arrays"
    assert none is None


def test_codes_take_one_byte_each():
    codes = np.random.default_rng(0).integers(0, 200, (5000, 4)).astype(np.int32)
    assert len(compact_pickle(codes)) < 4 * 5000 + 500


def test_the_extremes_of_a_type_fit():
    for low, high in ((-129, 127), (-1, 255), (0, 2**63 - 1), (-(2**63), 2**63 - 1)):
        values = np.array([low, high] * 50, np.int64)
        assert pickle.loads(compact_pickle(values)).tolist() == values.tolist()
