"""Prefixes of codes: ZIP codes, diagnosis codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.hierarchy_builders.built_tree import built_tree, whole_numbers


@dataclass(frozen=True)
class Prefix(HierarchyBuilder):
    """Builds prefixes of codes, one level per length, from long to short: `02139` is `021*`, then `02*`, then `0*`.

    Letters and digits count; dots, dashes and other marks do not, and none is left at the end: with three characters,
    `250.83` is `250*`. A code that is shorter than a length stays as it is on that level.

    >>> Prefix((4, 3)).build(["250.83", "250", "V57"], "diagnosis").rows()
    [['250.83', '250.8*', '250*', '*'], ['250', '250', '250*', '*'], ['V57', 'V57', 'V57*', '*']]
    """

    lengths: tuple[int, ...]

    key: ClassVar[str] = "prefix"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", whole_numbers(self.lengths, self.key, rising=False))

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.lengths) + 1

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values."""
        return built_tree(values, [[_prefix(value, length) for length in self.lengths] for value in values], column)

    def is_node(self, label: str, level: int) -> bool:
        """Return whether a label is a prefix of the length of a level, or a shorter code.

        >>> Prefix((3, 2)).is_node("021*", 1), Prefix((3, 2)).is_node("021*", 2), Prefix((3, 2)).is_node("0", 2)
        (True, False, True)
        """
        length = self.lengths[level - 1]
        if label.endswith("*") and label[-2:-1].isalnum():
            return _counted(label) == length
        return _counted(label) < length


def _counted(text: str) -> int:
    return sum(map(str.isalnum, text))


def _prefix(value: str, length: int) -> str:
    """Return the shortest beginning of a value that has this many letters and digits, with a star."""
    counted = 0
    for position, character in enumerate(value):
        counted += character.isalnum()
        if counted == length:
            return value[: position + 1] + "*"
    return value
