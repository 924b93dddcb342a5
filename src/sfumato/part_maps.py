"""Where the parts of a table are worked on: in threads of this process, or wherever an engine sends them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from sfumato.progress import Progress


@dataclass(frozen=True, eq=False)
class PartWork:
    """Work on each part of a table alone. All but `part` can be sent to another process, and so can parts and results."""

    run: Callable[[Any, Any, Progress], Any]
    """Return the result of a part, given what all parts share, the part, and a callback for its progress."""
    warm_up: Callable[[Any, Any], None]
    """Compile what `run` needs, given the same; called once on each host before the first part."""
    variant: str
    """What decides which kernels are compiled: work of the same variant needs the same ones."""
    shared: Any
    """What all parts share."""
    part: Callable[[int], Any]
    """Return the part of a number, from 0. It needs the whole table, so it is called in this process only."""
    weights: Sequence[float]
    """How long the work on each part takes, relative to the others."""


class PartMap(Protocol):
    """Works on all parts somewhere, and returns their results in the order of the parts.

    `progress` receives the share of all work that is done, in the calling thread.
    """

    def __call__(self, work: PartWork, progress: Callable[[float], None]) -> list[Any]:
        """Return the result of each part; what the work on one of them raises is raised."""


_map: ContextVar[PartMap | None] = ContextVar("part map", default=None)


def active_part_map() -> PartMap | None:
    """Return the map that an engine provides; None if parts are worked on in threads of this process."""
    return _map.get()


@contextmanager
def mapping_parts(part_map: PartMap) -> Iterator[None]:
    """Have parts worked on by a map meanwhile."""
    token = _map.set(part_map)
    try:
        yield
    finally:
        _map.reset(token)
