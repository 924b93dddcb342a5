"""Whether a block's principles can be reached: an expensive question, asked once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Block = tuple[str, ...]
Reachable = Callable[[Block], bool]
"""Says whether the projected table of a block can satisfy the principles."""


@dataclass(eq=False)
class Asking:
    """Remembers each answer. If the principles are monotone, a block that holds a refused one is refused unasked.

    >>> asking = Asking(lambda block: len(block) < 2, monotone=True)
    >>> asking(("a",)), asking(("a", "b")), asking(("a", "b", "c")), asking.refused
    (True, False, False, (('a', 'b'),))
    """

    reachable: Reachable
    monotone: bool = False
    answers: dict[Block, bool] = field(default_factory=dict)
    _doomed: set[Block] = field(default_factory=set)

    def __call__(self, block: Block) -> bool:
        """Whether the principles can be reached on the block."""
        if self.doomed(block):
            return False
        if block not in self.answers:
            self.answers[block] = bool(self.reachable(block))
        return self.answers[block]

    def doomed(self, block: Block) -> bool:
        """Whether it is known, without asking, that they cannot."""
        if self.answers.get(block) is False or block in self._doomed:
            return True
        if self.monotone and any(set(refused) <= set(block) for refused in self.refused):
            self._doomed.add(block)
        return block in self._doomed

    @property
    def refused(self) -> tuple[Block, ...]:
        """The blocks that were asked for in vain, in that order."""
        return tuple(block for block, answer in self.answers.items() if not answer)
