"""Compiling kernels: each is a compiled function, and the cache folder is private and named after the sources."""

from __future__ import annotations

import importlib
import os
import pkgutil
from pathlib import Path

import pytest

import sfumato.kernels
from sfumato.kernels import compile as compiling

ELSEWHERE = {"choice_branch_and_bound", "choice_columns", "dictionary_matching", "disclosure_choices", "knapsack"}
"""Kernels of disclosure rules, which the tests of the rules exercise against exhaustive search."""

MODULES = [module.name for module in pkgutil.iter_modules(sfumato.kernels.__path__) if module.name not in ELSEWHERE]


@pytest.mark.parametrize("name", MODULES)
def test_every_kernel_module_is_tested_directly(name):
    """Some test file under tests/kernels, or of the product, imports the module's own functions."""
    importlib.import_module(f"sfumato.kernels.{name}")
    tests = Path(__file__).parent.parent
    imported = f"sfumato.kernels.{name}" if name != "compile" else "sfumato.kernels import compile"
    assert any(imported in path.read_text(encoding="utf-8") for path in tests.rglob("test_*.py")), name


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
