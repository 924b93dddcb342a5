"""Groups of values with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.hierarchy_builders.built_tree import built_tree
from sfumato.errors import HierarchyError, ParameterError


@dataclass(frozen=True)
class NamedGroups(HierarchyBuilder):
    """Builds groups of values with names, one level after another; from the second level on, groups of names.

    `rest`: the name of the group of everything that is not listed, one for all levels or one per level. Without it, a value
    that is not listed is an error.

    >>> NamedGroups([{"lung": ["flu", "asthma"], "gut": ["ulcer"]}]).build(["asthma", "ulcer"], "ill").rows()
    [['asthma', 'lung', '*'], ['ulcer', 'gut', '*']]
    >>> NamedGroups([{"lung": ["flu", "asthma"]}], rest="other").build(["flu", "gout"], "ill").generalize("gout", 1)
    'other'
    """

    levels: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]
    """For each level its groups: the name and what the group contains."""
    rest: str | tuple[str, ...] | None = None

    key: ClassVar[str] = "groups"

    def __post_init__(self) -> None:
        declared = self.levels if isinstance(self.levels, list | tuple) else (self.levels,)
        object.__setattr__(self, "levels", tuple(map(self._level, declared)))
        if isinstance(self.rest, list):
            object.__setattr__(self, "rest", tuple(self.rest))
        if not self.levels or (isinstance(self.rest, tuple) and len(self.rest) != len(self.levels)):
            raise self._invalid("there is no level, or not one rest per level", self.rest)

    def _level(self, declared: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
        items = declared.items() if isinstance(declared, Mapping) else declared
        try:
            groups = tuple((str(name), tuple(map(str, members))) for name, members in items)
        except (TypeError, ValueError):
            raise self._invalid("a level is not a table of lists", declared) from None
        if any(isinstance(members, str) for _, members in items):
            raise self._invalid("a group is not a list of values", declared)
        listed = [member for _, members in groups for member in members]
        if len(set(listed)) < len(listed) or len({name for name, _ in groups}) < len(groups):
            raise self._invalid("a level lists a value or a name twice", declared)
        return groups

    @staticmethod
    def _invalid(problem: str, value: object) -> ParameterError:
        return ParameterError(
            f"invalid groups: {problem}",
            remedy='Write a table per level, such as [{ lung = ["flu", "asthma"], gut = ["ulcer"] }].',
            key="groups",
            value=value,
        )

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.levels) + 1

    @cached_property
    def _rests(self) -> tuple[str | None, ...]:
        return self.rest if isinstance(self.rest, tuple) else (self.rest,) * len(self.levels)

    @cached_property
    def _group_of(self) -> list[dict[str, str]]:
        return [{member: name for name, members in groups for member in members} for groups in self.levels]

    def build(self, values: Sequence[str], column: str) -> Hierarchy:
        """Return a hierarchy whose leaves are these values."""
        return built_tree(values, [self._path(value, column) for value in values], column)

    def _path(self, value: str, column: str) -> list[str]:
        path: list[str] = []
        below = value
        for level, (group_of, rest) in enumerate(zip(self._group_of, self._rests, strict=True), start=1):
            name = group_of.get(below, rest)
            if name is None:
                raise HierarchyError(
                    f"{below!r} is in no group of level {level}",
                    remedy='Add it to a group, or name a group for everything else: rest = "other".',
                    column=column,
                    value=value,
                )
            path.append(name)
            below = name
        return path

    def is_node(self, label: str, level: int) -> bool:
        """Return whether a label is one of the groups of a level."""
        return label == self._rests[level - 1] or any(name == label for name, _ in self.levels[level - 1])

    def section(self) -> dict[str, Any]:
        """Return the builder as plain data: a table per level."""
        levels = [{name: list(members) for name, members in groups} for groups in self.levels]
        rest = {} if self.rest is None else {"rest": list(self.rest) if isinstance(self.rest, tuple) else self.rest}
        return {self.key: levels, **rest}
