"""Mutation testing of the privacy core: count how many small changes of the code the tests notice.

A sample of mutants is drawn with a seed. Each is put into a copy of the package, and the tests that call what it changes
run on the copy, the quickest first, until one fails: it kills the mutant. Tests of other functions cannot notice it.
"""

from __future__ import annotations

import compileall
import filecmp
import hashlib
import os
import random
import shutil
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.quality import forked_tests
from benchmarks.quality.code_mutants import Mutant, mutants_of, mutated
from benchmarks.quality.covering_tests import KERNELS, PACKAGE, ROOT, covering, kernel_users, stale

CORE = ("principles", "distances", "exact", "verification", "kernels")
"""The packages that verdicts on privacy depend on."""

RELYING = (
    *("tests/exact", "tests/principles", "tests/distances", "tests/kernels", "tests/data", "tests/test_contracts.py"),
    *("tests/test_audit.py", "tests/verification", "tests/releases", "tests/anonymization", "tests/disclosure"),
    *("tests/projections", "tests/attacks", "tests/profiling", "tests/analysis"),
)
"""The tests that rely on them and run in this process."""

EQUIVALENT = Path(__file__).parent / "equivalent_mutants.toml"
"""Mutants that break no promise, each with the reason."""

_COPY = ROOT / "build" / "mutants"

_START, _SLOWER = 15.0, 3.0
"""The tests of a mutant may take this many seconds, and this many times as long as without it. If it does not end, they take
longer: it is noticed."""


def run(
    sample: int,
    seed: int,
    packages: Sequence[str],
    seconds: float,
    notify: Callable[[str], None],
    only: Sequence[str] = (),
) -> dict[str, Any]:
    """Draw mutants of the core, test each, and return how many were killed and which survived.

    `seconds` is the time of the tests that run on one mutant, at most; `only` restricts the mutants to `FILE:LINE`.
    """
    found = [mutant for package in (packages or CORE) for mutant in mutants(package)]
    reasons = equivalent()
    drawn = [mutant for mutant in found if f"{mutant.path.name}:{mutant.line}" in only]
    if not only:
        drawn = random.Random(seed).sample(found, min(sample, len(found)))
    tests = record_tests(notify)
    relying = _RelyingTests(tests, seconds)
    _refresh_copy()
    survivors, left_out, started = [], [], time.perf_counter()
    by_package: dict[str, list[bool]] = {}
    for number, mutant in enumerate(drawn, 1):
        reason = reasons.get((str(mutant.path), mutant.function, mutant.code, mutant.change))
        if reason is not None:
            left_out.append(f"{mutant}: {reason}")
            continue
        killed = _killed(mutant, relying)
        by_package.setdefault(mutant.path.relative_to(PACKAGE).parts[0], []).append(killed)
        notify(f"{number} of {len(drawn)}, {'killed' if killed else 'SURVIVED'}: {mutant}")
        if not killed:
            survivors.append(str(mutant))
    tested = len(drawn) - len(left_out)
    return {
        "mutants": len(found),
        "sample": len(drawn),
        "seed": seed,
        "equivalent": left_out,
        "killed": tested - len(survivors),
        "share": (tested - len(survivors)) / max(1, tested),
        "by package": {package: f"{sum(killed)} of {len(killed)}" for package, killed in sorted(by_package.items())},
        "survivors": survivors,
        "seconds": round(time.perf_counter() - started),
    }


def mutants(package: str) -> list[Mutant]:
    """Return all mutants of a package."""
    paths = sorted((ROOT / PACKAGE / package).rglob("*.py"))
    return [m for path in paths for m in mutants_of(path.relative_to(ROOT), path.read_text(encoding="utf-8"))]


