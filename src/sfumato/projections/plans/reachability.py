"""Whether the principles can be reached in the table of a block: an expensive test that runs once per block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Block = tuple[str, ...]
Reachable = Callable[[Block], bool]
"""Returns whether the projected table of a block can satisfy the principles."""


@dataclass(eq=False)
class ReachabilityCache:
    """Calls the test at most once per block.

    If the principles are monotone, a superset of an unreachable block is unreachable without a test.

    >>> cache = ReachabilityCache(lambda block: len(block) < 2, monotone=True)
    >>> cache(("a",)), cache(("a", "b")), cache(("a", "b", "c")), cache.unreachable
    (True, False, False, [('a', 'b')])
    """

    test: Reachable
    monotone: bool = False
    unreachable: list[Block] = field(default_factory=list)
    """The blocks that were tested and are unreachable, in the order of the tests."""
    _reachable: set[Block] = field(default_factory=set)
    _excluded: set[Block] = field(default_factory=set)
    """Blocks known to be unreachable: tested, or (if monotone) a superset of one that was."""

    def __call__(self, block: Block) -> bool:
        """Return whether the principles can be reached on the block."""
        if block in self._reachable:
            return True
        if self.excludes(block):
            return False
        if self.test(block):
            self._reachable.add(block)
            return True
        self._excluded.add(block)
        self.unreachable.append(block)
        return False

    def excludes(self, block: Block) -> bool:
        """Return whether the block is known to be unreachable, without a test."""
        if self.monotone and block not in self._excluded and any(set(each) <= set(block) for each in self.unreachable):
            self._excluded.add(block)
        return block in self._excluded


@dataclass(eq=False)
class UnreachableBlocks:
    """A lookup of unreachable blocks for many plans at a time; a block is an integer with bit i set for attribute i.

    >>> cache = ReachabilityCache(lambda block: False)
    >>> cache(("a", "c"))
    False
    >>> UnreachableBlocks(("a", "b", "c"), cache).any_in(np.array([[0b101, 0b010, 0b101], [0b001, 0b110, 0b110]])).tolist()
    [True, False]
    """

    names: Sequence[str]
    cache: ReachabilityCache
    _table: NDArray[np.bool_] = field(init=False)
    """One entry for each of the 2^attributes blocks."""
    _entered: int = 0
    """How many of the cache's unreachable blocks are in the table already."""

    def __post_init__(self) -> None:
        self._table = np.zeros(1 << len(self.names), bool)

    def any_in(self, blocks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether any block of a plan, along the last axis, is unreachable."""
        for block in self.cache.unreachable[self._entered :]:
            bits = sum(1 << self.names.index(name) for name in block)
            if self.cache.monotone:  # all supersets
                self._table |= np.arange(len(self._table)) & bits == bits
            self._table[bits] = True
        self._entered = len(self.cache.unreachable)
        return np.asarray(self._table[blocks].any(axis=-1))
