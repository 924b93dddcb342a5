"""Which tests run which functions of the privacy core, and how long each takes.

The tests run once under a tracer that notes each function that is called. What is found is kept in `build/`, and only the
tests of files that changed run again. A compiled kernel calls nothing that a tracer sees: it is covered by the tests of
the functions that name it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src/sfumato")
KERNELS = PACKAGE / "kernels"
FOLDER = ROOT / "build" / "covering-tests"


class FunctionRecorder:
    """A plug-in of pytest that writes, for each file of tests, the functions that each of its tests calls."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._prefixes = tuple(str(ROOT / PACKAGE / package) for package in packages)
        self._seen: dict[int, CodeType] = {}
        self._prepared: dict[str, set[str]] = defaultdict(set)
        """For each file the functions that are called before a test, perhaps for all tests of the file."""
        self._called: dict[str, dict[str, tuple[float, set[str]]]] = defaultdict(dict)
        self._failed: set[str] = set()

    def _trace(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if id(code) not in self._seen:  # the hash of a code object is slow
            self._seen[id(code)] = code

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Note what is called to prepare a test."""
        self._begin()
        try:
            return (yield)
        finally:
            self._prepared[_file(item)] |= self._end()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Note what is called by a test."""
        start = time.process_time()
        self._begin()
        try:
            return (yield)
        finally:
            self._called[_file(item)][item.nodeid] = time.process_time() - start, self._end()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Leave out tests that do not pass without a change."""
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Write what the tests of a file call after the last of them."""
        file = _file(item)
        if nextitem is not None and _file(nextitem) == file:
            return
        tests = {
            name: {"seconds": round(seconds, 3), "functions": sorted(functions | self._prepared[file])}
            for name, (seconds, functions) in self._called.pop(file, {}).items()
            if name not in self._failed
        }
        place = _record(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({"file": file, "digest": _digest(file), "tests": tests}), encoding="utf-8")

    def _begin(self) -> None:
        self._seen.clear()
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def _end(self) -> set[str]:
        sys.settrace(None)
        threading.settrace(None)
        codes = [code for code in self._seen.values() if code.co_filename.startswith(self._prefixes)]
        return {f"{Path(code.co_filename).relative_to(ROOT)}:{_outermost(code.co_qualname)}" for code in codes}


def _file(item: pytest.Item) -> str:
    return str(item.path.relative_to(ROOT))


def _outermost(name: str) -> str:
    """Return the function that a function is defined in, if it is defined in one.

    >>> _outermost("Grid.rows.<locals>.<lambda>")
    'Grid.rows'
    """
    return name.partition(".<locals>")[0].replace("<module>", "")


def _digest(file: str) -> str:
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:16]


def _record(file: str) -> Path:
    return FOLDER / f"{file.replace('/', '.')}.json"


def stale(files: Sequence[str]) -> list[str]:
    """Return the files of tests that were not recorded yet, or were changed since."""
    return [file for file in files if not _record(file).exists() or _load(file)["digest"] != _digest(file)]


def _load(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_record(file).read_text(encoding="utf-8"))
    return found


def covering(files: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return for each function the tests that call it, with their seconds."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for file in files:
        if not _record(file).exists():
            continue
        for name, test in _load(file)["tests"].items():
            for function in test["functions"]:
                found[function][name] = test["seconds"]
    return found


def kernel_users(tests: Sequence[str]) -> dict[str, set[str]]:
    """Return for each kernel the functions and files of tests that use it, themselves or through other kernels."""
    kernels: dict[str, str] = {}
    for path in sorted((ROOT / KERNELS).glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for name in _defined(node):
                kernels[name] = f"{path.relative_to(ROOT)}:{name}"
    users: dict[str, set[str]] = {one: set() for one in kernels.values()}
    paths = [*sorted((ROOT / PACKAGE).rglob("*.py")), *(ROOT / test for test in tests if test.startswith("tests/"))]
    for path in paths:
        name = str(path.relative_to(ROOT))
        for function, code in _functions(ast.parse(path.read_text(encoding="utf-8"))):
            user = name if name.startswith("tests/") else f"{name}:{function}"
            for one in ast.walk(code):
                called = getattr(one, "id", None) or getattr(one, "attr", None)
                if called in kernels and kernels[called] != user:
                    users[kernels[called]].add(user)
    return {one: _reached(one, users) for one in users}


def _defined(node: ast.AST) -> list[str]:
    """Return the names of kernels and constants that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _functions(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.AST]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{inside}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield f"{inside}{node.name}", node
        else:
            yield inside.rstrip("."), node


def _reached(start: str, users: dict[str, set[str]]) -> set[str]:
    found, left = {start}, [start]
    while left:
        new = users.get(left.pop(), set()) - found
        found |= new
        left += new
    return found
