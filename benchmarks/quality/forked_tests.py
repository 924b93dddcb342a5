"""Run tests in processes that are forked from one that has already imported the large libraries."""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality.covering_tests import ROOT, FunctionRecorder

_LARGE = ["pytest", "hypothesis", "numpy", "scipy.special", "numba", "pyarrow", "pydantic", "pandas", "rapidfuzz", "rich"]

_OPTIONS = ["-q", "-n", "0", "-p", "no:cacheprovider", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
_OPTIONS += ["-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"]

_WAITING = 20
"""Seconds that may pass for each second of CPU time, on a machine that does other things."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([*_LARGE, __name__])


def passes(tests: Sequence[str], folder: Path, seconds: float) -> bool:
    """Return whether tests pass on the package below a folder within some seconds of CPU time; stop at a failure."""
    return _run(_first_failure, (list(tests), str(folder), seconds)) in (0, pytest.ExitCode.NO_TESTS_COLLECTED)


def cache_of(folder: Path) -> Path:
    """Return where the package below a folder keeps compiled kernels."""
    return folder / "cache"


def record(tests: Sequence[str], packages: Sequence[str]) -> None:
    """Record which functions of some packages tests call."""
    _run(_recorded, (list(tests), list(packages)))


def _run(task: Any, arguments: tuple[Any, ...]) -> int | None:
    process = _context.Process(target=task, args=arguments)
    process.start()
    process.join()
    return process.exitcode


def _first_failure(tests: list[str], folder: str, seconds: float) -> None:
    _silence()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds)))
    signal.alarm(math.ceil(_WAITING * seconds))  # a process that waits uses no CPU time
    os.chdir(ROOT)
    os.environ.update(PYTHONPATH=f"{folder}/src", XDG_CACHE_HOME=str(cache_of(Path(folder))), SFUMATO_PROFILE="mutants")
    sys.path.insert(0, f"{folder}/src")
    sys.dont_write_bytecode = True
    os._exit(pytest.main([*_OPTIONS, "-x", *tests]))


def _recorded(tests: list[str], packages: list[str]) -> None:
    _silence()
    os.chdir(ROOT)
    os._exit(pytest.main([*_OPTIONS, *tests], plugins=[FunctionRecorder(packages)]))


def _silence() -> None:
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
