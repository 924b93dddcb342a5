"""CPU time of the first use after installation, by command: each command with an empty kernel cache, and once more.

The baseline is the CPU time of a Python process that imports numba and compiles one line.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measurement import Notify, silent
from sfumato.errors import ParameterError

GOAL = {"demo": 25.0}
"""The project's goal in CPU seconds, with an empty cache."""

_ROWS = 2000
"""Rows of the commands other than demo, which has its own: few, so that compilation is most of the time."""

_COMMANDS: dict[str, list[str]] = {
    "demo": ["demo"],
    "init": ["init", "demo/people.csv", "--output", "draft.toml"],
    "audit": ["audit", "demo/sfumato.toml"],
    "frontier": ["frontier", "demo/sfumato.toml"],
    "anonymize": ["anonymize", "demo/sfumato.toml", "--output", "release"],
    "verify": ["verify", "demo/release", "--original", "demo/people.csv"],
}

_BASELINE = "import numba; numba.njit(lambda x: x + 1)(1)"


def run(commands: Sequence[str], notify: Notify = silent) -> dict[str, Any]:
    """Measure each command, all if none is named; `notify` receives the progress."""
    for name in commands:
        if name not in _COMMANDS:
            raise ParameterError(f"unknown command '{name}'", remedy=f"Choose from: {', '.join(_COMMANDS)}.", key="commands")
    with tempfile.TemporaryDirectory() as folder:
        notify("baseline")
        baseline = _cpu_seconds(["-c", _BASELINE], Path(folder), "baseline")
        notify("a table, and a release of it")
        _cpu_seconds(["-m", "sfumato", "demo", "--rows", str(_ROWS), "--save", "demo"], Path(folder), None)
        runs = []
        for name in commands or _COMMANDS:
            notify(name)
            arguments = ["-m", "sfumato", "--quiet", *_COMMANDS[name]]
            first = _cpu_seconds(arguments, Path(folder), name)
            again = _cpu_seconds([*arguments, *(["--force"] if "--output" in arguments else [])], Path(folder), name)
            runs.append(
                {
                    "command": name,
                    "first use, CPU s": round(first, 1),
                    "again, CPU s": round(again, 1),
                    "first use / baseline": round(first / baseline, 1),
                    "goal: first use, CPU s": GOAL.get(name),
                }
            )
    return {"baseline, CPU s": round(baseline, 2), "runs": runs}


def _cpu_seconds(arguments: Sequence[str], folder: Path, cache: str | None) -> float:
    """Run Python in a folder; return the user and system time of the process and its children.

    Compiled kernels are kept in a cache of this name in the folder; without a name, in the user's cache.
    """
    environment = dict(os.environ)
    if cache is not None:
        environment.pop("NUMBA_CACHE_DIR", None)
        environment["XDG_CACHE_HOME"] = str(folder / f"cache of {cache}")
    before = os.times()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    after = os.times()
    if done.returncode not in (0, 1):  # 1: a principle does not hold
        raise RuntimeError(done.stderr)
    return after.children_user + after.children_system - before.children_user - before.children_system
