"""The progress of long work on standard error: a bar with the remaining time on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from sfumato.cli.streams import complain

if TYPE_CHECKING:
    from sfumato.progress import Progress

_FIRST = 2.0
"""Seconds after which the first line is written, so that short work writes none; no two lines are closer than that."""

_LATEST = 10.0
"""Seconds after which a line is written even if nothing has changed."""

_STEP = 0.1
"""The share of a step after which a line is written."""


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show the current step, its progress and the time on standard error; nothing with `sfumato --quiet`."""
    from sfumato.progress import silent

    if sys.stderr is None or _is_quiet():
        yield silent
        return
    with _bar() if sys.stderr.isatty() else _lines() as show, ExitStack() as listening:
        yield _CompilationNotice(show, listening)


@contextmanager
def _lines() -> Iterator[Progress]:
    """Progress as lines of text, also while the work itself reports nothing."""
    lines = ProgressLines(complain)
    ticking = threading.Event()
    clock = threading.Thread(target=_tick, args=(lines, ticking), daemon=True)
    clock.start()
    try:
        yield lines.show
    finally:
        ticking.set()
        clock.join()  # no line is written after the work


def _is_quiet() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().params.get("quiet"))


def _tick(lines: ProgressLines, ended: threading.Event) -> None:
    """Have lines written while the work itself reports nothing, because a kernel is running."""
    while not ended.wait(_FIRST / 4):
        lines.tick()


class ProgressLines:
    """Progress as lines of text, for a log: one when a step begins, one per tenth of a step, and one every ten seconds.

    The first line is written after two seconds, and no two lines are closer than that.

    >>> now = 0.0
    >>> lines = ProgressLines(print, clock=lambda: now)
    >>> lines.show("reading")
    >>> now = 2.5
    >>> lines.show("finding groups", 0.25)
    sfumato: finding groups, 25 % (2 s)
    >>> now = 12.5
    >>> lines.tick()
    sfumato: finding groups, 25 % (12 s)
    """

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._start = clock()
        self._last = self._start + _FIRST - _LATEST  # when the last line was written: the first is due after `_FIRST`
        self._step = "starting"
        self._share: float | None = None
        self._written: tuple[str, float | None] = ("", None)
        self._lock = threading.Lock()

    def show(self, step: str, share: float | None = None) -> None:
        """Take note of the current step and its share, and write a line if one is due."""
        with self._lock:
            self._step, self._share = step, share
            self._write_if_due()

    def tick(self) -> None:
        """Write a line if one is due, though the work has reported nothing."""
        with self._lock:
            self._write_if_due()

    def _write_if_due(self) -> None:
        now = self._clock()
        step, share = self._written
        changed = step != self._step or (self._share or 0.0) >= (share or 0.0) + _STEP
        if now - self._start < _FIRST or now - self._last < (_FIRST if changed else _LATEST):
            return
        share_shown = "" if self._share is None else f", {100 * self._share:.0f} %"
        self._write(f"sfumato: {self._step}{share_shown} ({now - self._start:.0f} s)")
        self._last, self._written = now, (self._step, self._share)


@contextmanager
def _bar() -> Iterator[Progress]:
    """A progress bar with the remaining time."""
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


class _CompilationNotice:
    """Shows that kernels are compiled, for as long as that takes, in place of the current step.

    It listens as soon as the kernels are imported: commands without kernels do not import them for this.
    """

    def __init__(self, show: Progress, listening: ExitStack) -> None:
        self._show, self._listening = show, listening
        self._is_listening = False
        self._current: tuple[str, float | None] = ("starting", None)

    def __call__(self, step: str, share: float | None = None) -> None:
        if not self._is_listening and "sfumato.kernels.compile" in sys.modules:
            from sfumato.kernels.compile import watch_compilation

            self._listening.enter_context(watch_compilation(self._began, self._ended))
            self._is_listening = True
        self._current = (step, share)
        self._show(step, share)

    def _began(self) -> None:
        self._show("compiling kernels: the first use takes about 20 s longer")

    def _ended(self) -> None:
        self._show(*self._current)
