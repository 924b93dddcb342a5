"""Compiling kernels: each is a compiled function, and the cache folder is private and named after the sources."""

from __future__ import annotations

import os
import pkgutil
from pathlib import Path

import pytest

import sfumato.kernels
from sfumato.kernels import compile as compiling

MODULES = [module.name for module in pkgutil.iter_modules(sfumato.kernels.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_every_kernel_module_is_tested_directly(name):
    """Each has a test file of its own name, which imports its functions."""
    tests = Path(__file__).with_name(f"test_{name}.py").read_text(encoding="utf-8")
    assert name == "compile" or f"from sfumato.kernels.{name} import" in tests or f"kernels import {name}" in tests


def test_the_cache_folder_is_private_and_names_the_sources():
    folder = Path(compiling.cache_folder())
    assert folder.is_dir()
    if folder.name.startswith("kernels-"):
        assert folder.name == f"kernels-{compiling.sources_digest()}"
    if hasattr(os, "getuid"):
        assert folder.stat().st_mode & 0o022 == 0


def test_a_kernel_does_not_reorder_floats():
    @compiling.kernel
    def total(values):
        out = 0.0
        for value in values:
            out += value
        return out

    import numpy as np

    values = np.array([1e16, 1.0, -1e16, 1.0])
    assert total(values) == 1.0


def test_kernels_are_cached_and_let_threads_run_beside_them():
    for make in (compiling.kernel, compiling.borrowing_kernel):

        @make
        def nothing():
            return 0

        assert nothing.targetoptions["nogil"]
        assert nothing.stats.cache_path is not None


def test_parts_of_kernels_are_compiled_once_for_all_constants_and_stay_python_functions():
    """A constant argument would otherwise compile the part again."""

    @compiling.subroutine
    def part(x, step):
        return x + step

    @compiling.inlined
    def copied(x, step):
        return part(x, step) * 2

    @compiling.kernel
    def whole(x):
        return part(x, 1) + part(x, 2) + copied(x, 3) + copied(x, x)

    assert whole(5) == 6 + 7 + 16 + 20
    assert (part(5, 1), copied(5, 3)) == (6, 16)
    assert [len(function.signatures) for function in (part, copied)] == [1, 1]
