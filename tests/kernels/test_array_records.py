"""Records of arrays: what a kernel reads and writes through one is what numpy reads and writes."""

from __future__ import annotations

import gc
import pickle
import re
import sys
import tracemalloc
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sfumato.kernels import array_records
from sfumato.kernels.array_records import RecordType, by_reference, described
from sfumato.kernels.compile import kernel, subroutine


@by_reference
class Fields(NamedTuple):
    """Arrays of one to three dimensions, and numbers."""

    line: Any
    grid: Any
    cube: Any
    count: Any
    weight: Any


@subroutine
def _at(record: Any, i: Any, j: Any, k: Any) -> Any:
    return record.line[i] + record.grid[i, j] * record.weight + record.cube[i, j, k] + record.count


@kernel
def fill(record: Any, out: Any) -> None:
    """Combine all fields."""
    a, b, c = record.cube.shape
    for i in range(a):
        for j in range(b):
            for k in range(c):
                out[i, j, k] = _at(record, i, j, k)


@kernel
def double(record: Any) -> Any:
    """Write to a field; return the length of another."""
    for i in range(len(record.line)):
        record.line[i] *= 2
    return len(record.grid)


@kernel
def other_field(record: Any) -> Any:
    """Read a field that the record does not have."""
    return record.absent[0]


def _record(shape: tuple[int, int, int], step: int = 1, count: Any = 3, weight: Any = 0.5) -> Fields:
    a, b, c = shape
    cube = np.arange(float(a * b * c * step)).reshape(a, b, c * step)[:, :, ::step]
    return Fields(np.arange(a) * 7, np.arange(a * b).reshape(b, a).T, cube, count, weight)


@given(
    hnp.array_shapes(min_dims=3, max_dims=3, min_side=0, max_side=4), st.integers(1, 3), st.integers(-5, 5), st.floats(-2, 2)
)
def test_a_kernel_reads_arrays_of_any_layout_and_numbers(shape: Any, step: int, count: int, weight: float) -> None:
    record = _record(shape, step, count, weight)
    out = np.full(shape, np.nan)
    fill(record, out)
    assert np.array_equal(out, record.line[:, None, None] + (record.grid * weight)[:, :, None] + record.cube + count)


def test_a_kernel_writes_to_the_arrays_of_the_caller() -> None:
    record = _record((3, 2, 1))
    assert double(record) == 3
    assert record.line.tolist() == [0, 14, 28]


def test_arrays_of_another_type_have_their_own_version() -> None:
    record = _record((2, 2, 2))
    out = np.empty((2, 2, 2))
    fill(record._replace(line=record.line.astype(np.int8)), out)
    assert np.array_equal(out, record.line[:, None, None] + (record.grid * 0.5)[:, :, None] + record.cube + 3)
    assert numba.typeof(record) != numba.typeof(record._replace(line=record.line.astype(np.int8)))


def test_a_type_survives_a_pickle_as_the_cache_needs() -> None:
    kind = numba.typeof(_record((2, 2, 2)))
    assert isinstance(kind, RecordType)
    assert pickle.loads(pickle.dumps(kind)) == kind


def test_a_field_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(numba.TypingError, match="absent"):
        other_field(_record((1, 1, 1)))


def test_a_field_that_cannot_be_described_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"Fields\.count is neither an array nor a number"):
        fill(_record((1, 1, 1), count="three"), np.empty((1, 1, 1)))


def test_a_description_has_a_word_for_every_part() -> None:
    assert len(described(_record((2, 2, 2)))) == 8 * ((2 + 2) + (2 + 4) + (2 + 6) + 1 + 1)


def test_no_kernel_returns_an_array_that_the_record_owns() -> None:
    """It would refer to memory that is freed with the record."""

    @kernel
    def field(record: Any) -> Any:
        return record.line

    @kernel
    def pair(record: Any) -> Any:
        return record.count, (record.grid[0], 1)

    for function in (field, pair):
        with pytest.raises(TypeError, match=r"receives a record of arrays and returns .*fill an array"):
            function(_record((1, 1, 1)))


@kernel
def _copied(record: Any) -> Any:
    return record.line, record.line.copy()


@kernel
def sum_of_copies(record: Any) -> Any:
    """Use arrays that a private function returns."""
    line, copy = _copied(record)
    copy[:] = 1
    return line.sum() + copy.sum()


def test_a_private_function_may_return_arrays_to_a_kernel() -> None:
    record = _record((3, 2, 1))
    assert [sum_of_copies(record) for _ in range(100)] == [0 + 7 + 14 + 3] * 100
    assert record.line.tolist() == [0, 7, 14]


def test_a_kernel_leaves_neither_the_record_nor_its_description_behind() -> None:
    record = _record((3, 2, 1))
    double(record)
    before = [sys.getrefcount(part) for part in (record, *record[:3])]
    tracemalloc.start()
    try:
        for _ in range(5000):
            double(record)
        gc.collect()  # cycles that wait for the collector are no leak
        assert tracemalloc.get_traced_memory()[0] < 5000 * len(described(record)) / 4
    finally:
        tracemalloc.stop()
    assert [sys.getrefcount(part) for part in (record, *record[:3])] == before


def test_the_code_reads_the_description_before_the_loop() -> None:
    """LLVM may do so only if the argument is marked: a version of llvmlite that has no such types would lose it silently."""
    function = numba.njit(double.py_func)  # not cached: numba shows no code of a cached function
    function(_record((3, 2, 1)))
    (code,) = function.inspect_llvm().values()
    assert re.search(rf"noalias .*nonnull .*dereferenceable\({len(described(_record((3, 2, 1))))}\)", code)


def test_another_numba_that_keeps_more_of_an_array_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    @kernel
    def length(record: Any) -> Any:
        return len(record.line)

    monkeypatch.setattr(array_records, "_ARRAY_PARTS", {"data"})
    with pytest.raises(Exception, match=r"numba .* keeps .* of an array.*\s.*constraints\.txt"):
        length(_record((1, 1, 1)))
