"""Work on several items at once, in threads: kernels release the interpreter lock, and arrays need not be copied.

Processes take as much CPU time as threads and more memory, because each of them has its own copy of what it works on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TypeVar

from sfumato.progress import Progress
from sfumato.workers import available_workers

Item = TypeVar("Item")
Result = TypeVar("Result")

_LOOK = 0.1
"""Seconds between two reports of the progress, and after which an interruption is noticed at the latest."""

_STACK = 64 * 1024 * 1024
"""Bytes of stack of each thread. Some systems give threads far less than the main thread has."""


class _StoppedError(Exception):
    """Raised in a thread whose result nobody waits for any more."""


def map_in_threads(
    work: Callable[[Item, Progress], Result],
    items: Sequence[Item],
    weights: Sequence[float],
    progress: Callable[[float], None],
    workers: int | None = None,
) -> list[Result]:
    """Return `work(item, report)` of all items, in their order. What one of them raises ends the others and is raised.

    `weights` is how long the work on each item takes, relative to the others: `progress` receives the share of all work
    that is done, always in the calling thread. Items with much work are started first. An interruption ends the threads
    when they next report their own progress.

    >>> map_in_threads(lambda item, report: item * item, [1, 2, 3], [1, 1, 1], lambda share: None, workers=2)
    [1, 4, 9]
    """
    shares, total = [0.0] * len(items), max(sum(weights), 1e-9)
    stopped = threading.Event()
    in_threads = min(workers or available_workers(), len(items)) > 1

    def done() -> float:
        return sum(weight * share for weight, share in zip(weights, shares, strict=True)) / total

    def run(number: int) -> Result:
        def report(step: str, share: float | None = None) -> None:
            del step
            if stopped.is_set():
                raise _StoppedError
            shares[number] = max(shares[number], share or 0.0)
            if not in_threads:
                progress(done())

        result = work(items[number], report)
        shares[number] = 1.0
        return result

    if not in_threads:
        return [run(number) for number in range(len(items))]
    before = threading.stack_size(_STACK)
    executor = ThreadPoolExecutor(min(workers or available_workers(), len(items)), "sfumato-search")
    try:
        order = sorted(range(len(items)), key=lambda number: -weights[number])
        futures = {number: executor.submit(run, number) for number in order}
        threading.stack_size(before)
        pending = set(futures.values())
        while pending:
            # a short wait, because an exception is raised in this thread only between two instructions
            finished, pending = wait(pending, _LOOK, FIRST_COMPLETED)
            for future in finished:
                future.result()
            progress(done())
        return [futures[number].result() for number in range(len(items))]
    finally:
        threading.stack_size(before)
        stopped.set()
        executor.shutdown(wait=False, cancel_futures=True)
