"""A progress bar with the remaining time, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.progress import Progress


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show the current step, its progress and the remaining time on standard error, if that is a terminal."""
    from sfumato.progress import silent

    if sys.stderr is None or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    errors = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    # the remaining time is estimated from the last half minute, because passes differ in length
    with Progress(*columns, TimeLeft(compact=True), console=errors, transient=True, speed_estimate_period=30) as bar:
        task = bar.add_task("starting", total=None)
        now = "starting"

        def show(step: str, share: float | None = None) -> None:
            nonlocal now
            if step != now:
                bar.reset(task, description=step, total=None if share is None else 1.0)
                now = step
            bar.update(task, total=None if share is None else 1.0, completed=share or 0.0, refresh=True)

        yield show


def announce_compilation(progress: Progress) -> None:
    """Announce the compilation of kernels before the first run."""
    from sfumato.kernels.compile import compiled_before

    if not compiled_before():
        progress("first use: kernels are compiled, which takes about a minute")
