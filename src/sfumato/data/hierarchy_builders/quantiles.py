"""Ranges of numbers with about the same number of rows each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder, number_of
from sfumato.data.hierarchy_builders.built_tree import whole_numbers
from sfumato.data.hierarchy_builders.ranges import Ranges, simple_number_between
from sfumato.exact import written

if TYPE_CHECKING:
    from sfumato.data.column import Column


@dataclass(frozen=True)
class Quantiles(HierarchyBuilder):
    """Builds ranges of numbers with about the same number of rows each, one level per number of ranges.

    Each number of ranges is a multiple of the next, so that levels nest: `(10, 5)` are tenths, then fifths. Equal numbers
    are never separated, so there may be fewer ranges. The ends of the lowest and the highest range are open, and each cut is
    the decimal with the fewest digits between two values. So a release, which states the cuts, contains neither the lowest
    and the highest value nor, usually, a value next to a cut. It does reveal about how many rows lie below each cut.

    >>> Quantiles((4, 2)).build(["17", "19", "34", "61"], "age").labels[1:3]
    (('< 18', '[18, 20)', '[20, 40)', '>= 40'), ('< 20', '>= 20'))
    """

    parts: tuple[int, ...]

    key: ClassVar[str] = "quantiles"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", whole_numbers(self.parts, self.key, rising=False, multiples=True))

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.parts) + 1

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values, each counted once; `resolved` counts rows."""
        return self._ranges(values, np.ones(len(values), np.int64), column).build(values, column)

    def resolved(self, column: Column) -> Ranges:
        """Return the ranges that the rows of a column give."""
        values = [column.labels(code) for code in range(column.size)]
        return self._ranges(values, column.counts[: column.size], column.name)

    def _ranges(self, values: Sequence[str], counts: NDArray[np.int64], column: str) -> Ranges:
        rows = sorted((number_of(value, column, "quantiles"), int(n)) for value, n in zip(values, counts, strict=True))
        numbers = [number for number, _ in rows]
        upto = [0, *accumulate(count for _, count in rows)]  # exact: a number of parts may be of any size
        levels = []
        for parts in self.parts:
            # a value ends the i-th of the parts if it is the first up to which at least i of them lie
            ended = [below * parts // max(1, upto[-1]) for below in upto]
            last = [place for place in range(len(numbers) - 1) if ended[place] < min(ended[place + 1], parts - 1)]
            cuts = {simple_number_between(numbers[place], numbers[place + 1]) for place in last}
            levels.append(["-inf", *map(written, sorted(cuts)), "inf"])
        return Ranges(levels)  # type: ignore[arg-type]

    def may_resolve_to(self, other: Any) -> bool:
        """Return whether `resolved` of some column may be another builder."""
        return isinstance(other, Ranges) and other.height == self.height

    def is_node(self, label: str, level: int) -> bool:
        """Return False: a release states the ranges, not this builder."""
        return False
