"""How many threads may work at once, and work in a thread beside the one that needs its result later."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import TypeVar

from sfumato.errors import ParameterError
from sfumato.storage import active_storage

Result = TypeVar("Result")

WORKERS = "SFUMATO_WORKERS"
"""The environment variable that limits the number of threads."""


def available_workers() -> int:
    """Return how many threads to use: `SFUMATO_WORKERS` if it is set, otherwise the cores that this process may use.

    No result depends on it. `ParameterError` if the variable is not a whole number of at least 1.
    """
    requested = os.environ.get(WORKERS, "").strip()
    if requested:
        if not requested.isdecimal() or int(requested) < 1:
            raise ParameterError(
                f"the environment variable {WORKERS} is {requested!r}, not a whole number of at least 1",
                remedy=f"Set {WORKERS} to a number of threads such as 2, or unset it to use all cores.",
                key=WORKERS,
                value=requested,
            )
        return int(requested)
    if hasattr(os, "sched_getaffinity"):  # the cores that the scheduler allows, such as those of a container
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def meanwhile(*work: Callable[[], Result]) -> Iterator[list[Callable[[], Result]]]:
    """Do work, one after the other, in a thread beside the calling one; yield a function for the result of each.

    Such a function waits for its result, and raises what the work raised. What nobody asks for is not raised. At the end
    of the context the thread has ended. Where one thread must do, or a storage is active, because memory is scarce, the
    work is done when its result is requested.

    >>> with meanwhile(lambda: 6 * 7, lambda: 1 // 0) as (product, quotient):
    ...     product()
    42
    """
    if available_workers() == 1 or active_storage() is not None:
        yield [cache(one) for one in work]
        return
    with ThreadPoolExecutor(1, "sfumato-meanwhile") as thread:
        futures = [thread.submit(copy_context().run, one) for one in work]
        try:
            yield [future.result for future in futures]
        finally:
            for future in futures:
                future.cancel()  # what has not begun
