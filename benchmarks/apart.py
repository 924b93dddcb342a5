"""Work in a process of its own, so that a peak of memory has one cause."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def apart(work: Callable[..., T], *arguments: Any) -> T:
    """Do some work in a process of its own, started afresh."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def peak_megabytes() -> int:
    """The peak of this process's memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000  # KiB on Linux
