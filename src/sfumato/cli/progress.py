"""A progress bar with the time left, on a terminal; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.progress import Progress


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show on standard error, if that is a terminal, which step is under way, how far it is, and how long it will take."""
    from sfumato.progress import silent

    if sys.stderr is None or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    errors = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    # the time left is reckoned from the last half minute: passes differ in length
    with Progress(*columns, TimeLeft(compact=True), console=errors, transient=True, speed_estimate_period=30) as bar:
        task = bar.add_task("starting", total=None)
        now = "starting"

        def told(step: str, share: float | None = None) -> None:
            nonlocal now
            if step != now:
                bar.reset(task, description=step, total=None if share is None else 1.0)
                now = step
            bar.update(task, total=None if share is None else 1.0, completed=share or 0.0, refresh=True)

        yield told


def tell_first_use(progress: Progress) -> None:
    """Say why the first run takes longer, before it does."""
    from sfumato.kernels.compile import compiled_before

    if not compiled_before():
        progress("first use: kernels are compiled, which takes about a minute")
