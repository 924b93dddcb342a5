"""The most frequent values, with all others merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.hierarchy_builders.built_tree import whole_numbers
from sfumato.data.hierarchy_builders.named_groups import NamedGroups

if TYPE_CHECKING:
    from sfumato.data.column import Column


@dataclass(frozen=True)
class Frequent(HierarchyBuilder):
    """Builds levels that keep the most frequent values and merge all others, one level per number of values that are kept.

    Of equally frequent values the first in the order of the column is kept. A release lists the values that are kept, in
    the order of the column, and never those that are merged. It reveals that each kept value is at least as frequent as all
    merged ones.

    >>> Frequent((2, 1)).build(["a", "b", "c"], "letter").rows()
    [['a', 'a', 'a', '*'], ['b', 'b', 'not in the top 1', '*'], ['c', 'not in the top 2', 'not in the top 1', '*']]
    """

    kept: tuple[int, ...]

    key: ClassVar[str] = "frequent"

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", whole_numbers(self.kept, self.key, rising=False))

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.kept) + 1

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values, each counted once; `resolved` counts rows."""
        return self._groups(values, np.ones(len(values), np.int64)).build(values, column)

    def resolved(self, column: Column) -> NamedGroups:
        """Return the groups that the rows of a column give."""
        values = [column.labels(code) for code in range(column.size)]
        return self._groups(values, column.counts[: column.size])

    def _groups(self, values: Sequence[str], counts: NDArray[np.int64]) -> NamedGroups:
        ranked = np.argsort(-counts, kind="stable").tolist()
        levels = [tuple((values[code], (values[code],)) for code in sorted(ranked[:kept])) for kept in self.kept]
        return NamedGroups(tuple(levels), tuple(f"not in the top {kept}" for kept in self.kept))

    def may_resolve_to(self, other: Any) -> bool:
        """Return whether `resolved` of some column may be another builder."""
        return isinstance(other, NamedGroups) and other.height == self.height

    def is_node(self, label: str, level: int) -> bool:
        """Return False: a release states the groups, not this builder."""
        return False
