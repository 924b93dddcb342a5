"""Codes with masked characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.hierarchy_builders.built_tree import built_tree, whole_numbers
from sfumato.errors import ParameterError


@dataclass(frozen=True)
class Masking(HierarchyBuilder):
    """Builds codes with more and more characters masked, one level per number of them: `02139` is `0213*`, then `021**`.

    `side`: where masking begins, at the "right" or the "left" end. Letters and digits are masked; dots, dashes and other
    marks stay. The length of a value remains visible; use `Prefix` to hide it.

    >>> Masking((2, 3)).build(["02139", "02144"], "zip").rows()
    [['02139', '021**', '02***', '*'], ['02144', '021**', '02***', '*']]
    >>> Masking((4,), side="left").build(["1980-05-17"], "day").rows()
    [['1980-05-17', '****-05-17', '*']]
    """

    counts: tuple[int, ...]
    side: str = "right"
    character: str = "*"

    key: ClassVar[str] = "mask"

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", whole_numbers(self.counts, self.key, rising=True))
        if self.side not in ("right", "left"):
            raise ParameterError(
                f"invalid side {self.side!r}", remedy='Write "right" or "left".', key="side", value=self.side
            )
        if not isinstance(self.character, str) or len(self.character) != 1 or self.character.isalnum():
            raise ParameterError(
                f"invalid mask character {self.character!r}",
                remedy='Write one character that is neither a letter nor a digit, such as "*".',
                key="character",
                value=self.character,
            )

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.counts) + 1

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values."""
        return built_tree(values, [[self._masked(value, count) for count in self.counts] for value in values], column)

    def _masked(self, value: str, count: int) -> str:
        places = [place for place, character in enumerate(value) if character.isalnum()]
        hidden = set(places[-count:] if self.side == "right" else places[:count])
        return "".join(self.character if place in hidden else character for place, character in enumerate(value))

    def is_node(self, label: str, level: int) -> bool:
        """Return whether a label has the number of masked characters of a level, or nothing but masked characters.

        >>> Masking((2, 3)).is_node("021**", 1), Masking((2, 3)).is_node("0213*", 1)
        (True, False)
        """
        shown = label[::-1] if self.side == "right" else label
        counted = [character for character in shown if character.isalnum() or character == self.character]
        return all(character == self.character for character in counted[: self.counts[level - 1]])
