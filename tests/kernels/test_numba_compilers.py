"""What is compiled for a kernel: each function once, and machine code only for what Python can call."""

from __future__ import annotations

import numpy as np
from numba.core import event

from sfumato.kernels.compile import borrowing_kernel, inlined, kernel, subroutine
from sfumato.kernels.numba_compilers import KernelPart


class Compilations(event.Listener):
    """The functions that are compiled, by name; a kernel's own are those of this module."""

    def __init__(self):
        self.own, self.of_numba = [], []

    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        (self.own if function.__module__ == __name__ else self.of_numba).append(function.__qualname__.split(".")[-1])

    def on_end(self, event):
        pass


def compiled_by(work):
    listener = Compilations()
    with event.install_listener("numba:compile", listener):
        result = work()
    return result, listener


def test_a_function_of_numba_is_compiled_once_for_parts_and_kernels_without_references():
    @subroutine
    def lower(x, y):
        return min(x, y)

    @inlined
    def twice_lower(x, y):
        return 2 * min(x, y)

    @borrowing_kernel
    def total(x, y):
        return lower(x, y) + twice_lower(x, y) + min(x, y)

    # no other kernel takes the least of 16-bit numbers: none of this is compiled already
    found, compiled = compiled_by(lambda: total(np.uint16(3), np.uint16(4)))
    assert found == 3 + 6 + 3
    assert sorted(compiled.own) == ["lower", "total", "twice_lower"]
    assert len(compiled.of_numba) == 1


def test_kernels_that_allocate_count_references_whatever_was_compiled_before():
    """A kernel that counts no references does not share its functions with one that does: arrays would be lost or freed."""

    @borrowing_kernel
    def shape_of(values):
        return values.shape[0] + len(values[1:])

    @kernel
    def rest(values):
        copy = np.empty(len(values), np.int64)
        for i in range(len(values)):
            copy[i] = values[i]
        return copy[1:]

    values = np.arange(5)
    assert shape_of(values) == 5 + 4
    for _ in range(100):
        found = rest(values)
        assert found.tolist() == [1, 2, 3, 4]
    assert found.base is not None


def test_only_kernels_get_machine_code():
    @subroutine
    def part(x):
        return x + 1

    @kernel
    def whole(x):
        return part(x) * 2

    assert whole(4) == 10
    for function, is_kernel in ((part, False), (whole, True)):
        (compiled,) = function.overloads.values()
        engine = compiled.library.codegen._engine
        assert engine.is_symbol_defined(compiled.fndesc.llvm_func_name) == is_kernel
    assert isinstance(part, KernelPart)
    assert part(4) == 5
