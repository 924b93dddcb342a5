"""A lock that does not keep its owner from being copied."""

from __future__ import annotations

from threading import RLock
from typing import Any


class CacheLock:
    """A reentrant lock for a cache. A copy, also a pickled one, is a new lock: the owner's copy has its own cache.

    Locks of the standard library cannot be copied, so that `dataclasses.asdict` would fail on an object with one.
    """

    def __init__(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return CacheLock, ()
