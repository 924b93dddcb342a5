"""The command line as a test calls it: what comes back is as of a process."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

from sfumato.cli import main


def sfumato(*arguments, cwd=None, env=None):
    """Run a verb in this process, which spares its start; in a process of its own if it is to have an environment."""
    if env is not None:
        return subprocess.run(
            [sys.executable, "-m", "sfumato", *arguments],
            capture_output=True,
            text=True,
            cwd=cwd,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
            check=False,
        )
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd or Path.cwd()), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main(list(arguments), prog_name="sfumato")
        except SystemExit as end:
            code = end.code
    return subprocess.CompletedProcess(arguments, code or 0, out.getvalue(), errors.getvalue())
