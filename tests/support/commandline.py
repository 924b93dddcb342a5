"""Run the command lines from a test, with a result like that of a process."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from benchmarks.__main__ import main as benchmarks_main
from sfumato.cli import main as sfumato_main


def sfumato(*arguments, cwd=None, env=None, quiet=True):
    """Run a verb of sfumato; without lines of progress, which depend on the speed of the machine, if it is `quiet`."""
    return _run("sfumato", sfumato_main, ("--quiet", *arguments) if quiet else arguments, cwd, env)


def benchmark(*arguments, cwd=None, env=None):
    """Run a benchmark, as `python -m benchmarks` does."""
    return _run("benchmarks", benchmarks_main, arguments, cwd, env)


def benchmark_without_data(*arguments):
    """Run a benchmark in this process, as for a reader without the real data: on the synthetic census."""
    with mock.patch.dict(os.environ, SFUMATO_DATA=""):
        return benchmark(*arguments)


def _run(package, main, arguments, cwd, env):
    """Run in this process, which is faster; in a separate process if an environment is given."""
    if env is not None:
        return subprocess.run(
            [sys.executable, "-m", package, *arguments],
            capture_output=True,
            text=True,
            cwd=cwd,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
            check=False,
        )
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd or Path.cwd()), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main(list(arguments), prog_name=package)
        except SystemExit as end:
            code = end.code
    return subprocess.CompletedProcess(arguments, code or 0, out.getvalue(), errors.getvalue())
