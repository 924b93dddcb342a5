"""Whether a block's principles can be reached: an expensive question, asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Block = tuple[str, ...]
Reachable = Callable[[Block], bool]
"""Says whether the projected table of a block can satisfy the principles."""


@dataclass(eq=False)
class Asking:
    """Remembers each answer. If the principles are monotone, a block that holds a refused one is refused unasked.

    >>> asking = Asking(lambda block: len(block) < 2, monotone=True)
    >>> asking(("a",)), asking(("a", "b")), asking(("a", "b", "c")), asking.refused
    (True, False, False, [('a', 'b')])
    """

    reachable: Reachable
    monotone: bool = False
    refused: list[Block] = field(default_factory=list)
    """The blocks that were asked for in vain, in that order."""
    _granted: set[Block] = field(default_factory=set)
    _doomed: set[Block] = field(default_factory=set)

    def __call__(self, block: Block) -> bool:
        """Whether the principles can be reached on the block."""
        if block in self._granted:
            return True
        if self.doomed(block):
            return False
        if self.reachable(block):
            self._granted.add(block)
            return True
        self._doomed.add(block)
        self.refused.append(block)
        return False

    def doomed(self, block: Block) -> bool:
        """Whether it is known, without asking, that they cannot."""
        if self.monotone and block not in self._doomed and any(set(refused) <= set(block) for refused in self.refused):
            self._doomed.add(block)
        return block in self._doomed


@dataclass(eq=False)
class Doomed:
    """The blocks that are known to be refused, for many plans at a time: a block is a number with a bit for each member.

    >>> asking = Asking(lambda block: False)
    >>> asking(("a", "c"))
    False
    >>> Doomed(("a", "b", "c"), asking).among(np.array([[0b101, 0b010, 0b101], [0b001, 0b110, 0b110]])).tolist()
    [True, False]
    """

    names: Sequence[str]
    asking: Asking
    _refused: NDArray[np.bool_] = field(init=False)
    _known: int = 0

    def __post_init__(self) -> None:
        self._refused = np.zeros(1 << len(self.names), bool)

    def among(self, blocks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether one of the blocks of a plan, along the last axis, is refused."""
        for block in self.asking.refused[self._known :]:
            bits = sum(1 << self.names.index(name) for name in block)
            if self.asking.monotone:
                self._refused |= np.arange(len(self._refused)) & bits == bits
            self._refused[bits] = True
        self._known = len(self.asking.refused)
        return np.asarray(self._refused[blocks].any(axis=-1))
