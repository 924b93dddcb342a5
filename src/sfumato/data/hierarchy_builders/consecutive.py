"""Groups of consecutive values of an ordered column."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sfumato.data.column import as_member
from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder, number_of
from sfumato.data.hierarchy_builders.built_tree import built_tree, whole_numbers
from sfumato.data.schema import Kind
from sfumato.errors import HierarchyError, ParameterError

if TYPE_CHECKING:
    from sfumato.data.column import Column


@dataclass(frozen=True)
class Consecutive(HierarchyBuilder):
    """Builds groups of consecutive values, one level per number of values in a group; each a multiple of the one before.

    The order is that of the column: declared for an ordinal one, ascending for numbers, by text for all others. A group is
    `[first, last]`. `bounds`: the first and the last value of each group of the first level, where they are known; other
    values than those between them are then an error. A release states the bounds and no value between them. Those of an
    ordinal column follow from its order.

    >>> Consecutive((2, 4)).build(["none", "primary", "secondary", "college", "doctorate"], "education").labels[1:3]
    (('[none, primary]', '[secondary, college]', 'doctorate'), ('[none, college]', 'doctorate'))
    """

    sizes: tuple[int, ...]
    bounds: tuple[tuple[str, str], ...] | None = None
    numeric: bool = False
    """Whether the bounds are compared as numbers."""

    key: ClassVar[str] = "consecutive"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", whole_numbers(self.sizes, self.key, rising=True, multiples=True))
        if self.bounds is None:
            return
        pairs = tuple(tuple(map(str, pair)) for pair in self.bounds)
        if not all(len(pair) == 2 for pair in pairs) or self._ordered(pairs) != sorted(self._ordered(pairs)):
            raise ParameterError(
                "the bounds of consecutive groups do not rise",
                remedy="Write the first and the last value of each group, in their order.",
                key="bounds",
                value=self.bounds,
            )
        object.__setattr__(self, "bounds", pairs)

    def _ordered(self, pairs: Sequence[Sequence[str]]) -> list[Any]:
        return [self._position(end, "bounds") for pair in pairs for end in pair]

    def _position(self, value: str, column: str) -> Fraction | str:
        return number_of(value, column, "numeric bounds") if self.numeric else value

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.sizes) + 1

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values, which are in their order unless there are bounds."""
        narrow = self.sizes[0]
        if self.bounds is None:
            bounds = [(values[i], values[min(i + narrow, len(values)) - 1]) for i in range(0, len(values), narrow)]
            group = [i // narrow for i in range(len(values))]
        else:
            bounds = list(self.bounds)
            group = [self._group(value, column) for value in values]
        labels = [_level_labels(bounds, size // narrow) for size in self.sizes]
        return built_tree(values, [[level[number] for level in labels] for number in group], column)

    def _group(self, value: str, column: str) -> int:
        assert self.bounds is not None
        at = self._position(value, column)
        number = bisect_right([self._position(first, column) for first, _ in self.bounds], at) - 1
        if number < 0 or at > self._position(self.bounds[number][1], column):  # type: ignore[operator]
            raise HierarchyError(
                f"{value!r} lies in none of the groups of consecutive values",
                remedy="Add a group that contains it, or leave out the bounds.",
                column=column,
                value=value,
            )
        return number

    def resolved(self, column: Column) -> Consecutive:
        """Return the builder with the bounds that the values of a column give; itself if those follow from the order."""
        if self.bounds is not None or column.kind is Kind.ORDINAL or not column.size:
            return self
        narrow, last = self.sizes[0], column.size - 1
        bounds = tuple((column.labels(i), column.labels(min(i + narrow - 1, last))) for i in range(0, column.size, narrow))
        return replace(self, bounds=bounds, numeric=column.numbers is not None)

    def may_resolve_to(self, other: Any) -> bool:
        """Return whether `resolved` of some column may be another builder."""
        return self == other or (self.bounds is None and isinstance(other, Consecutive) and other.sizes == self.sizes)

    def is_node(self, label: str, level: int) -> bool:
        """Return whether a label is one of the groups of a level."""
        if self.bounds is None:
            return True  # the groups follow from the order of the column, which is not known here
        return label in _level_labels(self.bounds, self.sizes[level - 1] // self.sizes[0])


def _level_labels(bounds: Sequence[tuple[str, str]], per: int) -> list[str]:
    """Return, for each group of the first level, the label of the group of `per` of them that it lies in."""
    labels = []
    for number in range(len(bounds)):
        start = number // per * per
        first, last = bounds[start][0], bounds[min(start + per, len(bounds)) - 1][1]
        labels.append(first if first == last else f"[{as_member(first)}, {as_member(last)}]")
    return labels