def equivalent() -> dict[tuple[str, str, str, str], str]:
    """Return the reasons of the mutants that are known to break no promise, by file, function, line and change."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    return {(one["path"], one["function"], one["code"], one["change"]): one["reason"] for one in listed}


def record_tests(notify: Callable[[str], None] = lambda text: None) -> list[str]:
    """Record which tests call which functions, where that is not known yet, and return the files of tests."""
    files = [str(path.relative_to(ROOT)) for one in RELYING for path in _test_files(ROOT / one)]
    files += [str(path.relative_to(ROOT)) for one in CORE for path in sorted((ROOT / PACKAGE / one).rglob("*.py"))]
    missing = stale(files)
    while missing:  # a process for some files at a time: what is found is kept
        notify(f"tests to record: {len(missing)} files")
        forked_tests.record(missing[:8], CORE)
        missing = missing[8:]
    return files


def _test_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(path.rglob("test_*.py"))


class _RelyingTests:
    """The tests to run on a mutant."""

    def __init__(self, files: Sequence[str], seconds: float) -> None:
        self._seconds = seconds
        self._covering = covering(files)
        self._costs = {test: cost for tests in self._covering.values() for test, cost in tests.items()}
        self._kernels = kernel_users(files)

    def of(self, mutant: Mutant) -> tuple[list[str], float]:
        """Return the tests that call the changed function, those of its module first and the quickest first; the seconds."""
        function = f"{mutant.path}:{mutant.function}"
        functions = {function}
        imported = function not in self._covering and KERNELS not in mutant.path.parents
        if imported:  # code of the module or of a class
            functions |= {one for one in self._covering if one.startswith(f"{mutant.path}:")}
        if KERNELS in mutant.path.parents:
            functions = self.kernel_users(mutant)
        costs: dict[str, float] = {}
        for one in functions:
            costs |= self._covering.get(one, {})
        files = {one for one in functions if one.startswith("tests/") and ":" not in one}
        costs |= {test: cost for test, cost in self._costs.items() if _file(test) in files}
        if imported:  # for which values a test runs may depend on it, so all values
            names = {test.partition("[")[0] for test in costs}
            costs = dict.fromkeys(names, 0.0)
            for test, cost in self._costs.items():
                if test.partition("[")[0] in names:
                    costs[test.partition("[")[0]] += cost
        ordered = sorted(costs, key=lambda test: (mutant.path.stem not in test, costs[test], test))
        chosen: list[str] = []
        total = 0.0
        for test in ordered:
            if chosen and total + costs[test] > self._seconds:
                break
            total += costs[test]
            chosen.append(test)
        return chosen, total

    def kernel_users(self, mutant: Mutant) -> set[str]:
        """Return all functions and files of tests that use a changed kernel, or anything of its module."""
        start = f"{mutant.path}:{mutant.function}"
        if start in self._kernels:
            return self._kernels[start]
        return set().union(*(users for one, users in self._kernels.items() if one.startswith(f"{mutant.path}:")))


def _file(test: str) -> str:
    return test.partition("::")[0]


def _refresh_copy() -> None:
    """Bring the copy of the package and its compiled kernels up to date.

    Files keep their times, and compiled kernels are valid for files of the same time.
    """
    source, copied = ROOT / "src", _COPY / "src"
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    if copied.exists():
        for path in [one for one in copied.rglob("*") if one.is_file() and one.relative_to(copied) not in wanted]:
            path.unlink()
    for path in wanted:
        if not (copied / path).exists() or not filecmp.cmp(source / path, copied / path, shallow=False):
            (copied / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / path, copied / path)
    compileall.compile_dir(copied, quiet=1)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sfumato" / _kernel_cache().name
    for path in (cache / _numba_folder(ROOT / KERNELS)).glob("*.nb[ic]"):
        compiled = _kernel_cache() / _numba_folder(_COPY / KERNELS) / path.name
        if not compiled.exists():
            compiled.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.copy2(path, compiled)


def _numba_folder(folder: Path) -> str:
    """Return the folder of a cache in which numba keeps what it compiled of the modules of a folder."""
    return f"{folder.name}_{hashlib.sha1(str(folder).encode(), usedforsecurity=False).hexdigest()}"


def _killed(mutant: Mutant, relying: _RelyingTests) -> bool:
    """Return whether a test fails with a mutant."""
    tests, seconds = relying.of(mutant)
    changed = _COPY / mutant.path
    original, times = changed.read_bytes(), changed.stat()
    unchanged = _kernel_cache()
    try:
        changed.write_text(mutated(original.decode(), mutant), encoding="utf-8")
        if KERNELS in mutant.path.parents:
            _keep_compiled(unchanged, relying.kernel_users(mutant))
        paths = [str(_COPY / test) if test.startswith("src/") else test for test in tests]
        return bool(paths) and not forked_tests.passes(paths, _COPY, _START + _SLOWER * seconds)
    finally:
        if _kernel_cache() != unchanged:
            shutil.rmtree(_kernel_cache(), ignore_errors=True)
        changed.write_bytes(original)
        os.utime(changed, ns=(times.st_atime_ns, times.st_mtime_ns))


def _kernel_cache() -> Path:
    """Return the folder of compiled kernels. Its name has a digest of the sources, as `sfumato.kernels.compile` says."""
    digest = hashlib.sha256()
    for path in sorted((_COPY / KERNELS).glob("*.py")):
        digest.update(path.read_bytes())
    return forked_tests.cache_of(_COPY) / "sfumato" / f"kernels-{digest.hexdigest()[:16]}"


def _keep_compiled(unchanged: Path, users: set[str]) -> None:
    """Give a mutant the compiled kernels that its change does not concern, so that only the others are compiled anew."""
    concerned = tuple(sorted({f"{Path(_file(one.partition(':')[0])).stem}." for one in users if str(KERNELS) in one}))
    for path in unchanged.rglob("*.nb[ic]"):
        if not path.name.startswith(concerned):
            copied = _kernel_cache() / path.relative_to(unchanged)
            copied.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.copy2(path, copied)
