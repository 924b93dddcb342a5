"""Mutation testing of the privacy core: count how many small changes of the code the tests notice.

A sample of mutants is drawn with a seed. Each is put into a copy of the package, and the tests that concern it run on the
copy: first those of its own module, then those of everything that relies on it. The first failure kills the mutant.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from benchmarks.quality.code_mutants import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src/sfumato")

CORE = {
    "principles": ["tests/principles", "tests/test_contracts.py", "tests/test_audit.py"],
    "distances": ["tests/distances", "tests/principles", "tests/test_contracts.py"],
    "exact": ["tests/exact", "tests/principles", "tests/data", "tests/distances"],
    "verification": ["tests/verification", "tests/releases", "tests/anonymization/test_exposure.py", "tests/projections"],
    "kernels": ["tests/kernels", "tests/distances", "tests/principles", "tests/anonymization", "tests/disclosure"],
}
"""The packages that verdicts on privacy depend on, and the tests that rely on each."""

_TIMEOUT = 900
"""Seconds after which the tests of a mutant are stopped: it does not end, so it is noticed."""


def run(sample: int, seed: int, workers: int, packages: Sequence[str], notify: Callable[[str], None]) -> dict[str, Any]:
    """Draw mutants of the core, test each, and return how many were killed and which survived."""
    chosen = list(packages or CORE)
    found = [mutant for package in chosen for mutant in _mutants(package)]
    drawn = random.Random(seed).sample(found, min(sample, len(found)))
    copies: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(workers):
            copied = Path(folder) / str(number)
            shutil.copytree(ROOT / "src", copied / "src", ignore=shutil.ignore_patterns("__pycache__"))
            copies.put(copied)
        with ThreadPoolExecutor(workers) as pool:
            killers = list(pool.map(lambda mutant: _killer(mutant, copies, notify), drawn))
    survivors = [str(mutant) for mutant, killer in zip(drawn, killers, strict=True) if killer is None]
    return {
        "mutants": len(found),
        "sample": len(drawn),
        "seed": seed,
        "killed": len(drawn) - len(survivors),
        "share": (len(drawn) - len(survivors)) / len(drawn),
        "survivors": survivors,
    }


def _mutants(package: str) -> list[Mutant]:
    paths = sorted((ROOT / PACKAGE / package).rglob("*.py"))
    return [m for path in paths for m in mutants_of(path.relative_to(ROOT), path.read_text(encoding="utf-8"))]


def _killer(mutant: Mutant, copies: SimpleQueue[Path], notify: Callable[[str], None]) -> str | None:
    """Return the tests that fail with a mutant; None if it survives."""
    folder = copies.get()
    original = (folder / mutant.path).read_text(encoding="utf-8")
    try:
        (folder / mutant.path).write_text(mutant.text, encoding="utf-8")
        for tests in stages(mutant.path):
            if not _passes(folder, tests):
                notify(f"killed by {tests[0]}: {mutant}")
                return tests[0]
        notify(f"SURVIVED: {mutant}")
        return None
    finally:
        (folder / mutant.path).write_text(original, encoding="utf-8")
        copies.put(folder)


def stages(path: Path) -> list[list[str]]:
    """Return the tests of a module in the order in which they run: its own first, then those that rely on it.

    >>> stages(Path("src/sfumato/exact/bins.py"))[-1]
    ['tests/exact', 'tests/principles', 'tests/data', 'tests/distances']
    """
    package = path.relative_to(PACKAGE).parts[0]
    own = [str(one.relative_to(ROOT)) for one in sorted(ROOT.glob(f"tests/{package}/test_*{path.stem}*.py"))]
    return [*([own] if own else []), [f"src-doctests:{path}"], CORE[package]]


def _passes(folder: Path, tests: Sequence[str]) -> bool:
    """Return whether tests pass on a copy of the package."""
    doctests = [test.partition(":")[2] for test in tests if test.startswith("src-doctests:")]
    paths = [str(folder / test) for test in doctests] or list(tests)
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "SFUMATO_PROFILE": "default"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    command += ["--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), *paths]
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, 5)  # 5: the module has no doctest
