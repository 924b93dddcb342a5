"""End a run within two seconds of Ctrl-C or a termination signal, whatever it is doing.

Python calls a signal handler only between two instructions of the main thread, and a compiled kernel is one instruction
that may take minutes. So the work runs in a thread of its own, while the main thread only waits. Kernels release the
interpreter lock, which lets the main thread react at once. On a signal it raises KeyboardInterrupt in the working thread,
which cleans up on its way out. If that takes too long, because a kernel is running, the main thread removes the temporary
files and ends the process.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any, NoReturn

from sfumato.temporaries import placing, remove_temporaries

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Ctrl-C, `kill`, and the end of the terminal."""

_GRACE = 0.8
"""Seconds that the work has to clean up on its own."""

_PATIENCE = 0.1
"""Seconds that the main thread waits before it looks whether a signal has arrived."""

_STACK = 64 * 1024 * 1024
"""Bytes of stack of the working thread. Some systems give threads far less than the main thread has."""

_STOPPED = "sfumato: stopped; nothing was left half-written."

_SHOW_CURSOR = "\r\x1b[2K\x1b[?25h"
"""Erase the line of a progress bar, and show the cursor that the bar hides."""


def run_interruptibly(work: Callable[[], Any]) -> Any:
    """Return what `work` returns, or raise what it raises; on a signal exit with 128 plus its number, as shells expect.

    Outside the main thread, which alone receives signals, the work is simply done.

    >>> run_interruptibly(lambda: 42)
    42
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    events: SimpleQueue[int | None] = SimpleQueue()  # its `put` may be called by a signal handler
    results: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again in the main thread
            errors.append(error)
        finally:
            events.put(None)

    with _handled(events):
        worker = _started(run)
        number = _next_signal(events)
        if number is not None:
            _interrupt(worker)
            with suppress(Empty):  # the end of the work, a second signal, or the end of patience
                events.get(timeout=_GRACE)
            if not results:  # otherwise the work was faster than the signal
                _exit_now(number)
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def _handled(events: SimpleQueue[int | None]) -> Iterator[None]:
    """Queue signals instead of handling them; one that the parent process told this one to ignore stays ignored."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: events.put(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _started(run: Callable[[], None]) -> threading.Thread:
    """Start a thread that does not keep the process alive."""
    worker = threading.Thread(target=run, name="sfumato", daemon=True)
    before = threading.stack_size(_STACK)
    try:
        worker.start()
    finally:
        threading.stack_size(before)
    return worker


def _next_signal(events: SimpleQueue[int | None]) -> int | None:
    """Return the next signal, or None at the end of the work.

    A signal that arrives just before the wait begins does not end the wait, and Windows never ends one: so wait briefly,
    again and again.
    """
    while True:
        with suppress(Empty):
            return events.get(timeout=_PATIENCE)


def _interrupt(worker: threading.Thread) -> None:
    """Raise KeyboardInterrupt in a thread before its next instruction, but not while it puts a folder in place."""
    held = placing.acquire(timeout=_GRACE / 2)
    try:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident or 0), ctypes.py_object(KeyboardInterrupt))
    finally:
        if held:
            placing.release()


def _exit_now(number: int) -> NoReturn:
    """Remove temporary files and end the process, without waiting for threads or for libraries that clean up."""
    remove_temporaries()
    with suppress(OSError):
        if sys.stderr is not None:
            print(f"{_SHOW_CURSOR if sys.stderr.isatty() else ''}{_STOPPED}", file=sys.stderr, flush=True)
        if sys.stdout is not None:
            sys.stdout.flush()
    os._exit(128 + number)
